// Positions of threads in their block and of blocks in the grid, along some of the dimensions.
// x varies fastest.
//
// A size of the block that the schedule fixes is a constant: the compiler leaves out what no such
// block needs. kBlockX, kBlockY and kBlockZ stand before this source; 0 is a size that only the
// launch tells.
//
// requires: types
#pragma once

NVF_FUNCTION unsigned block_size_x() {
  return kBlockX != 0 ? kBlockX : blockDim.x;
}
NVF_FUNCTION unsigned block_size_y() {
  return kBlockY != 0 ? kBlockY : blockDim.y;
}
NVF_FUNCTION unsigned block_size_z() {
  return kBlockZ != 0 ? kBlockZ : blockDim.z;
}

/// Position of this thread among those that agree with it in the other dimensions.
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned thread_position() {
  unsigned position = kZ && kBlockZ != 1 ? threadIdx.z : 0;
  position = kY && kBlockY != 1 ? position * block_size_y() + threadIdx.y : position;
  return kX && kBlockX != 1 ? position * block_size_x() + threadIdx.x : position;
}
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned thread_count() {
  return (kX ? block_size_x() : 1) * (kY ? block_size_y() : 1) * (kZ ? block_size_z() : 1);
}

/// Position of this block among those that agree with it in the other dimensions.
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned block_position() {
  unsigned position = kZ ? blockIdx.z : 0;
  position = kY ? position * gridDim.y + blockIdx.y : position;
  return kX ? position * gridDim.x + blockIdx.x : position;
}
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned block_count() {
  return (kX ? gridDim.x : 1) * (kY ? gridDim.y : 1) * (kZ ? gridDim.z : 1);
}
