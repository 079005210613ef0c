#include "runtime/buffer_layout.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/errors.h"
#include "ir/domain_exprs.h"

namespace nvfuser {
namespace {

/// Its elements lie in one place, whatever they were merged with.
bool is_expanded(const IterDomain* id) {
  return id->is_broadcast() && id->has_expanded_extent();
}

struct Axis {
  int64_t size = 1;
  int64_t stride = 0;
};
using AxisMap = std::unordered_map<const IterDomain*, Axis>;

[[noreturn]] void throw_unfit(const TensorView* tensor, const Expr* transform, const char* why) {
  throw UserError({
      .headline = {"The allocation domain of a global tensor does not fit its strides."},
      .node = describe(tensor),
      .expected = {"memory that strides of the logical dimensions describe"},
      .found = {why, " in ", transform->to_string()},
      .fix = {"set an allocation domain that only reorders, or splits and merges whole axes"},
  });
}

/// From logical dimensions to memory axes.
void apply_forward(
    const TensorView* tensor,
    const Expr* transform,
    AxisMap& axes,
    ExpressionEvaluator& evaluator) {
  if (const auto* split = transform->as<Split>()) {
    const Axis in = axes.at(split->in);
    const int64_t factor = evaluator.evaluate_int(split->factor);
    if (factor <= 0 || (in.size % factor != 0 && in.size > 1)) {
      throw_unfit(tensor, transform, "a split that does not divide the size");
    }
    const int64_t rest = (in.size + factor - 1) / factor;
    const int64_t inner = split->inner_split ? factor : rest;
    axes[split->inner] = {inner, in.stride};
    axes[split->outer] = {split->inner_split ? rest : factor, in.stride * inner};
    return;
  }
  if (const auto* merge = transform->as<Merge>()) {
    const Axis outer = axes.at(merge->outer);
    const Axis inner = axes.at(merge->inner);
    if (outer.size == 1 || inner.size == 1) {
      axes[merge->out] = {outer.size * inner.size, outer.size == 1 ? inner.stride : outer.stride};
      return;
    }
    if (outer.stride != inner.size * inner.stride) {
      throw_unfit(tensor, transform, "a merge of dimensions that are not contiguous");
    }
    axes[merge->out] = {outer.size * inner.size, inner.stride};
    return;
  }
  throw_unfit(tensor, transform, "a transform without strides");
}

/// From memory axes to logical dimensions. `axes` knows the sizes of what a transform began with:
/// its parts in memory may be larger, where a later split of them does not divide.
void apply_backward(const TensorView* tensor, const Expr* transform, AxisMap& axes) {
  if (const auto* split = transform->as<Split>()) {
    const Axis outer = axes.at(split->outer);
    const Axis inner = axes.at(split->inner);
    const bool is_broadcast = split->in->is_broadcast(); // no stride reaches what pads it
    if (!is_broadcast && outer.size > 1 && inner.size > 1 &&
        outer.stride != inner.size * inner.stride) {
      throw_unfit(tensor, transform, "a split whose parts are apart");
    }
    axes.at(split->in).stride = inner.size > 1 ? inner.stride : outer.stride;
    return;
  }
  if (const auto* merge = transform->as<Merge>()) {
    const Axis out = axes.at(merge->out);
    const int64_t inner_size = axes.at(merge->inner).size;
    axes[merge->outer] = {axes.at(merge->outer).size, out.stride * inner_size};
    axes[merge->inner] = {inner_size, out.stride};
    return;
  }
  throw_unfit(tensor, transform, "a transform without strides");
}

IterDomains without_reductions(const IterDomains& ids) {
  IterDomains result;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(result), [](const IterDomain* id) {
    return !id->is_reduction() && !id->is_device_dim();
  });
  return result;
}

/// Elements the memory holds along an axis: one where it is broadcast, whatever users see.
int64_t stored_size(const IterDomain* id, ExpressionEvaluator& evaluator) {
  return id->is_broadcast() ? 1 : evaluator.evaluate_int(id->extent());
}

/// The size of an axis as users see it. It may follow from a scalar, which can be anything.
int64_t visible_size(
    const TensorView* tensor, const IterDomain* id, ExpressionEvaluator& evaluator) {
  const int64_t size = evaluator.evaluate_int(id->maybe_expanded_extent());
  if (size < 0) {
    throw UserError({
        .headline = {"A tensor cannot have the negative size ", size},
        .node = describe(tensor),
        .expected = {"a size of 0 or more for ", id->to_string()},
        .found = {id->maybe_expanded_extent()->to_inline_string(), " = ", size},
        .fix = {"check the scalar inputs that the size is computed from"},
    });
  }
  return size;
}

/// Elements of these sizes, whose bits an int64_t counts in any element type.
int64_t checked_elements(const TensorView* tensor, const std::vector<int64_t>& sizes) {
  constexpr int64_t kMostElements = std::numeric_limits<int64_t>::max() / 128;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return 0;
  }
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (elements > kMostElements / size) {
      throw UserError({
          .headline = {"A tensor of this size cannot be addressed"},
          .node = describe(tensor),
          .expected = {"at most ", kMostElements, " elements"},
          .found = {"more: one axis has ", size, ", inner ones ", elements},
          .fix = {"check the scalar inputs that the sizes are computed from"},
      });
    }
    elements *= size;
  }
  return elements;
}

