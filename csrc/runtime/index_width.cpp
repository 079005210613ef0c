#include "runtime/index_width.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/target.h"
#include "runtime/buffer_layout.h"

namespace nvfuser {
namespace {

constexpr int64_t kLargest32Bit = std::numeric_limits<int32_t>::max();

/// Products that stop growing once they are too large, so that they cannot overflow.
int64_t bounded_product(int64_t a, int64_t b) {
  if (a == 0 || b == 0) {
    return 0;
  }
  return a > kLargest32Bit / b ? kLargest32Bit + 1 : a * b;
}

/// The size of an axis; 1 where it is not known (it depends on launch parameters alone).
int64_t size_of(const IterDomain* id, ExpressionEvaluator& evaluator) {
  const std::optional<ScalarValue> extent = evaluator.evaluate(id->maybe_expanded_extent());
  const int64_t size = extent ? as_int(*extent) : 1;
  return id->has_padding_to_multiple_of_warp() && size <= kLargest32Bit
             ? std::max(padded_to_warps(size), id->maybe_size_after_padding().value_or(0))
             : size;
}

/// Launched sizes, in the order of kHardwareTypes.
using LaunchedSizes = std::array<int64_t, 6>;

/// The product of an axis list, each hardware axis counted with its launched size.
int64_t elements_of(
    const IterDomains& ids, const LaunchedSizes& launched, ExpressionEvaluator& evaluator) {
  int64_t elements = 1;
  for (const IterDomain* id : ids) {
    int64_t size = size_of(id, evaluator);
    if (id->is_thread()) {
      size = std::max(size, launched[hardware_type_index(id->parallel_type())]);
    }
    elements = bounded_product(elements, size);
  }
  return elements;
}

bool is_too_large(
    const IterDomains& ids, const LaunchedSizes& launched, ExpressionEvaluator& evaluator) {
  return elements_of(ids, launched, evaluator) > kLargest32Bit;
}

/// The tensors whose loops have the loop of `tensor` at `position`, down the graph from it.
std::vector<const TensorView*> tensors_inside(const TensorView* tensor, int64_t position) {
  std::vector<const TensorView*> inside{tensor};
  for (size_t i = 0; i < inside.size(); ++i) {
    for (const TensorView* consumer : inside[i]->consumers()) {
      if (inside[i]->compute_position(consumer) > position &&
          std::find(inside.begin(), inside.end(), consumer) == inside.end()) {
        inside.push_back(consumer);
      }
    }
  }
  return inside;
}

/// What the loops of `tensor` run over if the one at `position` has `ahead` more iterations.
int64_t elements_ahead(
    const TensorView* tensor,
    int64_t position,
    int64_t ahead,
    const LaunchedSizes& launched,
    ExpressionEvaluator& evaluator) {
  IterDomains others = tensor->loop();
  others.erase(others.begin() + position);
  return bounded_product(
      elements_of(others, launched, evaluator), size_of(tensor->axis(position), evaluator) + ahead);
}

/// The sum of size * stride: more than the last position, to which (size - 1) * stride adds up.
double spanned_elements(const TensorArg& input) {
  double elements = 0;
  for (size_t dim = 0; dim < input.sizes().size(); ++dim) {
    elements += static_cast<double>(input.sizes()[dim]) * static_cast<double>(input.strides()[dim]);
  }
  return elements;
}

/// The last iterations load ahead of the end: a test leaves out what has no element, and computes
/// its position for that. Which loop is loaded ahead of depends on the parallel types of all
/// tensors in it; any serial one that is shared may be. Loops over n times as many elements as a
/// tensor has make no index of its dimensions more than n times as large, and so no position in
/// `copied`, the input that is loaded (nullptr: it is none).
bool is_too_large_ahead(
    const TensorView* buffer,
    const TensorArg* copied,
    const LaunchedSizes& launched,
    ExpressionEvaluator& evaluator) {
  const int64_t ahead = buffer->circular_buffer_options()->prefetch;
  const int64_t logical = elements_of(buffer->logical(), launched, evaluator);
  for (int64_t position = 0; position < buffer->compute_at_position(); ++position) {
    if (buffer->axis(position)->parallel_type() != ParallelType::Serial) {
      continue;
    }
    for (const TensorView* tensor : tensors_inside(buffer, position)) {
      if (elements_ahead(tensor, position, ahead, launched, evaluator) > kLargest32Bit) {
        return true;
      }
    }
    const auto covered =
        static_cast<double>(elements_ahead(buffer, position, ahead, launched, evaluator));
    if (copied != nullptr && logical > 0 &&
        spanned_elements(*copied) * covered / static_cast<double>(logical) > kLargest32Bit) {
      return true;
    }
  }
  return false;
}

/// The input that `copy` is a copy of; nullptr if it copies a tensor that the fusion computes.
const TensorArg* copied_input(
    const TensorView& copy, const Fusion& fusion, std::span<const Argument> args) {
  const std::vector<Val*>& inputs = fusion.inputs();
  const auto found = std::find(inputs.begin(), inputs.end(), copy.producers().front());
  return found == inputs.end()
             ? nullptr
             : std::get_if<TensorArg>(&args[static_cast<size_t>(found - inputs.begin())]);
}

/// Sizes and positions that the kernel computes: the bounds of a slice may be far outside of it.
bool has_large_index(const Fusion& fusion, ExpressionEvaluator& evaluator) {
  const std::vector<Val*> vals = fusion.vals();
  return std::any_of(vals.begin(), vals.end(), [&](Val* val) {
    if (val->dtype() != DataType::Index || !val->is_scalar()) {
      return false;
    }
    const std::optional<ScalarValue> value = evaluator.evaluate(val);
    return value && (as_int(*value) > kLargest32Bit || as_int(*value) < -kLargest32Bit);
  });
}

} // namespace

DataType narrowest_index_type(
    const Fusion& fusion, std::span<const Argument> args, ExpressionEvaluator& evaluator) {
  for (const Argument& arg : args) {
    const auto* tensor = std::get_if<TensorArg>(&arg);
    if (tensor != nullptr && storage_elements(tensor->sizes(), tensor->strides()) > kLargest32Bit) {
      return DataType::Int;
    }
  }
  if (has_large_index(fusion, evaluator)) {
    return DataType::Int;
  }
  const std::vector<TensorView*> tensors = fusion.tensors();
  LaunchedSizes launched{1, 1, 1, 1, 1, 1};
  for (const TensorView* tensor : tensors) {
    for (const IterDomain* id : tensor->domain()->all_ids()) {
      const int64_t size = size_of(id, evaluator);
      if (size > kLargest32Bit) {
        return DataType::Int;
      }
      if (id->is_thread()) {
        int64_t& largest = launched[hardware_type_index(id->parallel_type())];
        largest = std::max(largest, size);
      }
    }
  }
  for (const TensorView* tensor : tensors) {
    if (is_too_large(tensor->logical(), launched, evaluator) ||
        is_too_large(tensor->maybe_allocation(), launched, evaluator) ||
        is_too_large(tensor->loop(), launched, evaluator)) {
      return DataType::Int;
    }
    // The parts of a split may cover more than the axis: the last one is cut by a predicate.
    for (const Expr* transform : tensor->domain()->all_exprs()) {
      IterDomains parts;
      for (const Val* out : transform->outputs()) {
        parts.push_back(static_cast<IterDomain*>(const_cast<Val*>(out)));
      }
      if (is_too_large(parts, launched, evaluator)) {
        return DataType::Int;
      }
    }
    if (tensor->circular_buffer_options() &&
        is_too_large_ahead(tensor, copied_input(*tensor, fusion, args), launched, evaluator)) {
      return DataType::Int;
    }
  }
  return DataType::Int32;
}

} // namespace nvfuser
