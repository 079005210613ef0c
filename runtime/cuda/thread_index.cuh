// Positions of threads in their block and of blocks in the grid, along some of the dimensions.
// x varies fastest.
//
// requires: types
#pragma once

/// Position of this thread among those that agree with it in the other dimensions.
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned thread_position() {
  unsigned position = kZ ? threadIdx.z : 0;
  position = kY ? position * blockDim.y + threadIdx.y : position;
  return kX ? position * blockDim.x + threadIdx.x : position;
}
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned thread_count() {
  return (kX ? blockDim.x : 1) * (kY ? blockDim.y : 1) * (kZ ? blockDim.z : 1);
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
