// Policies of the second-level cache, which copies name: what leaves it first, and what last.
//
// provides: Hint
// requires: types
#pragma once

/// Which caches keep what a copy moves. NoAllocate: not the first-level one.
enum class Hint { EvictFirst, EvictLast, NoAllocate };

#if __CUDA_ARCH__ >= 800
/// The policy of all elements of a copy.
template <Hint kHint>
NVF_FUNCTION unsigned long long cache_policy() {
  static_assert(kHint != Hint::NoAllocate, "that is about the first-level cache");
  unsigned long long policy;
  if constexpr (kHint == Hint::EvictFirst) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  } else {
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  }
  return policy;
}
#endif
