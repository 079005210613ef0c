#include "ops/reshape_nodes.h"

#include <algorithm>

#include "ir/domain_exprs.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

/// The axes of the operand that each axis of the working domain is made from. `on_step` sees them
/// for every transform.
template <typename OnStep>
std::vector<std::vector<size_t>> trace_axes(
    size_t rank, const std::vector<ReshapeStep>& steps, const OnStep& on_step) {
  std::vector<std::vector<size_t>> working(rank);
  for (size_t i = 0; i < rank; ++i) {
    working[i] = {i};
  }
  for (const ReshapeStep& step : steps) {
    const auto at = working.begin() + step.position;
    if (step.kind == ReshapeStep::Kind::Merge) {
      at->insert(at->end(), (at + 1)->begin(), (at + 1)->end());
      working.erase(at + 1);
    } else {
      working.insert(at, *at);
    }
    on_step(working.at(static_cast<size_t>(step.position)));
  }
  return working;
}

/// Per axis of the operand: whether a merge or split reads it.
std::vector<bool> touched_axes(size_t rank, const std::vector<ReshapeStep>& steps) {
  std::vector<bool> is_touched(rank, false);
  trace_axes(rank, steps, [&](const std::vector<size_t>& axes) {
    for (const size_t axis : axes) {
      is_touched[axis] = true;
    }
  });
  return is_touched;
}

void apply_step(const ReshapeStep& step, IterDomains& axes) {
  const auto at = axes.begin() + step.position;
  if (step.kind == ReshapeStep::Kind::Merge) {
    *at = merge_ids(*at, *(at + 1), /*is_rfactor=*/true);
    axes.erase(at + 1);
    return;
  }
  const bool is_inner = step.kind == ReshapeStep::Kind::InnerSplit;
  Val* factor = Fusion::active().new_index(step.factor);
  const auto [outer, inner] = split_id(*at, factor, is_inner, /*is_rfactor=*/true);
  *at = inner;
  axes.insert(at, outer);
}

/// Let an axis have the caller's own size where the transforms computed an equal one, so that a
/// reader of both sees one value.
void use_given_sizes(const IterDomains& axes, const std::vector<Val*>& sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    Val* size = sizes[i];
    if (axes.at(i)->definition() != nullptr && size->same_as(axes[i]->extent())) {
      axes[i]->assign_extents(size, axes[i]->expanded_extent());
    }
  }
}

/// The ReshapeOp that merges and splits axes of `arg`. `sizes`: those of the result that the caller
/// knows, none or all.
TensorView* transform(
    TensorView* arg, const std::vector<ReshapeStep>& steps, const std::vector<Val*>& sizes) {
  const IterDomains axes = shape_axes(arg);
  const std::vector<bool> is_touched = touched_axes(axes.size(), steps);
  TensorDomainSpec spec;
  for (size_t i = 0; i < axes.size(); ++i) {
    spec.root.push_back(copy_axis(axes[i], is_touched[i]));
  }
  spec.logical = spec.root;
  for (const ReshapeStep& step : steps) {
    apply_step(step, spec.logical);
  }
  use_given_sizes(spec.logical, sizes);
  TensorView* out = new_tensor(std::move(spec), arg->dtype());
  Fusion::active().make<ReshapeOp>({.out = out, .arg = arg});
  return out;
}

} // namespace

TensorView* squeeze_ones(TensorView* arg, const std::vector<int64_t>& dims, bool squeeze_expanded) {
  const IterDomains axes = shape_axes(arg);
  const std::vector<bool> flags = flags_of(dims, arg->rank());
  IterDomains logical;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!flags[i]) {
      logical.push_back(copy_axis(axes[i]));
    }
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  Fusion::active().make<SqueezeOp>(
      {.out = out, .arg = arg, .flags = flags, .squeeze_expanded = squeeze_expanded});
  return out;
}

TensorView* split_dim(TensorView* arg, int64_t position, int64_t factor) {
  using Kind = ReshapeStep::Kind;
  const Val* size = shape_axes(arg).at(static_cast<size_t>(position))->extent();
  // The walk to these sizes cuts an outer dimension off whose size is known.
  const ReshapeStep step =
      size->is_const()
          ? ReshapeStep{.kind = Kind::OuterSplit, .position = position, .factor = as_int(size->value()) / factor}
          : ReshapeStep{.kind = Kind::InnerSplit, .position = position, .factor = factor};
  return transform(arg, {step}, {});
}

TensorView* apply_walk(
    TensorView* arg, const ReshapeWalk& walk, const std::vector<Val*>& new_shape) {
  const std::vector<bool> is_new =
      flags_of(walk.broadcasts, static_cast<int64_t>(new_shape.size()));
  TensorView* result = arg;
  if (!walk.squeezes.empty()) {
    result = squeeze_ones(result, walk.squeezes);
  }
  if (!walk.transforms.empty()) {
    std::vector<Val*> sizes;
    for (size_t i = 0; i < new_shape.size(); ++i) {
      if (!is_new[i]) {
        sizes.push_back(new_shape[i]);
      }
    }
    result = transform(result, walk.transforms, sizes);
  }
  return broadcast(result, is_new);
}

std::vector<ReshapeStep> steps_of(const ReshapeOp& op) {
  std::vector<Expr*> transforms = exprs_between(op.out->maybe_root(), op.out->logical());
  IterDomains working = op.out->maybe_root();
  std::vector<ReshapeStep> steps;
  while (!transforms.empty()) { // the leftmost dimension that changes is next
    for (size_t position = 0;; ++position) {
      const auto next = std::ranges::find_if(transforms, [&](const Expr* expr) {
        const auto* merge = expr->as<Merge>();
        return expr->input(0) == working.at(position) &&
               (merge == nullptr || merge->inner == working.at(position + 1));
      });
      if (next == transforms.end()) {
        continue;
      }
      const auto at = working.begin() + static_cast<std::ptrdiff_t>(position);
      ReshapeStep step{.position = static_cast<int64_t>(position)};
      if (const auto* merge = (*next)->as<Merge>()) {
        *at = merge->out;
        working.erase(at + 1);
      } else {
        const auto* split = (*next)->as<Split>();
        step.kind =
            split->inner_split ? ReshapeStep::Kind::InnerSplit : ReshapeStep::Kind::OuterSplit;
        step.factor = as_int(split->factor->value());
        *at = split->inner;
        working.insert(at, split->outer);
      }
      steps.push_back(step);
      transforms.erase(next);
      break;
    }
  }
  return steps;
}

std::vector<int64_t> kept_dims(size_t old_rank, const ReshapeWalk& walk) {
  std::vector<size_t> left; // dimensions after the squeezes
  for (size_t i = 0; i < old_rank; ++i) {
    if (std::find(walk.squeezes.begin(), walk.squeezes.end(), static_cast<int64_t>(i)) ==
        walk.squeezes.end()) {
      left.push_back(i);
    }
  }
  const std::vector<bool> is_touched = touched_axes(left.size(), walk.transforms);
  std::vector<int64_t> kept;
  for (const auto& axes :
       trace_axes(left.size(), walk.transforms, [](const std::vector<size_t>&) {})) {
    const size_t axis = axes.front();
    kept.push_back(is_touched[axis] ? -1 : static_cast<int64_t>(left[axis]));
  }
  for (const int64_t dim : walk.broadcasts) {
    kept.insert(kept.begin() + dim, -1);
  }
  return kept;
}

} // namespace nvfuser::ops
