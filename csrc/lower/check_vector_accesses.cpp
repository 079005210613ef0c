#include "lower/check_vector_accesses.h"

#include <algorithm>

#include "eval/simplify.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "lower/loop_model.h"
#include "lower/memory_layout.h"

namespace nvfuser {
namespace {

/// Checks one vectorized tensor.
class VectorCheck {
 public:
  VectorCheck(Kernel& kernel, TensorView* tensor, IterDomain* lanes)
      : kernel_(kernel),
        exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
        tensor_(tensor),
        lanes_(lanes) {}

  void run() {
    check_statement();
    width_ = as_int(lanes_->extent()->value());
    const auto* copy = tensor_->definition()->as<LoadStoreOp>();
    auto* source = static_cast<TensorView*>(copy->arg);
    check_width(tensor_);
    for (TensorView* side : {source, tensor_}) {
      if (side->memory_type() == MemoryType::Global) {
        check_global_side(side);
      } else if (side->memory_type() == MemoryType::Shared && side->has_allocation()) {
        check_innermost(side, stored_axes(kernel_, side));
      }
    }
  }

 private:
  [[noreturn]] void reject(const Part& headline, const Part& expected, const Part& found) const {
    throw UserError({
        .headline = headline,
        .node = {describe(tensor_), ", axis ", lanes_->to_string()},
        .expected = expected,
        .found = found,
        .fix = {"vectorize the innermost contiguous axis of a copy (cache_after, cache_before), or "
                "unroll instead"},
    });
  }

  void check_statement() const {
    const auto* copy = tensor_->definition()->as<LoadStoreOp>();
    if (copy == nullptr || !copy->arg->is_tensor()) {
      reject(
          {"Only a copy can be vectorized"}, {"a tensor defined by a load or store"},
          {"a tensor defined by ", tensor_->definition()->op_name()});
    }
    if (!lanes_->extent()->is_const_int()) {
      reject(
          {"A vectorized axis needs a constant extent"}, {"a constant"},
          {lanes_->extent()->to_inline_string()});
    }
    const auto* source = static_cast<const TensorView*>(copy->arg);
    if (source->memory_type() == MemoryType::Local && tensor_->memory_type() == MemoryType::Local) {
      reject(
          {"A vectorized copy has one side in global or shared memory"},
          {"a load into registers, or a store from them"}, {"registers on both sides"});
    }
    const IterDomains& axes = tensor_->loop();
    const auto position = std::find(axes.begin(), axes.end(), lanes_) - axes.begin();
    if (position < tensor_->compute_at_position()) {
      reject(
          {"A vectorized axis cannot be inlined"},
          {"a compute-at position left of the axis, at most ", position},
          {"compute-at position ", tensor_->compute_at_position()});
    }
  }

  void check_width(const TensorView* tensor) const {
    const int64_t bytes = width_ * size_bytes(tensor->dtype());
    const bool is_power = bytes > 0 && (bytes & (bytes - 1)) == 0;
    if (!is_power || bytes > kernel_.target().max_vector_bytes) {
      reject(
          {"Vector width is not supported"},
          {"1, 2, 4, 8 or ", kernel_.target().max_vector_bytes, " bytes"},
          {width_, " elements of ", size_bytes(tensor->dtype()), " bytes"});
    }
  }

  /// `extent` must be a multiple of the width: now, or checked with actual sizes.
  void require_divisible(Val* extent, const IterDomain* axis) {
    Val* width = kernel_.new_index(width_);
    if (kernel_.simplifier->prove_divisible(extent, width)) {
      return;
    }
    const std::string what = "Vectorization of " + tensor_->to_string() + " by " +
                             std::to_string(width_) + " needs a multiple of it as extent of " +
                             axis->to_string();
    if (extent->is_const()) {
      reject(
          {"Vectorization needs an extent that the width divides"}, {"a multiple of ", width_},
          {axis->to_string(), " of extent ", extent->to_string()});
    }
    kernel_.launch.divisibility_checks.push_back({extent, width, what});
    kernel_.simplifier->assume_divisible(extent, width);
  }

  /// The innermost axes that `id` is merged from, outermost first; {id} if it is no merge.
  static IterDomains merged_from(IterDomain* id) {
    const auto* merge = id->definition() == nullptr ? nullptr : id->definition()->as<Merge>();
    if (merge == nullptr) {
      return {id};
    }
    IterDomains leaves = merged_from(merge->outer);
    const IterDomains inner = merged_from(merge->inner);
    leaves.insert(leaves.end(), inner.begin(), inner.end());
    return leaves;
  }

