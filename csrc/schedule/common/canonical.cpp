#include "schedule/common/canonical.h"

#include <algorithm>

#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {

void arrange_axes(TensorView* tensor, const std::vector<int64_t>& order) {
  std::unordered_map<int64_t, int64_t> old2new;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) {
      old2new.emplace(order[i], static_cast<int64_t>(i));
    }
  }
  tensor->reorder(old2new);
}

void order_like_memory(TensorView* tensor) {
  std::vector<int64_t> order;
  for (const IterDomain* axis : axes_in_memory_order(tensor)) {
    order.push_back(std::ranges::find(tensor->loop(), axis) - tensor->loop().begin());
  }
  arrange_axes(tensor, order);
}

void merge_axes(TensorView* tensor, int64_t begin, int64_t end) {
  for (int64_t i = end - 2; i >= begin; --i) {
    tensor->merge(i, i + 1);
  }
}

} // namespace nvfuser::schedule
