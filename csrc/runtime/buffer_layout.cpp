#include "runtime/buffer_layout.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/errors.h"
#include "ir/domain_exprs.h"

namespace nvfuser {
namespace {

constexpr int64_t kMostElements = std::numeric_limits<int64_t>::max() / 128;

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

IterDomains without_reductions(const IterDomains& ids) {
  IterDomains result;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(result), [](const IterDomain* id) {
    return !id->is_reduction() && !id->is_device_dim();
  });
  return result;
}

/// Elements of these sizes, whose bits an int64_t counts in any element type.
std::optional<LayoutFault> count_elements(const std::vector<int64_t>& sizes, int64_t& elements) {
  elements = std::find(sizes.begin(), sizes.end(), 0) != sizes.end() ? 0 : 1;
  for (const int64_t size : sizes) {
    if (elements > 0 && elements > kMostElements / size) {
      return LayoutFault{
          .kind = LayoutFault::Kind::TooLarge, .size = size, .inner = elements, .why = ""};
    }
    elements *= size;
  }
  return std::nullopt;
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

/// Makes recipes: numbers the axes of a tensor.
class RecipeWriter {
 public:
  using Size = LayoutRecipe::Size;
  RecipeWriter(const TensorView* tensor, const std::function<Size(const Val*)>& position_of)
      : tensor_(tensor), position_of_(position_of) {}

  LayoutRecipe write() {
    for (const IterDomain* id : logical_axes(tensor_)) {
      recipe_.dims.push_back(
          {.axis = axis_of(id),
           .size = position_of_(id->maybe_expanded_extent()),
           .is_expanded = is_expanded(id),
           .is_device_dim = id->is_device_dim()});
    }
    for (const IterDomain* id : memory_axes(tensor_)) {
      has_size_.insert(id);
      recipe_.memory.push_back(
          {.axis = axis_of(id),
           .size = id->is_broadcast() ? std::nullopt : std::optional(position_of_(id->extent())),
           .is_expanded = is_expanded(id)});
    }
    if (tensor_->has_allocation()) {
      add_transforms(exprs_between(tensor_->logical(), tensor_->maybe_allocation()));
    }
    recipe_.num_axes = static_cast<uint32_t>(axes_.size());
    return std::move(recipe_);
  }

 private:
  uint32_t axis_of(const Val* id) {
    return axes_.try_emplace(id, static_cast<uint32_t>(axes_.size())).first->second;
  }

  void add_transforms(const std::vector<Expr*>& transforms) {
    for (const Expr* transform : transforms) {
      for (const Val* in : transform->inputs()) {
        // A broadcast has room for its extent inside the axis that it was merged into.
        const auto* id = static_cast<const IterDomain*>(in);
        if (has_size_.insert(id).second) {
          recipe_.inner.push_back({.axis = axis_of(id), .extent = position_of_(id->extent())});
        }
      }
    }
    for (auto it = transforms.rbegin(); it != transforms.rend(); ++it) {
      recipe_.steps.push_back(step_of(*it));
    }
  }

  LayoutRecipe::Step step_of(const Expr* transform) {
    using Kind = LayoutRecipe::Step::Kind;
    if (const auto* split = transform->as<Split>()) {
      return {
          .kind = Kind::Split,
          .is_broadcast = split->in->is_broadcast(),
          .axes = {axis_of(split->in), axis_of(split->outer), axis_of(split->inner)}};
    }
    if (const auto* merge = transform->as<Merge>()) {
      return {
          .kind = Kind::Merge,
          .axes = {axis_of(merge->out), axis_of(merge->outer), axis_of(merge->inner)}};
    }
    return {};
  }

  const TensorView* tensor_;
  const std::function<Size(const Val*)>& position_of_;
  LayoutRecipe recipe_;
  std::unordered_map<const Val*, uint32_t> axes_;  // only looked up
  std::unordered_set<const IterDomain*> has_size_; // only looked up
};

/// Go back over one transform; empty, or why not. The axis that a transform began with has a size:
/// its parts in memory may be larger, where a later split of them does not divide.
const char* apply_backward(const LayoutRecipe::Step& step, std::vector<Axis>& axes) {
  const Axis outer = axes[step.axes[1]];
  const Axis inner = axes[step.axes[2]];
  Axis& whole = axes[step.axes[0]];
  switch (step.kind) {
    case LayoutRecipe::Step::Kind::Split:
      if (!step.is_broadcast && outer.size > 1 && inner.size > 1 &&
          outer.stride != inner.size * inner.stride) {
        return "a split whose parts are apart";
      }
      whole.stride = inner.size > 1 ? inner.stride : outer.stride;
      return nullptr;
    case LayoutRecipe::Step::Kind::Merge:
      axes[step.axes[1]].stride = whole.stride * inner.size;
      axes[step.axes[2]].stride = whole.stride;
      return nullptr;
    case LayoutRecipe::Step::Kind::Unfit: break;
  }
  return "a transform without strides";
}

[[noreturn]] void throw_fault(const TensorView* tensor, const LayoutFault& fault) {
  switch (fault.kind) {
    case LayoutFault::Kind::NegativeSize: { // it may follow from a scalar, which can be anything
      const IterDomain* id = logical_axes(tensor)[fault.position];
      throw UserError({
          .headline = {"A tensor cannot have the negative size ", fault.size},
          .node = describe(tensor),
          .expected = {"a size of 0 or more for ", id->to_string()},
          .found = {id->maybe_expanded_extent()->to_inline_string(), " = ", fault.size},
          .fix = {"check the scalar inputs that the size is computed from"},
      });
    }
    case LayoutFault::Kind::TooLarge:
      throw UserError({
          .headline = {"A tensor of this size cannot be addressed"},
          .node = describe(tensor),
          .expected = {"at most ", kMostElements, " elements"},
          .found = {"more: one axis has ", fault.size, ", inner ones ", fault.inner},
          .fix = {"check the scalar inputs that the sizes are computed from"},
      });
    case LayoutFault::Kind::Unfit: break;
  }
  const std::vector<Expr*> transforms =
      exprs_between(tensor->logical(), tensor->maybe_allocation());
  throw_unfit(tensor, transforms[transforms.size() - 1 - fault.position], fault.why);
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

std::vector<LayoutRecipe::Size> LayoutRecipe::sizes_read() const {
  std::vector<Size> sizes;
  for (const Dim& dim : dims) {
    sizes.push_back(dim.size);
  }
  for (const MemoryAxis& axis : memory) {
    if (axis.size) {
      sizes.push_back(*axis.size);
    }
  }
  for (const InnerAxis& axis : inner) {
    sizes.push_back(axis.extent);
  }
  return sizes;
}

LayoutRecipe layout_recipe(
    const TensorView* tensor, const std::function<LayoutRecipe::Size(const Val*)>& position_of) {
  return RecipeWriter(tensor, position_of).write();
}

std::variant<BufferLayout, LayoutFault> make_layout(
    const LayoutRecipe& recipe, std::span<const int64_t> sizes) {
  BufferLayout layout;
  for (size_t i = 0; i < recipe.dims.size(); ++i) {
    const int64_t size = sizes[recipe.dims[i].size];
    if (size < 0) {
      return LayoutFault{
          .kind = LayoutFault::Kind::NegativeSize, .position = i, .size = size, .why = ""};
    }
    layout.sizes.push_back(size);
  }
  // An expanded axis needs no memory, but the reader of the output counts its elements.
  int64_t visible = 0;
  if (const auto fault = count_elements(layout.sizes, visible)) {
    return *fault;
  }
  for (const LayoutRecipe::MemoryAxis& axis : recipe.memory) {
    layout.memory.sizes.push_back(axis.size ? sizes[*axis.size] : 1);
  }
  if (const auto fault = count_elements(layout.memory.sizes, layout.elements)) {
    return *fault;
  }
  std::vector<Axis> axes(recipe.num_axes);
  layout.memory.strides.resize(recipe.memory.size());
  int64_t stride = 1;
  for (size_t i = recipe.memory.size(); i-- > 0;) {
    const int64_t size = layout.memory.sizes[i];
    layout.memory.strides[i] = recipe.memory[i].is_expanded ? 0 : stride;
    axes[recipe.memory[i].axis] = {size, layout.memory.strides[i]};
    stride *= layout.elements == 0 ? 1 : size; // strides of an empty tensor mean nothing
  }
  for (const LayoutRecipe::InnerAxis& inner : recipe.inner) {
    axes[inner.axis] = {sizes[inner.extent], 0};
  }
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    if (const char* why = apply_backward(recipe.steps[i], axes)) {
      return LayoutFault{.kind = LayoutFault::Kind::Unfit, .position = i, .why = why};
    }
  }
  for (const LayoutRecipe::Dim& dim : recipe.dims) {
    layout.strides.push_back(dim.is_expanded ? 0 : dim.is_device_dim ? 1 : axes[dim.axis].stride);
  }
  layout.is_row_major = is_row_major(layout);
  return layout;
}

BufferLayout layout_of_new(const TensorView* tensor, ExpressionEvaluator& evaluator) {
  std::vector<int64_t> sizes;
  const LayoutRecipe recipe = layout_recipe(tensor, [&](const Val* size) {
    sizes.push_back(evaluator.evaluate_int(size));
    return static_cast<LayoutRecipe::Size>(sizes.size() - 1);
  });
  auto layout = make_layout(recipe, sizes);
  if (const auto* fault = std::get_if<LayoutFault>(&layout)) {
    throw_fault(tensor, *fault);
  }
  return std::get<BufferLayout>(std::move(layout));
}

} // namespace nvfuser
