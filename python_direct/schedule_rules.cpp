// The rules of scheduling as values: what a call would refuse, for schedulers that choose.
#include <nanobind/stl/set.h>
#include <nanobind/stl/unordered_map.h>

#include <sstream>

#include "bindings.h"
#include "ir/rules.h"
#include "ir/transaction.h"
#include "transform/group_reductions.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"
#include "transform/rules.h"
#include "transform/settings.h"

namespace nvfuser::python {
namespace {

void bind_rules_of_axes(nb::module_& m) {
  constexpr const char* kSplit = R"(Ask whether ``TensorView.split`` can be called.

Each function ``find_wrong_<method>`` has the arguments of a scheduling method, and changes nothing.

Returns
-------
Refusal or None
    What the method would raise; None: it can be called.
)";
  m.def(
      "find_wrong_split",
      nb::overload_cast<const TensorView*, int64_t, int64_t>(&transform::find_wrong_split), "tv"_a,
      "axis"_a, "factor"_a, kSplit);
  m.def(
      "find_wrong_split",
      nb::overload_cast<const TensorView*, int64_t, const Val*>(&transform::find_wrong_split),
      "tv"_a, "axis"_a, "factor"_a, kSplit);
  m.def(
      "find_wrong_merge",
      nb::overload_cast<const TensorView*, int64_t, int64_t>(&transform::find_wrong_merge), "tv"_a,
      "axis_o"_a, "axis_i"_a, "The refusal of ``TensorView.merge``; None: it can be called.");
  m.def(
      "find_wrong_flatten", &transform::find_wrong_flatten, "tv"_a, nb::arg("from") = 0,
      "to"_a = -1,
      nb::sig(
          "def find_wrong_flatten(tv: nvfuser_direct._core.TensorView, from_: int = 0, "
          "to: int = -1) -> nvfuser_direct._core.Refusal | None"),
      "The refusal of ``TensorView.flatten``; None: it can be called.");
  m.def(
      "find_wrong_reorder", &transform::find_wrong_reorder, "tv"_a, "old2new"_a,
      "The refusal of ``TensorView.reorder``; None: it can be called.");
  m.def(
      "find_wrong_swizzle", &transform::find_wrong_swizzle, "tv"_a, "swizzle_type"_a, "x"_a, "y"_a,
      "The refusal of ``TensorView.swizzle``; None: it can be called.");
  m.def(
      "find_wrong_swizzle1d", &transform::find_wrong_swizzle1d, "tv"_a, "x"_a, "parallel_type"_a,
      "The refusal of ``TensorView.swizzle1d``; None: it can be called.");
  // Constants that are made for the question are no part of the fusion after it.
  m.def(
      "find_wrong_broadcast",
      [](const TensorView* tv, int64_t axis, const ScalarArg& extent) {
        const FusionGuard guard(tv->fusion());
        Transaction transaction(tv->fusion());
        auto refusal = transform::find_wrong_broadcast(tv, axis, extent.val());
        transaction.take_back();
        return refusal;
      },
      "tv"_a, "axis"_a, "extent"_a = nb::none(),
      "The refusal of ``TensorView.broadcast``; None: it can be called.");
  m.def(
      "find_wrong_resize",
      [](const TensorView* tv, int64_t axis, const ScalarArg& left, const ScalarArg& right,
         std::optional<IterType> iter_type) {
        const FusionGuard guard(tv->fusion());
        Transaction transaction(tv->fusion());
        auto refusal =
            transform::find_wrong_resize(tv, axis, left.require(), right.require(), iter_type);
        transaction.take_back();
        return refusal;
      },
      "tv"_a, "axis"_a, "left"_a, "right"_a, "iter_type"_a = nb::none(),
      "The refusal of ``TensorView.resize``; None: it can be called.");
  m.def(
      "find_wrong_parallel_type", &find_wrong_parallel_type, "axis"_a, "parallel_type"_a,
      "The refusal of ``IterDomain.parallelize``; None: it can be called.");
  m.def(
      "find_wrong_padding", &find_wrong_padding, "axis"_a, "size"_a = nb::none(),
      "The refusal of ``IterDomain.pad_to_multiple_of_warp``; None: it can be called.");
  m.def(
      "find_wrong_cluster", &find_wrong_cluster, "axis"_a,
      "The refusal of ``IterDomain.set_clustered_blocks``; None: it can be called.");
}

void bind_rules_of_tensors(nb::module_& m) {
  m.def(
      "find_wrong_cache_after", &transform::find_wrong_cache_after, "tv"_a,
      "op_type"_a = LoadStoreOpType::Set, "cache_op"_a = CacheOp::Unspecified,
      "cached_uses"_a = std::vector<Expr*>{},
      "The refusal of ``TensorView.cache_after``; None: it can be called.");
  m.def(
      "find_wrong_cache_before", &transform::find_wrong_cache_before, "tv"_a,
      "The refusal of ``TensorView.cache_before``; None: it can be called.");
  m.def(
      "find_wrong_cache_fork", &transform::find_wrong_cache_fork, "tv"_a,
      "The refusal of ``TensorView.cache_fork``; None: it can be called.");
  m.def(
      "find_wrong_rfactor",
      nb::overload_cast<const TensorView*, const std::vector<int64_t>&>(
          &transform::find_wrong_rfactor),
      "tv"_a, "axes"_a, "The refusal of ``TensorView.rfactor``; None: it can be called.");
  m.def(
      "find_wrong_rfactor",
      nb::overload_cast<
          const TensorView*, const std::vector<int64_t>&, const std::vector<TensorView*>&>(
          &transform::find_wrong_rfactor),
      "tv"_a, "axes"_a, "tvs"_a, "The refusal of ``TensorView.rfactor``; None: it can be called.");
  m.def(
      "find_wrong_memory_type", &transform::find_wrong_memory_type, "tv"_a, "memory_type"_a,
      "The refusal of ``TensorView.set_memory_type``; None: it can be called.");
  m.def(
      "find_wrong_allocation_domain", &transform::find_wrong_allocation_domain, "tv"_a,
      "new_allocation_domain"_a, "new_contiguity"_a,
      "The refusal of ``TensorView.set_allocation_domain``; None: it can be called.");
  m.def(
      "find_wrong_loop_domain", &transform::find_wrong_loop_domain, "tv"_a, "new_loop_domain"_a,
      "The refusal of ``TensorView.set_loop_domain``; None: it can be called.");
  m.def(
      "find_wrong_commit_leaf_to_logical", &transform::find_wrong_commit_leaf_to_logical, "tv"_a,
      "The refusal of ``TensorView.commit_leaf_to_logical``; None: it can be called.");
  m.def(
      "find_wrong_clear_reduction_iter_domains",
      &transform::find_wrong_clear_reduction_iter_domains, "tv"_a,
      "The refusal of ``TensorView.clear_reduction_iter_domains``; None: it can be called.");
  m.def(
      "find_wrong_inline_at", &transform::find_wrong_inline_at, "tv"_a, "pos"_a,
      "The refusal of ``TensorView.inline_at`` without ``best_effort``; None: it can be called.");
  m.def(
      "find_wrong_compute_with",
      nb::overload_cast<TensorView*, int64_t>(&transform::find_wrong_compute_with), "tv"_a, "pos"_a,
      "The refusal of ``TensorView.compute_with`` without ``best_effort``; None: it can be "
      "called.");
  m.def(
      "find_wrong_circular_buffer", &transform::find_wrong_circular_buffer, "tv"_a,
      "number_of_stages"_a, "prefetch_distance"_a = -1, "type"_a = Pipelined{},
      "The refusal of ``TensorView.circular_buffer``; None: it can be called.");
  m.def(
      "find_wrong_group", &transform::find_wrong_group, "tvs"_a,
      "The refusal of ``group_reductions``; None: it can be called.");
}

std::string rule_name(const char* method) {
  std::ostringstream name;
  name << "find_wrong_" << method;
  return name.str();
}

std::string rule_doc(const char* method) {
  std::ostringstream doc;
  doc << "The refusal of ``TensorView." << method << "``; None: it can be called.";
  return doc.str();
}

/// The rules of methods that set properties.
void bind_rules_of_settings(nb::module_& m) {
  transform::for_each_setting([&]<size_t kProperty>() {
    constexpr auto kSetting = kScheduleProperty<kProperty>;
    using Step = steps::Set<kProperty>;
    const std::string name = rule_name(kSetting.setter);
    const std::string doc = rule_doc(kSetting.setter);
    const auto find = [](const TensorView* tv, const typename Step::T& value) {
      return transform::find_wrong_setting(tv, Step{.value = value});
    };
    if constexpr (kSetting.usual.has_value()) {
      m.def(name.c_str(), find, "tv"_a, nb::arg(kSetting.parameter) = *kSetting.usual, doc.c_str());
    } else {
      m.def(name.c_str(), find, "tv"_a, nb::arg(kSetting.parameter), doc.c_str());
    }
  });
}

void bind_attempts(nb::module_& m) {
  m.def(
      "try_transform_like", &transform::try_transform_like, "reference_tv"_a,
      "selected_tensors"_a = std::vector<TensorView*>{},
      R"(As `transform_like`; what that would raise is returned, and then nothing is changed.

Returns
-------
Refusal or None
    Why it cannot be done; None: it is done.
)");
  m.def(
      "try_bounded_transform_backward", &transform::try_bounded_transform_backward, nb::arg("from"),
      "pos"_a, "to"_a, "propagate_parallel_type"_a = false,
      nb::sig(
          "def try_bounded_transform_backward(from_: nvfuser_direct._core.TensorView, pos: int, "
          "to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None"),
      "As `bounded_transform_backward`; what that would raise is returned.");
  m.def(
      "try_bounded_transform_forward", &transform::try_bounded_transform_forward, nb::arg("from"),
      "pos"_a, "to"_a, "propagate_parallel_type"_a = false,
      nb::sig(
          "def try_bounded_transform_forward(from_: nvfuser_direct._core.TensorView, pos: int, "
          "to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None"),
      "As `bounded_transform_forward`; what that would raise is returned.");
  m.def(
      "try_bounded_transform_both", &transform::try_bounded_transform_both, nb::arg("from"),
      "pos"_a, "backward_to"_a, "forward_to"_a, "propagate_parallel_type"_a = false,
      nb::sig(
          "def try_bounded_transform_both(from_: nvfuser_direct._core.TensorView, pos: int, "
          "backward_to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "forward_to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None"),
      "As `bounded_transform_both`; what that would raise is returned.");
  m.def(
      "try_parallelize_like", &transform::try_parallelize_like, "reference_tv"_a, "pos"_a = -1,
      "selected_tensors"_a = std::vector<TensorView*>{},
      "selected_parallel_types"_a = std::set<ParallelType>{}, "propagate_padding"_a = true,
      "As `parallelize_like`; what that would raise is returned, and then nothing is changed.");
  m.def(
      "try_inline_at", &transform::try_inline_at, "reference_tv"_a, "pos"_a = -1,
      "best_effort"_a = false, "selected_tensors"_a = std::vector<TensorView*>{},
      "As `inline_at`; what that would raise is returned, and then nothing is changed.");
}

} // namespace

void bind_schedule_rules(nb::module_& schedule) {
  bind_rules_of_axes(schedule);
  bind_rules_of_tensors(schedule);
  bind_rules_of_settings(schedule);
  bind_attempts(schedule);
}

} // namespace nvfuser::python
