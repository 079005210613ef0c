// Scheduling: methods of TensorView.
#include <nanobind/stl/unordered_map.h>

#include <sstream>

#include "bindings.h"
#include "ir/transaction.h"
#include "transform/settings.h"

namespace nvfuser::python {
namespace {

using TensorViewClass = nb::class_<TensorView>;

void bind_axis_transforms(TensorViewClass& cls) {
  constexpr const char* kSplit = R"(Split one loop axis in two.

``[.., N, ..]`` becomes ``[.., ceilDiv(N, factor), factor, ..]``, or with ``inner_split=False``
``[.., factor, ceilDiv(N, factor), ..]``. Elements beyond the end of a split that is not divisible
are not computed.

Parameters
----------
axis : int
    Axis of the loop domain; negative values count from the end.
factor : int or Val
    Extent of one of the new axes (elements), at least 1.
inner_split : bool
    Whether `factor` is the inner extent.

Returns
-------
TensorView
    This tensor, for chaining.
)";
  cls.def(
         "split", nb::overload_cast<int64_t, int64_t, bool>(&TensorView::split), "axis"_a,
         "factor"_a, "inner_split"_a = true, kSplit)
      .def(
          "split", nb::overload_cast<int64_t, Val*, bool>(&TensorView::split), "axis"_a, "factor"_a,
          "inner_split"_a = true, kSplit)
      .def(
          "inner_split", &TensorView::inner_split, "axis"_a, "factor"_a,
          "As `split` with ``inner_split=True``.")
      .def(
          "outer_split", &TensorView::outer_split, "axis"_a, "factor"_a,
          "As `split` with ``inner_split=False``.")
      .def(
          "merge", nb::overload_cast<int64_t, int64_t>(&TensorView::merge), "axis_o"_a, "axis_i"_a,
          R"(Replace two loop axes by their product, at the smaller of the two positions.

Parameters
----------
axis_o, axis_i : int
    Axes of the loop domain; `axis_o` varies slower. Negative values count from the end.

Returns
-------
TensorView
    This tensor, for chaining.
)")
      .def(
          "merge", nb::overload_cast<int64_t>(&TensorView::merge), "axis"_a,
          "Merge an axis with the next one.")
      .def(
          "flatten", &TensorView::flatten, nb::arg("from") = 0, "to"_a = -1,
          nb::sig("def flatten(self, from_: int = 0, to: int = -1) -> TensorView"),
          R"(Merge a range of loop axes.

Parameters
----------
from, to : int
    First and last axis, both included; negative values count from the end.
)");
}

void bind_axis_orders(TensorViewClass& cls) {
  cls.def(
         "reorder",
         nb::overload_cast<const std::unordered_map<int64_t, int64_t>&>(&TensorView::reorder),
         "old2new"_a = std::unordered_map<int64_t, int64_t>{},
         R"(Move loop axes.

Parameters
----------
old2new : dict[int, int]
    New position of every axis that moves; the others keep their relative order.

Returns
-------
TensorView
    This tensor, for chaining.
)")
      .def(
          "reorder", nb::overload_cast<const std::vector<int64_t>&>(&TensorView::reorder),
          "permutation"_a,
          R"(Move all loop axes.

Parameters
----------
permutation : list[int]
    New position of axis i.
)")
      .def(
          "swizzle", nb::overload_cast<int64_t, int64_t>(&TensorView::swizzle), "x"_a, "y"_a,
          R"(Permute the positions of a square of two loop axes: y becomes x ^ y.

Parameters
----------
x, y : int
    Axes of equal constant extent, a power of two.
)")
      .def(
          "swizzle", nb::overload_cast<SwizzleType, int64_t, int64_t>(&TensorView::swizzle),
          "swizzle_type"_a, "x"_a, "y"_a,
          R"(Permute the positions of a square of two loop axes.

Parameters
----------
swizzle_type : SwizzleType
    The permutation.
x, y : int
    Axes of equal constant extent.
)")
      .def(
          "swizzle1d", &TensorView::swizzle1d, "x"_a, "parallel_type"_a,
          R"(Rotate a loop axis by the index of a device dimension.

Parameters
----------
x : int
    Axis of the loop domain; negative values count from the end.
parallel_type : ParallelType
    The device dimension: ``mesh_x``, ``mesh_y`` or ``mesh_z``.

Returns
-------
TensorView
    This tensor, for chaining.
)")
      .def(
          "broadcast",
          [](TensorView& self, int64_t axis, int64_t extent) {
            const Transaction transaction(self.fusion());
            return self.broadcast(axis, self.fusion()->new_index(extent));
          },
          "axis"_a, "extent"_a = 1,
          R"(Insert a loop that repeats what is inside of it.

Parameters
----------
axis : int
    Position of the new axis in the loop domain; negative values count from the end of the result.
extent : int or Val
    Number of iterations, at least 1.

Returns
-------
TensorView
    This tensor, for chaining.
)")
      .def("broadcast", &TensorView::broadcast, "axis"_a, "extent"_a)
      .def(
          "resize",
          [](TensorView& self, int64_t axis, const ScalarArg& left, const ScalarArg& right,
             std::optional<IterType> iter_type) {
            const FusionGuard guard(self.fusion());
            const Transaction transaction(self.fusion());
            return self.resize(axis, left.require(), right.require(), iter_type);
          },
          "axis"_a, "left"_a, "right"_a, "iter_type"_a = nb::none(),
          R"(Let a loop run over more than its axis. Statements skip what lies outside.

Parameters
----------
axis : int
    Axis of the loop domain; negative values count from the end.
left, right : int or Val
    Iterations before the first element and behind the last, at least 0.
iter_type : IterType, optional
    Kind of the new axis; by default a broadcast if its extent is 1, an iteration if it is another
    constant.

Returns
-------
TensorView
    This tensor, for chaining.

Raises
------
UserError
    If the axis is inlined or parallelized, or a width is not provably at least 0.
)");
}

void bind_caching(TensorViewClass& cls) {
  cls.def(
         "cache_after", &TensorView::cache_after, "op_type"_a = LoadStoreOpType::Set,
         "cache_op"_a = CacheOp::Unspecified, "propagate_allocation_domain"_a = true,
         "cached_uses"_a = std::vector<Expr*>{},
         R"(Insert a copy between this tensor and its consumers.

Parameters
----------
op_type : LoadStoreOpType
    How the copy moves its data.
cache_op : CacheOp
    Cache hint of the load. ``global`` goes past the first cache; ``streaming`` is for vectorized
    copies. The CPU has no use for either.
propagate_allocation_domain : bool
    Whether the copy gets a replay of this tensor's domain, with its allocation domain.
cached_uses : list[Expr]
    Consumers that read the copy; all if empty.

Returns
-------
TensorView
    The copy.
)")
      .def(
          "cache_before", &TensorView::cache_before, "op_type"_a = LoadStoreOpType::Set,
          R"(Let a new tensor hold the computation; this one becomes a copy of it.

Parameters
----------
op_type : LoadStoreOpType
    How the copy moves its data.

Returns
-------
TensorView
    The new producer.
)")
      .def(
          "cache_fork", &TensorView::cache_fork,
          R"(Split an output that is also read: a new output, and this tensor as a local one.

Returns
-------
TensorView
    The new output.
)")
      .def(
          "rfactor", nb::overload_cast<const std::vector<int64_t>&>(&TensorView::rfactor), "axes"_a,
          R"(Split a reduction in two.

Parameters
----------
axes : list[int]
    Reduction axes of the loop domain that the new producer reduces; this tensor reduces the rest.

Returns
-------
TensorView
    The new producer.
)")
      .def(
          "rfactor",
          nb::overload_cast<const std::vector<int64_t>&, const std::vector<TensorView*>&>(
              &TensorView::rfactor),
          "axes"_a, "tvs"_a,
          R"(Split a reduction with several results in two.

Parameters
----------
axes : list[int]
    Reduction axes of the loop domain that the new producers reduce.
tvs : list[TensorView]
    The results of the reduction, in the order of the expression.

Returns
-------
list[TensorView]
    One new producer per result.
)");
}

std::string setter_doc(const char* what, const char* parameter, const char* property) {
  std::ostringstream doc;
  doc << what << "\n\nParameters\n----------\n"
      << parameter << "\n    What `" << property
      << "` is then.\n\nReturns\n-------\nTensorView\n    This tensor, for chaining.\n";
  return doc.str();
}

/// The methods that set properties, as their declarations say (ir/tensor_schedule.h).
void bind_settings(TensorViewClass& cls) {
  transform::for_each_setting([&]<size_t kProperty>() {
    constexpr auto kSetting = kScheduleProperty<kProperty>;
    using Step = steps::Set<kProperty>;
    const auto set = [](TensorView* self, const typename Step::T& value) {
      transform::set(self, Step{.value = value});
      return self;
    };
    const std::string doc = setter_doc(kSetting.setter_doc, kSetting.parameter, kSetting.name);
    if constexpr (kSetting.usual.has_value()) {
      cls.def(kSetting.setter, set, nb::arg(kSetting.parameter) = *kSetting.usual, doc.c_str());
    } else {
      cls.def(kSetting.setter, set, nb::arg(kSetting.parameter), doc.c_str());
    }
  });
}

void bind_memory(TensorViewClass& cls) {
  cls.def(
         "set_memory_type", &TensorView::set_memory_type, "memory_type"_a,
         R"(Choose where the tensor lives.

Parameters
----------
memory_type : MemoryType
    Inputs and outputs are ``global`` or ``symmetric``.
)")
      .def(
          "set_allocation_domain",
          nb::overload_cast<const IterDomains&, bool>(&TensorView::set_allocation_domain),
          "new_allocation_domain"_a, "new_contiguity"_a,
          R"(Choose the axes that address memory.

Parameters
----------
new_allocation_domain : list[IterDomain]
    Axes of this tensor that cover its logical domain, outermost stride first.
new_contiguity : bool or list[bool or None]
    Whether strides are the size of everything inside them; one flag for all axes that have a
    stride, or one entry per axis.
)")
      .def(
          "set_allocation_domain",
          nb::overload_cast<const IterDomains&, const Contiguity&>(
              &TensorView::set_allocation_domain),
          "new_allocation_domain"_a, "new_contiguity"_a)
      .def(
          "set_device_mesh",
          [](const TensorView& self, const nb::object&) {
            throw UserError(
                {.headline = {"TensorView.set_device_mesh is not there yet"},
                 .node = describe(&self),
                 .expected = {"a tensor on one device"},
                 .found = {"a fusion runs on one device"},
                 .fix = {"define the fusion for the part of one device"}},
                ErrorKind::NotImplemented);
          },
          "mesh"_a.none(), nb::sig("def set_device_mesh(self, mesh: object) -> None"),
          R"(Spread the tensor over devices. It is not there yet.

Parameters
----------
mesh : multidevice.DeviceMesh
    The devices.

Raises
------
NotImplementedError
    A fusion runs on one device.
)")
      .def(
          "set_loop_domain", &TensorView::set_loop_domain, "new_loop_domain"_a,
          R"(Replace the loop domain.

Parameters
----------
new_loop_domain : list[IterDomain]
    Axes of this tensor that cover its logical domain, outermost first. Those of a scatter cover
    its positions, as the loop domain does that it was made with.
)")
      .def(
          "set_contiguity", nb::overload_cast<bool>(&TensorView::set_contiguity), "contiguity"_a,
          R"(Say how the tensor lies in memory.

Parameters
----------
contiguity : bool or list[bool or None]
    Whether strides are the size of everything inside them; one flag for all axes that have a
    stride, or one entry per allocation axis.
)")
      .def(
          "set_contiguity", nb::overload_cast<const Contiguity&>(&TensorView::set_contiguity),
          "contiguity"_a)
      .def(
          "commit_leaf_to_logical", &TensorView::commit_leaf_to_logical,
          R"(Make the loop domain the tensor's shape.

Raises
------
UserError
    If something reads the tensor, or a split may not divide its axis.
)")
      .def(
          "clear_reduction_iter_domains", &TensorView::clear_reduction_iter_domains,
          R"(Drop the reduction axes of a tensor that no reduction of the fusion makes.

Raises
------
UserError
    If the tensor was transformed, or is the result of a reduction.
)");
}

void bind_positions(TensorViewClass& cls) {
  cls.def(
         "inline_at", &TensorView::inline_at, "pos"_a, "best_effort"_a = false,
         R"(Compute this tensor inside the outer loops of its consumers.

Parameters
----------
pos : int
    Number of loop axes to share; negative values count from the end.
best_effort : bool
    Stop at the deepest legal position instead of raising an error.
)")
      .def(
          "compute_with", &TensorView::compute_with, "pos"_a, "best_effort"_a = false,
          R"(Compute this tensor in the loops of its first consumer.

Loops beyond those that all consumers share are shared with the expression that comes first in the
kernel, which lowering decides. Until then the axes of every consumer are protected from transforms.

Parameters
----------
pos : int
    Number of loop axes to share with it; negative values count from the end.
best_effort : bool
    Stop at the deepest legal position instead of raising an error.

Returns
-------
TensorView
    This tensor, for chaining.

Raises
------
UserError
    If some consumer has no loops for these axes.
)")
      .def(
          "clear_compute_position", &TensorView::clear_compute_position,
          "Undo the inlining of this tensor.");
}

} // namespace

void bind_schedule(nb::module_& m) {
  auto cls = nb::borrow<TensorViewClass>(m.attr("TensorView"));
  bind_axis_transforms(cls);
  bind_axis_orders(cls);
  bind_caching(cls);
  bind_memory(cls);
  bind_settings(cls);
  bind_positions(cls);

  nb::module_ schedule =
      m.def_submodule("schedule", "Propagate transforms, inline, schedule automatically.");
  bind_schedule_functions(schedule);
  bind_schedule_rules(schedule);
}

} // namespace nvfuser::python
