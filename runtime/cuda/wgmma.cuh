// Products of warpgroups: four warps multiply two tiles in shared memory, the first of which may
// lie in registers, and add the product to registers, while their threads go on. Compute
// capability 9.0 only.
//
// The compiler writes a function for each shape that a kernel uses (codegen/cuda_wgmma.cpp).
//
// provides: wgmma_descriptor wgmma_fence wgmma_commit wgmma_wait
// requires: types vector fragment_bits
#pragma once

/// A tile that begins at `first`, as the instruction is told: rows of `kWidth` bytes of k that
/// follow each other, of which pieces of 16 bytes are permuted in lines of 128 bytes. Of a
/// transposed tile rows are along m or n, one for each position of k; if it is wider than a row,
/// the next box begins `kBetweenBoxes` bytes behind.
template <unsigned kWidth, unsigned kBetweenBoxes = 16, typename T>
NVF_FUNCTION unsigned long long wgmma_descriptor(const T* first) {
  static_assert(kWidth == 32 || kWidth == 64 || kWidth == 128, "a swizzle of the hardware");
  constexpr unsigned long long kSwizzle = kWidth == 128 ? 1 : kWidth == 64 ? 2 : 3;
  constexpr unsigned long long kBetweenRows = 8 * kWidth / 16; // groups of 8, in pieces of 16 bytes
  // Only transposed tiles are wider than a row: 1 is what is said where it is not used.
  constexpr unsigned long long kBetweenColumns = kBetweenBoxes / 16;
  return kSwizzle << 62 | kBetweenRows << 32 | kBetweenColumns << 16 |
         (shared_address(first) & 0x3ffff) >> 4;
}

/// The registers that products work on are ready.
NVF_FUNCTION void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// The products since the last commit are a group.
NVF_FUNCTION void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// All groups but the `kYoungest` are complete.
template <unsigned kYoungest>
NVF_FUNCTION void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(kYoungest) : "memory");
}
