// Barriers in shared memory that complete one phase after the other: when as many have arrived as
// it counts, and all bytes that were announced are there. Compute capability 9.0 and above.
// Functions take the barrier's address in shared memory.
//
// requires: types
#pragma once

NVF_FUNCTION void init_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(barrier), "r"(arrivals)
               : "memory");
}
/// Its phase completes after `bytes` more.
NVF_FUNCTION void expect_bytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
               :
               : "r"(barrier), "r"(bytes)
               : "memory");
}
NVF_FUNCTION void arrive_at_barrier(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}
/// Whether phase `phase` has completed. If not, the thread sleeps for a while first.
NVF_FUNCTION bool try_wait_for_phase(unsigned barrier, unsigned phase) {
  unsigned completed;
  asm volatile(
      "{\n"
      "  .reg .pred completed;\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 completed, [%1], %2;\n"
      "  selp.u32 %0, 1, 0, completed;\n"
      "}"
      : "=r"(completed)
      : "r"(barrier), "r"(phase % 2)
      : "memory");
  return completed != 0;
}

#ifdef NVF_BOUNDED_WAITS
/// A wait that would not end, as it seems, says so and ends the kernel.
struct WaitBound {
  static constexpr unsigned long long kMostNanoseconds = 10ull * 1000 * 1000 * 1000;
  unsigned long long begin = now();

  NVF_FUNCTION static unsigned long long now() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  }
  NVF_FUNCTION void check(unsigned barrier, unsigned phase, const char* name) const {
    if (now() - begin > kMostNanoseconds) {
      printf(
          "nvfuser: block (%u, %u, %u), thread (%u, %u, %u) waited 10 s for phase %u "
          "of the barrier of %s at byte %u of shared memory\n",
          blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, phase, name,
          barrier);
      __trap();
    }
  }
};
#else
struct WaitBound {
  NVF_FUNCTION void check(unsigned, unsigned, const char*) const {}
};
#endif

/// Wait until phase `phase` has completed. `name`: what the barrier is for.
NVF_FUNCTION void wait_for_phase(unsigned barrier, unsigned phase, const char* name) {
  const WaitBound bound;
  while (!try_wait_for_phase(barrier, phase)) {
    bound.check(barrier, phase, name);
  }
}
