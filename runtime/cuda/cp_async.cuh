// Copies from global to shared memory that go on while their thread does something else: 4, 8 or 16
// bytes, both sides aligned to that size. A thread waits for its own copies, in groups; what others
// copied is there only after a barrier. Before compute capability 8.0 they are plain copies.
//
// provides: cp_async_ca cp_async_cg cp_async_commit cp_async_wait
// requires: types vector
#pragma once

/// Copy `kBytes` through all caches.
template <int kBytes, typename T>
NVF_FUNCTION void cp_async_ca(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(kBytes)
               : "memory");
#else
  load_vector<kBytes / sizeof(T), Cache::AllLevels, Memory::Shared>(to, from);
#endif
}

/// The same, or zeros if this is a hole: then `from` is not read, and need not be an address.
/// `memory` is one.
template <int kBytes, typename T>
NVF_FUNCTION void cp_async_ca(T* to, const T* from, const T* memory, bool loads) {
  from = loads ? from : memory;
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(kBytes),
                 "r"(loads ? kBytes : 0)
               : "memory");
#else
  using Bits = typename BitsOf<kBytes>::Type;
  *reinterpret_cast<Bits*>(to) = loads ? *reinterpret_cast<const Bits*>(from) : Bits{};
#endif
}

/// Copy 16 bytes past the first-level cache.
template <int kBytes, typename T>
NVF_FUNCTION void cp_async_cg(T* to, const T* from) {
  static_assert(kBytes == 16, "cp.async.cg copies 16 bytes");
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from))
               : "memory");
#else
  cp_async_ca<kBytes>(to, from);
#endif
}
template <int kBytes, typename T>
NVF_FUNCTION void cp_async_cg(T* to, const T* from, const T* memory, bool loads) {
  static_assert(kBytes == 16, "cp.async.cg copies 16 bytes");
#if __CUDA_ARCH__ >= 800
  from = loads ? from : memory;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(loads ? 16 : 0)
               : "memory");
#else
  cp_async_ca<kBytes>(to, from, memory, loads);
#endif
}

/// The copies that this thread began since the last commit become a group, even if there are none.
NVF_FUNCTION void cp_async_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/// Wait until all groups of this thread but the `kYoungest` have arrived.
template <int kYoungest>
NVF_FUNCTION void cp_async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(kYoungest) : "memory");
#endif
}
