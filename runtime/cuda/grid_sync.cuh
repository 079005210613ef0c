// Barrier over blocks. All of them must be resident: the launch is cooperative.
//
// provides: grid_sync
// requires: types thread_index
#pragma once

/// A counter holds arrivals in its low bits and flips its highest bit when all `blocks` have
/// arrived; the low bits are zero again then. It may start in either phase, so zero-filled memory
/// serves any number of barriers and launches.
NVF_FUNCTION void grid_barrier(unsigned* counter, unsigned blocks, bool is_first_block) {
  __syncthreads();
  if (thread_position<true, true, true>() == 0) {
    __threadfence();
    constexpr unsigned kPhase = 0x80000000u;
    const unsigned before = atomicAdd(counter, is_first_block ? kPhase - (blocks - 1) : 1u);
    unsigned now = before;
    do {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    } while (((before ^ now) & kPhase) == 0);
    __threadfence();
  }
  __syncthreads();
}

/// Wait for the blocks that agree with this one in the dimensions that are not synchronized.
/// `counters`: one per such group.
template <bool kX, bool kY, bool kZ, typename T>
NVF_FUNCTION void grid_sync(T* counters) {
  grid_barrier(
      reinterpret_cast<unsigned*>(counters + block_position<!kX, !kY, !kZ>()),
      block_count<kX, kY, kZ>(), block_position<kX, kY, kZ>() == 0);
}
