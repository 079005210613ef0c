// The copies of cp_async.cuh with a policy of the second-level cache.
//
// provides: cp_async_ca_hinted cp_async_cg_hinted
// requires: types vector cp_async cache_policy
#pragma once

#if __CUDA_ARCH__ >= 800
#define NVF_COPY_HINTED(operator, bytes, read)                                             \
  asm volatile("cp.async." operator".shared.global.L2::cache_hint [%0], [%1], %2, %3, %4;" \
               :                                                                           \
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(bytes), \
                 "r"(read), "l"(cache_policy<kHint>())                                     \
               : "memory")
#endif

/// `memory` is an address where `from` need not be one, because this is a hole: zeros.
template <int kBytes, Hint kHint, typename T>
NVF_FUNCTION void cp_async_ca_hinted(
    T* to, const T* from, const T* memory = nullptr, bool loads = true) {
#if __CUDA_ARCH__ >= 800
  from = loads ? from : memory;
  NVF_COPY_HINTED("ca", kBytes, loads ? kBytes : 0);
#else
  cp_async_ca<kBytes>(to, from, memory, loads);
#endif
}
template <int kBytes, Hint kHint, typename T>
NVF_FUNCTION void cp_async_cg_hinted(
    T* to, const T* from, const T* memory = nullptr, bool loads = true) {
  static_assert(kBytes == 16, "cp.async.cg copies 16 bytes");
#if __CUDA_ARCH__ >= 800
  from = loads ? from : memory;
  NVF_COPY_HINTED("cg", kBytes, loads ? kBytes : 0);
#else
  cp_async_ca<kBytes>(to, from, memory, loads);
#endif
}

#if __CUDA_ARCH__ >= 800
#undef NVF_COPY_HINTED
#endif
