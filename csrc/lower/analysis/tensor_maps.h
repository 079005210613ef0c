// Tensor maps: how the boxes of a bulk copy lie in global memory.
//
// A map has up to five axes, each with an extent, a stride and the size of the box along it. They
// are made from the axes of the tensor's memory by the transforms that lead to the boxes:
//
//   x[M, N]   loops [M / 32, N / 64, 32 tma, 64 tma]    map  N: box 64,  M: box 32
//   x[M, N]   loops [M * N / 256, 256 tma]              map  M * N: box 256, if rows follow
//                                                       each other without gaps
//   x[M, N]   loops [M, N / 64 / 2, 2, 64 tma]          map  N: box 64,  M: box 1
//   x[M, N]   loops [M / 32, 16 tma, 2, N tma]          map  N: box N,  M: box 16 in steps of 2
//
// The hardware tests boxes against the extents of the map alone. So an axis of the map that is a
// part of a split must be one of a split without remainder: else a box would reach into what
// follows, which is not a hole.
#pragma once

#include <variant>

#include "lower/kernel.h"

namespace nvfuser {

/// An axis along which a bulk copy finds its boxes.
struct TensorMapDim {
  IterDomain* axis = nullptr; // of the copy; its index is the coordinate of a box
  Val* extent = nullptr;
  Val* stride = nullptr; // elements
  int64_t box = 1;       // elements
  int64_t step = 1;      // positions from one element of the box to the next
  const IterDomain* tile =
      nullptr; // of the copy, that the box has; nullptr: one position of `axis`
};

/// A tensor in global memory as a bulk copy sees it: its boxes lie in shared memory without gaps,
/// the first axis innermost.
struct TensorMap {
  TensorView* tensor = nullptr; // in global memory
  std::vector<TensorMapDim> dims;
  int64_t swizzle_bytes = 0;               // as BulkLoad has it
  std::vector<int64_t> innermost;          // positions of axes in memory that the first is made of
  std::vector<LaunchCondition> conditions; // that the sizes of a launch must meet
};

/// The map of the bulk copy that defines `copy`, or why it cannot be one.
/// Requires: loops, circular loops, ranges of indices.
[[nodiscard]] std::variant<TensorMap, Refusal> find_tensor_map(Kernel& kernel, TensorView* copy);

/// Refuse bulk copies without a map, and say what launches must meet. It is the same on all
/// targets, also on those where a bulk copy is a loop.
[[nodiscard]] std::optional<Refusal> check_bulk_copies(Kernel& kernel);

} // namespace nvfuser
