#include "runtime/overlap.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace nvfuser {
namespace {

/// First byte and first byte after the last element.
std::pair<uintptr_t, uintptr_t> address_range(const TensorArg& tensor) {
  const int64_t elements = storage_elements(tensor.sizes(), tensor.strides());
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data);
  return {begin, begin + static_cast<uintptr_t>(storage_bytes(tensor.dtype, elements))};
}

} // namespace

bool may_overlap_itself(const TensorArg& tensor) {
  if (tensor.is_empty()) {
    return false;
  }
  std::vector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.size_data[i] > 1) {
      dims.emplace_back(tensor.stride_data[i], tensor.size_data[i]);
    }
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0; // largest offset of the dimensions so far
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) {
      return true;
    }
    reach += (size - 1) * stride;
  }
  return false;
}

bool ranges_intersect(const TensorArg& a, const TensorArg& b) {
  if (a.is_empty() || b.is_empty()) {
    return false;
  }
  const auto [a_begin, a_end] = address_range(a);
  const auto [b_begin, b_end] = address_range(b);
  return a_begin < b_end && b_begin < a_end;
}

} // namespace nvfuser