/// Is this the layout that an allocator makes when it is only told the sizes?
bool is_row_major(const BufferLayout& layout) {
  if (layout.elements == 0) {
    return true;
  }
  int64_t stride = 1;
  for (size_t i = layout.sizes.size(); i-- > 0;) {
    if (layout.sizes[i] != 1 && layout.strides[i] != stride) {
      return false;
    }
    stride *= layout.sizes[i];
  }
  return layout.elements == stride;
}

} // namespace

IterDomains memory_axes(const TensorView* tensor) {
  return without_reductions(tensor->maybe_allocation());
}

IterDomains logical_axes(const TensorView* tensor) {
  return TensorDomain::no_reductions(tensor->logical());
}

MemoryLayout layout_of_existing(
    const TensorView* tensor,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    ExpressionEvaluator& evaluator) {
  const IterDomains logical = logical_axes(tensor);
  NVF_INVARIANT(logical.size() == sizes.size(), "the rank was checked before");
  AxisMap axes;
  for (size_t i = 0; i < logical.size(); ++i) {
    const bool is_one = is_expanded(logical[i]);
    axes[logical[i]] = {is_one ? 1 : sizes[i], is_one ? 0 : strides[i]};
  }
  if (tensor->has_allocation()) {
    for (const Expr* transform : exprs_between(tensor->logical(), tensor->maybe_allocation())) {
      apply_forward(tensor, transform, axes, evaluator);
    }
  }
  MemoryLayout layout;
  for (const IterDomain* id : memory_axes(tensor)) {
    layout.sizes.push_back(axes.at(id).size);
    layout.strides.push_back(axes.at(id).stride);
  }
  return layout;
}

BufferLayout layout_of_new(const TensorView* tensor, ExpressionEvaluator& evaluator) {
  BufferLayout layout;
  const IterDomains logical = logical_axes(tensor);
  for (const IterDomain* id : logical) {
    layout.sizes.push_back(visible_size(tensor, id, evaluator));
  }
  // An expanded axis needs no memory, but the reader of the output counts its elements.
  static_cast<void>(checked_elements(tensor, layout.sizes));
  const IterDomains memory = memory_axes(tensor);
  for (const IterDomain* id : memory) {
    layout.memory.sizes.push_back(stored_size(id, evaluator));
  }
  layout.elements = checked_elements(tensor, layout.memory.sizes);
  layout.memory.strides.resize(memory.size());
  AxisMap axes;
  int64_t stride = 1;
  for (size_t i = memory.size(); i-- > 0;) {
    const int64_t size = layout.memory.sizes[i];
    layout.memory.strides[i] = is_expanded(memory[i]) ? 0 : stride;
    axes[memory[i]] = {size, layout.memory.strides[i]};
    stride *= layout.elements == 0 ? 1 : size; // strides of an empty tensor mean nothing
  }

  if (tensor->has_allocation()) {
    std::vector<Expr*> transforms = exprs_between(tensor->logical(), tensor->maybe_allocation());
    for (const Expr* transform : transforms) {
      for (const Val* in : transform->inputs()) {
        const auto* id = static_cast<const IterDomain*>(in);
        // A broadcast has room for its extent inside the axis that it was merged into.
        axes.emplace(id, Axis{evaluator.evaluate_int(id->extent()), 0});
      }
    }
    for (auto it = transforms.rbegin(); it != transforms.rend(); ++it) {
      apply_backward(tensor, *it, axes);
    }
  }
  for (const IterDomain* id : logical) {
    layout.strides.push_back(is_expanded(id) ? 0 : id->is_device_dim() ? 1 : axes.at(id).stride);
  }
  layout.is_row_major = is_row_major(layout);
  return layout;
}

} // namespace nvfuser
