// Counters at which blocks meet, and a barrier over blocks. All blocks that wait at a barrier must
// be resident: the launch is cooperative.
//
// A counter holds arrivals in its low bits. When all blocks have arrived these are zero again, and
// the highest bit has flipped. It may start with that bit in either state, and is *at rest* in
// both: what one kernel leaves serves the next one of the stream, whatever it counts
// (csrc/runtime/counters.h).
//
// provides: grid_sync
// requires: types thread_index
#pragma once

constexpr unsigned kCounterPhase = 0x80000000u;

/// An arrival of one of `blocks`, as it changes the counter.
NVF_FUNCTION unsigned arrival_step(unsigned blocks, bool is_first_block) {
  return is_first_block ? kCounterPhase - (blocks - 1) : 1u;
}

/// Count one of `blocks` arrivals. `is_last`: whether it was the last. It orders no accesses.
NVF_FUNCTION void count_arrival(
    unsigned* counter, unsigned blocks, bool is_first_block, bool& is_last) {
  const unsigned step = arrival_step(blocks, is_first_block);
  is_last = ((atomicAdd(counter, step) + step) & ~kCounterPhase) == 0;
}

/// The arrival releases what the block stored, as barriers of the block order it before; the block
/// acquires what the others stored by its own arrival, if that is the last, or by the load that
/// sees the bit flip. Each arrival reads the one before, so that it hands on what that released.
NVF_FUNCTION void grid_barrier(unsigned* counter, unsigned blocks, bool is_first_block) {
  block_barrier();
  if (thread_position<true, true, true>() == 0) {
    const unsigned step = arrival_step(blocks, is_first_block);
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(counter), "r"(step)
                 : "memory");
    const bool is_last = ((before + step) & ~kCounterPhase) == 0;
    unsigned now = before;
    while (!is_last && ((before ^ now) & kCounterPhase) == 0) {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    }
  }
  block_barrier();
}

/// Wait for the blocks that agree with this one in the dimensions that are not synchronized.
/// `counters`: one per such group.
template <bool kX, bool kY, bool kZ, typename T>
NVF_FUNCTION void grid_sync(T* counters) {
  grid_barrier(
      reinterpret_cast<unsigned*>(counters + block_position<!kX, !kY, !kZ>()),
      block_count<kX, kY, kZ>(), block_position<kX, kY, kZ>() == 0);
}
