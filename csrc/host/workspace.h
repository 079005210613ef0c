// The workspace of a program: one piece of memory for all tensors that live only between steps.
// Tensors whose lives do not meet share addresses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nvfuser::host {

/// A tensor in need of a place: in use from step `first` to step `last`, both included.
struct BufferLife {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct WorkspaceLayout {
  std::vector<int64_t> offsets; // by buffer
  int64_t bytes = 0;            // of the whole workspace
};

/// Places for all buffers: large ones first, each at the lowest offset that no buffer with a life
/// that meets its own has taken. Cost: quadratic in the number of buffers.
[[nodiscard]] WorkspaceLayout place_buffers(std::span<const BufferLife> buffers);

} // namespace nvfuser::host