  void check_global_side(TensorView* side) {
    const IterDomains axes = global_axes(side);
    const std::vector<int64_t> run = check_innermost(side, axes);
    kernel_.launch.vector_accesses.push_back({side, tensor_, width_, run});
  }

  /// Walks from the lanes to the axes that address `side`; the positions merged into the run.
  std::vector<int64_t> check_innermost(TensorView* side, const IterDomains& axes) {
    IterDomain* current = kernel_.loop_model->loop_of(lanes_)->promoted;
    while (position_of(axes, current) < 0) {
      Expr* definition = origin_of(current);
      if (definition == nullptr) {
        reject(
            {"A vectorized axis is not innermost in memory"},
            {"the innermost axis of ", describe(side)}, {current->to_string()});
      }
      if (const auto* split = definition->as<Split>();
          split != nullptr && exact_.are_mapped(split->inner, current)) {
        require_divisible(split->in->extent(), split->in);
        current = split->in;
      } else if (const auto* merge = definition->as<Merge>()) {
        const std::vector<int64_t> run = contiguous_run(side, axes, merged_from(merge->out));
        if (!run.empty()) {
          return run;
        }
        require_divisible(merge->inner->extent(), merge->inner);
        current = merge->inner;
      } else {
        reject(
            {"A vectorized axis is not innermost in memory"},
            {"an axis made by inner splits of the innermost axis of ", describe(side)},
            {definition->to_string()});
      }
    }
    const int64_t position = position_of(axes, current);
    if (position != innermost_stored(axes) || !is_contiguous(side, axes, position)) {
      reject(
          {"A vectorized axis is not innermost and contiguous in memory"},
          {"the axis of stride 1 of ", describe(side)}, {current->to_string()});
    }
    return {position};
  }

  /// How an axis was made: by its own definition, or that of an axis it is equal to.
  [[nodiscard]] Expr* origin_of(const IterDomain* id) const {
    if (id->definition() != nullptr) {
      return id->definition();
    }
    const std::vector<Expr*>& definitions = exact_.definitions(exact_.group(id));
    return definitions.empty() ? nullptr : definitions.front();
  }

  [[nodiscard]] int64_t position_of(const IterDomains& axes, const IterDomain* id) const {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (exact_.are_mapped(axes[i], id)) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

  [[nodiscard]] static int64_t innermost_stored(const IterDomains& axes) {
    for (size_t i = axes.size(); i-- > 0;) {
      if (!axes[i]->is_broadcast()) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

  [[nodiscard]] static bool is_contiguous(
      const TensorView* side, const IterDomains& axes, int64_t position) {
    if (side->memory_type() != MemoryType::Global) {
      return true;
    }
    const IterDomains& allocation = side->maybe_allocation();
    const auto found =
        std::find(allocation.begin(), allocation.end(), axes[static_cast<size_t>(position)]);
    return side->domain()->contiguity()[static_cast<size_t>(found - allocation.begin())].value_or(
        false);
  }

  /// Positions of `leaves` if they are neighbours in memory that end at the innermost axis and are
  /// contiguous; else nothing. Axes of size one in between do not matter.
  [[nodiscard]] std::vector<int64_t> contiguous_run(
      const TensorView* side, const IterDomains& axes, const IterDomains& leaves) const {
    std::vector<int64_t> run;
    int64_t expected = innermost_stored(axes);
    for (size_t i = leaves.size(); i-- > 0;) {
      if (leaves[i]->is_broadcast()) {
        continue;
      }
      while (expected >= 0 && axes[static_cast<size_t>(expected)]->is_broadcast()) {
        --expected;
      }
      if (expected < 0 || position_of(axes, leaves[i]) != expected ||
          !is_contiguous(side, axes, expected)) {
        return {};
      }
      run.push_back(expected--);
    }
    std::reverse(run.begin(), run.end());
    return run;
  }

  Kernel& kernel_;
  const ValGraph& exact_;
  TensorView* tensor_;
  IterDomain* lanes_;
  int64_t width_ = 1;
};

} // namespace

void check_vector_accesses(Kernel& kernel) {
  for (TensorView* tensor : kernel.tensors()) {
    if (tensor->definition() == nullptr) {
      continue;
    }
    for (IterDomain* axis : tensor->loop()) {
      if (axis->parallel_type() == ParallelType::Vectorize && !axis->extent()->is_one()) {
        VectorCheck(kernel, tensor, axis).run();
      }
    }
  }
}

} // namespace nvfuser
