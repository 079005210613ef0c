// Positions of threads in their block and of blocks in the grid, along some of the dimensions.
// x varies fastest.
//
// A size of the block that the schedule fixes is a constant: the compiler leaves out what no such
// block needs. kBlockX, kBlockY and kBlockZ stand before this source; 0 is a size that only the
// launch tells.
//
// A block may have threads that only load, before those that compute: kLoadingX, kLoadingY and
// kLoadingZ are their positions along a dimension, 0 if there are none. All that is counted here
// are threads that compute, but for the questions which of both a thread is.
//
// provides: block_barrier give_registers take_registers
// requires: types
#pragma once

NVF_FUNCTION unsigned block_size_x() {
  return kBlockX != 0 ? kBlockX : blockDim.x - kLoadingX;
}
NVF_FUNCTION unsigned block_size_y() {
  return kBlockY != 0 ? kBlockY : blockDim.y - kLoadingY;
}
NVF_FUNCTION unsigned block_size_z() {
  return kBlockZ != 0 ? kBlockZ : blockDim.z - kLoadingZ;
}

/// Position of this thread among those that agree with it in the other dimensions.
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned thread_position() {
  unsigned position = kZ && kBlockZ != 1 ? threadIdx.z - kLoadingZ : 0;
  position = kY && kBlockY != 1 ? position * block_size_y() + threadIdx.y - kLoadingY : position;
  return kX && kBlockX != 1 ? position * block_size_x() + threadIdx.x - kLoadingX : position;
}
template <bool kX, bool kY, bool kZ>
NVF_FUNCTION unsigned thread_count() {
  return (kX ? block_size_x() : 1) * (kY ? block_size_y() : 1) * (kZ ? block_size_z() : 1);
}

/// Whether it is the first one of the block, of either kind.
NVF_FUNCTION bool begins_block() {
  return threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
}

constexpr bool kHasLoadingGroup = kLoadingX + kLoadingY + kLoadingZ > 0;

/// Threads that a barrier of computing threads counts: whole warps.
NVF_FUNCTION unsigned barrier_count() {
  return (thread_count<true, true, true>() + 31) / 32 * 32;
}

/// Wait for all threads that compute. Barrier 0 is that of all threads.
NVF_FUNCTION void block_barrier() {
  if constexpr (kHasLoadingGroup) {
    asm volatile("bar.sync 1, %0;" : : "r"(barrier_count()) : "memory");
  } else {
    __syncthreads();
  }
}

/// The same; whether `value` holds in any of them.
NVF_FUNCTION bool block_barrier_or(bool value) {
  if constexpr (kHasLoadingGroup) {
    unsigned any = 0;
    asm volatile(
        "{\n"
        "  .reg .pred own, any;\n"
        "  setp.ne.u32 own, %1, 0;\n"
        "  bar.red.or.pred any, 1, %2, own;\n"
        "  selp.u32 %0, 1, 0, any;\n"
        "}"
        : "=r"(any)
        : "r"(unsigned(value)), "r"(barrier_count())
        : "memory");
    return any != 0;
  } else {
    return __syncthreads_or(value);
  }
}

/// Threads that only load give registers away, and then have `kRegisters`. All of them call, in
/// the branch that is theirs: the compiler must see that no others come there.
template <unsigned kRegisters>
NVF_FUNCTION void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(kRegisters));
}
/// Threads that compute wait until there are enough, and then have `kRegisters`.
template <unsigned kRegisters>
NVF_FUNCTION void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(kRegisters));
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
