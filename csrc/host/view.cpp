#include "host/view.h"

#include <algorithm>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "runtime/buffer_layout.h"

namespace nvfuser::host {
namespace {

struct Axis {
  int64_t size = 1;
  int64_t stride = 0; // elements
};
using AxisMap = std::unordered_map<const IterDomain*, Axis>;

Refusal no_view(const Val* node, const Part& found) {
  return refuse({
      .headline = {"This is no view: its elements need memory of their own"},
      .node = describe(node),
      .expected =
          {"expressions that only move elements: set, permute, slice, broadcast, squeeze, expand, "
           "and reshapes that the strides allow"},
      .found = found,
      .fix = {"launch or evaluate it instead"},
  });
}

/// Follows one tensor from the input to the output.
class ViewFinder {
 public:
  ViewFinder(
      std::span<const int64_t> sizes,
      std::span<const int64_t> strides,
      ExpressionEvaluator& evaluator)
      : evaluator_(evaluator) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      axes_.push_back({sizes[i], strides[i]});
    }
  }

  /// From the axes of `producer` to those of `consumer`.
  std::optional<Refusal> step(const TensorView* producer, const TensorView* consumer) {
    AxisMap axes;
    NVF_RETURN_REFUSAL(read_operand(producer, consumer, axes));
    if (consumer->domain()->has_root()) {
      for (const Expr* transform : exprs_between(consumer->domain()->root(), consumer->logical())) {
        NVF_RETURN_REFUSAL(apply(consumer, transform, axes));
      }
    }
    axes_.clear();
    for (const IterDomain* id : logical_axes(consumer)) {
      axes_.push_back(axes.at(id));
    }
    return std::nullopt;
  }

  [[nodiscard]] ViewLayout layout() const {
    ViewLayout result;
    for (const Axis& axis : axes_) {
      result.sizes.push_back(axis.size);
      result.strides.push_back(axis.stride);
    }
    result.offset = offset_;
    return result;
  }

 private:
  /// The axes that the definition of `consumer` writes.
  std::optional<Refusal> read_operand(
      const TensorView* producer, const TensorView* consumer, AxisMap& axes) {
    const IterDomains& written = consumer->domain()->maybe_root();
    for (const IterDomain* id : written) {
      const int64_t size = evaluator_.evaluate_int(id->maybe_expanded_extent());
      axes[id] = {size, 0}; // a broadcast, unless an axis of the operand is the same
    }
    const std::vector<AxisUse> uses = axes_of_use(producer, consumer);
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].read != AxisRead::Same && uses[i].read != AxisRead::Resized) {
        return no_view(consumer, {"positions that other elements choose"});
      }
      if (uses[i].position == kNoPosition) {
        continue; // squeezed: there is one position
      }
      Axis& axis = axes.at(written[static_cast<size_t>(uses[i].position)]);
      if (axis.size == axes_[i].size) {
        axis.stride = axes_[i].stride;
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> apply(const TensorView* tensor, const Expr* transform, AxisMap& axes) {
    if (const auto* split = transform->as<Split>()) {
      const Axis in = axes.at(split->in);
      const int64_t factor = evaluator_.evaluate_int(split->factor);
      if (factor <= 0 || in.size % factor != 0) {
        return no_view(tensor, {"a split of size ", in.size, " by ", factor});
      }
      const int64_t inner = split->inner_split ? factor : in.size / factor;
      axes[split->inner] = {inner, in.stride};
      axes[split->outer] = {in.size / inner, in.stride * inner};
      return std::nullopt;
    }
    if (const auto* merge = transform->as<Merge>()) {
      const Axis outer = axes.at(merge->outer);
      const Axis inner = axes.at(merge->inner);
      const bool is_one_step =
          outer.size <= 1 || inner.size <= 1 || outer.stride == inner.size * inner.stride;
      if (!is_one_step) {
        return no_view(
            tensor, {"a merge of dimensions with strides ", outer.stride, " and ", inner.stride,
                     ", the second of size ", inner.size});
      }
      axes[merge->out] = {outer.size * inner.size, inner.size == 1 ? outer.stride : inner.stride};
      return std::nullopt;
    }
    if (const auto* resize = transform->as<Resize>()) {
      const Axis in = axes.at(resize->in);
      const int64_t left = evaluator_.evaluate_int(resize->left);
      const int64_t right = evaluator_.evaluate_int(resize->right);
      if (left > 0 || right > 0) {
        return no_view(
            tensor, {"a dimension with ", left, " elements in front and ", right, " behind"});
      }
      axes[resize->out] = {in.size + left + right, in.stride};
      offset_ -= left * in.stride;
      return std::nullopt;
    }
    return no_view(tensor, {transform->to_string()});
  }

  ExpressionEvaluator& evaluator_;
  std::vector<Axis> axes_; // of the tensor that was reached
  int64_t offset_ = 0;
};

} // namespace

std::variant<ViewLayout, Refusal> find_view(
    const Fusion& fusion,
    const TensorView* output,
    std::span<const Argument> inputs,
    ExpressionEvaluator& evaluator) {
  std::vector<const TensorView*> chain = {output};
  while (const Expr* definition = chain.back()->definition()) {
    if (semantics_of(*definition).view == ViewOf::Nothing) {
      return no_view(chain.back(), {definition->op_name()});
    }
    chain.push_back(static_cast<const TensorView*>(definition->inputs().front()));
  }
  const auto base = static_cast<size_t>(
      std::ranges::find(fusion.inputs(), chain.back()) - fusion.inputs().begin());
  if (chain.back()->is_cpu_scalar() && !output->is_cpu_scalar()) {
    return no_view(output, {"an element in host memory, for a tensor on the device"});
  }
  if (size_bits(output->dtype()) % 8 != 0) {
    return no_view(output, {"elements of less than a byte"});
  }
  const auto& tensor = std::get<TensorArg>(inputs[base]);
  ViewFinder finder(tensor.sizes(), tensor.strides(), evaluator);
  for (size_t i = chain.size(); i-- > 1;) {
    if (std::optional<Refusal> refusal = finder.step(chain[i], chain[i - 1])) {
      return *refusal;
    }
  }
  ViewLayout layout = finder.layout();
  layout.base = base;
  const BufferLayout declared = layout_of_new(output, evaluator); // checks that it can be addressed
  if (output->has_allocation() && declared.strides != layout.strides) {
    return no_view(output, {"an allocation domain with other strides"});
  }
  return layout;
}

} // namespace nvfuser::host
