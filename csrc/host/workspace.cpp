#include "host/workspace.h"

#include <algorithm>
#include <numeric>

#include "base/workspace.h"

namespace nvfuser::host {
namespace {

int64_t round_up(int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

bool lives_meet(const BufferLife& a, const BufferLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

WorkspaceLayout place_buffers(std::span<const BufferLife> buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].bytes > buffers[b].bytes;
  });
  WorkspaceLayout layout;
  layout.offsets.resize(buffers.size());
  std::vector<size_t> placed; // by offset
  for (const size_t i : order) {
    const int64_t bytes = round_up(buffers[i].bytes);
    int64_t offset = 0;
    for (const size_t other : placed) {
      if (!lives_meet(buffers[i], buffers[other])) {
        continue;
      }
      if (offset + bytes <= layout.offsets[other]) {
        break; // it fits in front of this one, and all later ones lie behind
      }
      offset = std::max(offset, layout.offsets[other] + round_up(buffers[other].bytes));
    }
    layout.offsets[i] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    const auto behind = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](int64_t value, size_t other) { return value < layout.offsets[other]; });
    placed.insert(behind, i);
  }
  return layout;
}

} // namespace nvfuser::host
