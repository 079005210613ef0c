#include "runtime/index_width.h"

#include <algorithm>
#include <array>
#include <limits>

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
  constexpr int64_t kWarp = 32;
  const std::optional<ScalarValue> extent = evaluator.evaluate(id->maybe_expanded_extent());
  const int64_t size = extent ? as_int(*extent) : 1;
  return id->has_padding_to_multiple_of_warp() && size <= kLargest32Bit
             ? std::max(
                   (size + kWarp - 1) / kWarp * kWarp, id->maybe_size_after_padding().value_or(0))
             : size;
}

/// Products of an axis list, each hardware axis counted with its launched size.
bool is_too_large(
    const IterDomains& ids,
    const std::array<int64_t, 6>& launched,
    ExpressionEvaluator& evaluator) {
  int64_t elements = 1;
  for (const IterDomain* id : ids) {
    int64_t size = size_of(id, evaluator);
    if (id->is_thread()) {
      size = std::max(size, launched[thread_type_index(id->parallel_type())]);
    }
    elements = bounded_product(elements, size);
  }
  return elements > kLargest32Bit;
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
  std::array<int64_t, 6> launched{1, 1, 1, 1, 1, 1};
  for (const TensorView* tensor : tensors) {
    for (const IterDomain* id : tensor->domain()->all_ids()) {
      const int64_t size = size_of(id, evaluator);
      if (size > kLargest32Bit) {
        return DataType::Int;
      }
      if (id->is_thread()) {
        int64_t& largest = launched[thread_type_index(id->parallel_type())];
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
  }
  return DataType::Int32;
}

} // namespace nvfuser
