// Vector copies from and to global memory that say which caches keep their elements. Before compute
// capability 8.0 they are plain copies.
//
// provides: copy_hinted
// requires: types vector cache_policy
#pragma once

#if __CUDA_ARCH__ >= 800

/// `bits` from global memory: `instruction` without its type, with and without a policy.
#define NVF_LOAD_HINTED(instruction, bits, last, ...)                     \
  if constexpr (sizeof(bits) == 1) {                                      \
    unsigned wide;                                                        \
    asm volatile(instruction ".u8 %0, [%1]" last(2) ";"                   \
                 : "=r"(wide)                                             \
                 : "l"(address)__VA_ARGS__                                \
                 : "memory");                                             \
    bits = static_cast<unsigned char>(wide);                              \
  } else if constexpr (sizeof(bits) == 2) {                               \
    asm volatile(instruction ".u16 %0, [%1]" last(2) ";"                  \
                 : "=h"(bits)                                             \
                 : "l"(address)__VA_ARGS__                                \
                 : "memory");                                             \
  } else if constexpr (sizeof(bits) == 4) {                               \
    asm volatile(instruction ".u32 %0, [%1]" last(2) ";"                  \
                 : "=r"(bits)                                             \
                 : "l"(address)__VA_ARGS__                                \
                 : "memory");                                             \
  } else if constexpr (sizeof(bits) == 8) {                               \
    asm volatile(instruction ".v2.u32 {%0, %1}, [%2]" last(3) ";"         \
                 : "=r"(bits.x), "=r"(bits.y)                             \
                 : "l"(address)__VA_ARGS__                                \
                 : "memory");                                             \
  } else {                                                                \
    asm volatile(instruction ".v4.u32 {%0, %1, %2, %3}, [%4]" last(5) ";" \
                 : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w) \
                 : "l"(address)__VA_ARGS__                                \
                 : "memory");                                             \
  }

/// `bits` to global memory.
#define NVF_STORE_HINTED(instruction, bits, last, ...)                                         \
  if constexpr (sizeof(bits) == 1) {                                                           \
    asm volatile(instruction ".u8 [%0], %1" last(2) ";"                                        \
                 :                                                                             \
                 : "l"(address), "r"(unsigned(bits))__VA_ARGS__                                \
                 : "memory");                                                                  \
  } else if constexpr (sizeof(bits) == 2) {                                                    \
    asm volatile(instruction ".u16 [%0], %1" last(2) ";"                                       \
                 :                                                                             \
                 : "l"(address), "h"(bits)__VA_ARGS__                                          \
                 : "memory");                                                                  \
  } else if constexpr (sizeof(bits) == 4) {                                                    \
    asm volatile(instruction ".u32 [%0], %1" last(2) ";"                                       \
                 :                                                                             \
                 : "l"(address), "r"(bits)__VA_ARGS__                                          \
                 : "memory");                                                                  \
  } else if constexpr (sizeof(bits) == 8) {                                                    \
    asm volatile(instruction ".v2.u32 [%0], {%1, %2}" last(3) ";"                              \
                 :                                                                             \
                 : "l"(address), "r"(bits.x), "r"(bits.y)__VA_ARGS__                           \
                 : "memory");                                                                  \
  } else {                                                                                     \
    asm volatile(instruction ".v4.u32 [%0], {%1, %2, %3, %4}" last(5) ";"                      \
                 :                                                                             \
                 : "l"(address), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)__VA_ARGS__ \
                 : "memory");                                                                  \
  }

#define NVF_NO_POLICY(position)
#define NVF_POLICY(position) ", %" #position

template <Hint kHint, typename Bits>
NVF_FUNCTION Bits load_hinted(const Bits* from) {
  const auto address = __cvta_generic_to_global(from);
  Bits bits;
  if constexpr (kHint == Hint::NoAllocate) {
    NVF_LOAD_HINTED("ld.global.L1::no_allocate", bits, NVF_NO_POLICY)
  } else {
    const unsigned long long policy = cache_policy<kHint>();
    NVF_LOAD_HINTED("ld.global.L2::cache_hint", bits, NVF_POLICY, , "l"(policy))
  }
  return bits;
}

template <Hint kHint, typename Bits>
NVF_FUNCTION void store_hinted(Bits* to, Bits bits) {
  const auto address = __cvta_generic_to_global(to);
  if constexpr (kHint == Hint::NoAllocate) {
    NVF_STORE_HINTED("st.global.L1::no_allocate", bits, NVF_NO_POLICY)
  } else {
    const unsigned long long policy = cache_policy<kHint>();
    NVF_STORE_HINTED("st.global.L2::cache_hint", bits, NVF_POLICY, , "l"(policy))
  }
}

#undef NVF_LOAD_HINTED
#undef NVF_STORE_HINTED
#undef NVF_NO_POLICY
#undef NVF_POLICY

#endif

/// Copy `kLanes` elements; the hint is about the sides that are global memory. Types differ where
/// memory packs elements.
template <int kLanes, Hint kHint, Memory kTo, Memory kFrom, typename T>
NVF_FUNCTION void copy_hinted(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  constexpr int kBytes = kLanes * sizeof(T);
  constexpr int kAccess = kBytes < 16 ? kBytes : 16;
  using Bits = typename BitsOf<kAccess>::Type;
#pragma unroll
  for (int i = 0; i < kBytes / kAccess; ++i) {
    const Bits* source = reinterpret_cast<const Bits*>(from) + i;
    Bits* place = reinterpret_cast<Bits*>(to) + i;
    Bits bits;
    if constexpr (kFrom == Memory::Global) {
      bits = load_hinted<kHint>(source);
    } else {
      bits = load_bits<kFrom, Cache::AllLevels>(source);
    }
    if constexpr (kTo == Memory::Global) {
      store_hinted<kHint>(place, bits);
    } else {
      store_bits<kTo, Cache::AllLevels>(place, bits);
    }
  }
#else
  copy_vector<kLanes, kTo, kFrom>(to, from);
#endif
}
