// Stages of circular buffers that bulk copies fill and readers hand back.
//
// A stage has two barriers in shared memory. One completes a phase when the thread that loads has
// arrived, and all bytes that it announced before; the other one when all warps that compute have
// arrived, which have read it. Stages are counted through the kernel: stage n has the barriers
// n % kBarriers, and is phase n / kBarriers of both. The loading thread waits for all phases of one
// kind in turn, each computing thread for those of the other kind, so that no phase is mistaken for
// the one before the last.
//
// provides: BulkStages
// requires: types thread_index bulk_copy vector
#pragma once

/// `kBarriers`: stages that may be under way or being read. A thread counts what it does itself:
/// the loading thread `loaded` and `free`, one that computes `arrived` and `handed_back`.
template <unsigned kBarriers>
struct BulkStages {
  unsigned first_barrier; // its address in shared memory
  unsigned loaded;
  unsigned free; // stages that are known to have been handed back
  unsigned arrived;
  unsigned handed_back;

  /// `blocks`: those whose warps hand a stage back.
  NVF_FUNCTION explicit BulkStages(unsigned long long* barriers, unsigned blocks = 1)
      : first_barrier(shared_address(barriers)), loaded(0), free(0), arrived(0), handed_back(0) {
    if (begins_block()) {
      const unsigned warps = (thread_count<true, true, true>() + 31) / 32; // that compute
#pragma unroll
      for (unsigned stage = 0; stage < kBarriers; ++stage) {
        init_barrier(full(stage), 1);
        init_barrier(empty(stage), warps * blocks);
      }
      fence_async_proxy();
    }
    __syncthreads();
  }
  BulkStages(const BulkStages&) = delete;
  BulkStages& operator=(const BulkStages&) = delete;

  NVF_FUNCTION unsigned full(unsigned stage) const {
    return first_barrier + 8 * (stage % kBarriers);
  }
  NVF_FUNCTION unsigned empty(unsigned stage) const {
    return full(stage) + 8 * kBarriers;
  }

  // -- the loading thread: the first one of the block --

  /// Wait until all stages but the `kYoungest` have been handed back.
  template <unsigned kYoungest>
  NVF_FUNCTION void wait_empty() {
    while (begins_block() && loaded - free > kYoungest) {
      wait_for_phase(empty(free), free / kBarriers, "a stage that is handed back");
      ++free;
    }
  }
  /// The barrier of the next stage, which completes after `bytes` more.
  NVF_FUNCTION unsigned expect(unsigned bytes) const {
    expect_bytes(full(loaded), bytes);
    return full(loaded);
  }
  /// The loads of a stage have begun.
  NVF_FUNCTION void arrive_full() {
    if (begins_block()) {
      arrive_at_barrier(full(loaded));
    }
    ++loaded;
  }

  // -- threads that compute --

  /// Wait for the next stage.
  NVF_FUNCTION void wait_full() {
    wait_for_phase(full(arrived), arrived / kBarriers, "a stage that is loaded");
    ++arrived;
  }
  /// The warp has read a stage.
  NVF_FUNCTION void arrive_empty() {
    __syncwarp();
    unsigned lane = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane == 0) {
      arrive_at_barrier(empty(handed_back));
    }
    ++handed_back;
  }
};
