// Several neighbouring elements in one access. Both sides are aligned to the size of the access
// (1 to 16 bytes, a power of two; twice 16 bytes are two accesses).
//
// An access to memory is one instruction because it is written as one: what is assigned in C++ the
// compiler may take apart and not put together again, as it does where an index has 64 bits.
//
// provides: copy_vector fill_vector load_vector load_unaligned store_vector load_readonly Cache
// provides: load_readonly_where shared_address Memory
// requires: types
#pragma once

/// How a global access uses the caches. ReadOnly: nothing writes the memory while the kernel runs.
enum class Cache { AllLevels, Streaming, Global, ReadOnly };

/// Where elements are.
enum class Memory { Registers, Shared, Global };

template <int kBytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using Type = unsigned char;
};
template <>
struct BitsOf<2> {
  using Type = unsigned short;
};
template <>
struct BitsOf<4> {
  using Type = unsigned int;
};
template <>
struct BitsOf<8> {
  using Type = uint2;
};
template <>
struct BitsOf<16> {
  using Type = uint4;
};

NVF_FUNCTION unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// `bits` from an address: `instruction` without its type, and the operand that is the address.
#define NVF_LOAD_BITS(instruction, address, bits)                                 \
  if constexpr (sizeof(bits) == 1) {                                              \
    unsigned wide;                                                                \
    asm volatile(instruction ".u8 %0, [%1];" : "=r"(wide) : address : "memory");  \
    bits = static_cast<unsigned char>(wide);                                      \
  } else if constexpr (sizeof(bits) == 2) {                                       \
    asm volatile(instruction ".u16 %0, [%1];" : "=h"(bits) : address : "memory"); \
  } else if constexpr (sizeof(bits) == 4) {                                       \
    asm volatile(instruction ".u32 %0, [%1];" : "=r"(bits) : address : "memory"); \
  } else if constexpr (sizeof(bits) == 8) {                                       \
    asm volatile(instruction ".v2.u32 {%0, %1}, [%2];"                            \
                 : "=r"(bits.x), "=r"(bits.y)                                     \
                 : address                                                        \
                 : "memory");                                                     \
  } else {                                                                        \
    asm volatile(instruction ".v4.u32 {%0, %1, %2, %3}, [%4];"                    \
                 : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)         \
                 : address                                                        \
                 : "memory");                                                     \
  }

/// `bits` to an address.
#define NVF_STORE_BITS(instruction, address, bits)                                         \
  if constexpr (sizeof(bits) == 1) {                                                       \
    asm volatile(instruction ".u8 [%0], %1;" : : address, "r"(unsigned(bits)) : "memory"); \
  } else if constexpr (sizeof(bits) == 2) {                                                \
    asm volatile(instruction ".u16 [%0], %1;" : : address, "h"(bits) : "memory");          \
  } else if constexpr (sizeof(bits) == 4) {                                                \
    asm volatile(instruction ".u32 [%0], %1;" : : address, "r"(bits) : "memory");          \
  } else if constexpr (sizeof(bits) == 8) {                                                \
    asm volatile(instruction ".v2.u32 [%0], {%1, %2};"                                     \
                 :                                                                         \
                 : address, "r"(bits.x), "r"(bits.y)                                       \
                 : "memory");                                                              \
  } else {                                                                                 \
    asm volatile(instruction ".v4.u32 [%0], {%1, %2, %3, %4};"                             \
                 :                                                                         \
                 : address, "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)             \
                 : "memory");                                                              \
  }

template <Memory kFrom, Cache kCache, typename Bits>
NVF_FUNCTION Bits load_bits(const Bits* from) {
  Bits bits;
  if constexpr (kFrom == Memory::Registers) {
    bits = *from;
  } else if constexpr (kFrom == Memory::Shared) {
    NVF_LOAD_BITS("ld.shared", "r"(shared_address(from)), bits)
  } else if constexpr (kCache == Cache::ReadOnly) {
    bits = __ldg(from);
  } else if constexpr (kCache == Cache::Streaming) {
    NVF_LOAD_BITS("ld.global.cs", "l"(__cvta_generic_to_global(from)), bits)
  } else if constexpr (kCache == Cache::Global) {
    NVF_LOAD_BITS("ld.global.cg", "l"(__cvta_generic_to_global(from)), bits)
  } else {
    NVF_LOAD_BITS("ld.global", "l"(__cvta_generic_to_global(from)), bits)
  }
  return bits;
}

template <Memory kTo, Cache kCache, typename Bits>
NVF_FUNCTION void store_bits(Bits* to, Bits bits) {
  if constexpr (kTo == Memory::Registers) {
    *to = bits;
  } else if constexpr (kTo == Memory::Shared) {
    NVF_STORE_BITS("st.shared", "r"(shared_address(to)), bits)
  } else if constexpr (kCache == Cache::Streaming) {
    NVF_STORE_BITS("st.global.cs", "l"(__cvta_generic_to_global(to)), bits)
  } else if constexpr (kCache == Cache::Global) {
    NVF_STORE_BITS("st.global.cg", "l"(__cvta_generic_to_global(to)), bits)
  } else {
    NVF_STORE_BITS("st.global", "l"(__cvta_generic_to_global(to)), bits)
  }
}

#undef NVF_LOAD_BITS
#undef NVF_STORE_BITS

/// Copy `kLanes` elements; kLoad applies if `from` is global memory, kStore if `to` is.
template <
    int kLanes,
    Memory kTo,
    Memory kFrom = Memory::Registers,
    Cache kLoad = Cache::AllLevels,
    Cache kStore = Cache::AllLevels,
    typename T>
NVF_FUNCTION void copy_vector(T* to, const T* from) {
  constexpr int kBytes = kLanes * sizeof(T);
  constexpr int kAccess = kBytes < 16 ? kBytes : 16; // the widest there is
  using Bits = typename BitsOf<kAccess>::Type;
#pragma unroll
  for (int i = 0; i < kBytes / kAccess; ++i) {
    const Bits bits = load_bits<kFrom, kLoad>(reinterpret_cast<const Bits*>(from) + i);
    store_bits<kTo, kStore>(reinterpret_cast<Bits*>(to) + i, bits);
  }
}

/// From global memory. Types differ where memory packs elements.
template <int kLanes, Cache kCache, Memory kTo = Memory::Registers, typename To, typename From>
NVF_FUNCTION void load_vector(To* to, const From* from) {
  copy_vector<kLanes, kTo, Memory::Global, kCache>(to, from);
}

/// Elements at any place of global memory to registers: parts of two vectors, the aligned ones
/// around their first byte and behind it, which must both be there.
template <int kLanes, Cache kCache, typename T>
NVF_FUNCTION void load_unaligned(T* to, const T* from) {
  constexpr int kBytes = kLanes * sizeof(T);
  constexpr int kAccess = kBytes < 16 ? kBytes : 16;
  constexpr int kWords = kAccess / 4;
  static_assert(kWords > 0, "vectors are whole words");
  using Bits = typename BitsOf<kAccess>::Type;
  const auto place = reinterpret_cast<unsigned long long>(from);
  const unsigned byte = place % kAccess; // of the first element in its vector
  const Bits* vectors = reinterpret_cast<const Bits*>(place - byte);
  const unsigned bits = byte % 4 * 8;
#pragma unroll
  for (int i = 0; i < kBytes / kAccess; ++i) {
    unsigned words[2 * kWords];
    *reinterpret_cast<Bits*>(words) = load_bits<Memory::Global, kCache>(vectors + i);
    *reinterpret_cast<Bits*>(words + kWords) = load_bits<Memory::Global, kCache>(vectors + i + 1);
#pragma unroll
    for (int step = kWords / 2; step > 0; step /= 2) { // by so many words, where that is asked for
#pragma unroll
      for (int word = 0; word < kWords + step; ++word) {
        words[word] = byte & (4 * step) ? words[word + step] : words[word];
      }
    }
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      const unsigned moved =
          sizeof(T) % 4 == 0 ? words[word] : __funnelshift_r(words[word], words[word + 1], bits);
      reinterpret_cast<unsigned*>(to)[i * kWords + word] = moved;
    }
  }
}

/// To global memory.
template <int kLanes, Cache kCache, Memory kFrom = Memory::Registers, typename To, typename From>
NVF_FUNCTION void store_vector(To* to, const From* from) {
  copy_vector<kLanes, Memory::Global, kFrom, Cache::AllLevels, kCache>(to, from);
}

/// Let `kLanes` elements be `value`.
template <int kLanes, Memory kTo, typename T, typename V>
NVF_FUNCTION void fill_vector(T* to, V value) {
  if constexpr (kTo == Memory::Registers) {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      to[i] = value;
    }
  } else {
    alignas(kLanes * sizeof(T) < 16 ? kLanes * sizeof(T) : 16) T elements[kLanes];
    fill_vector<kLanes, Memory::Registers>(elements, value);
    copy_vector<kLanes, kTo>(to, elements);
  }
}

/// One element of memory that nothing writes while the kernel runs.
template <typename T>
NVF_FUNCTION T load_readonly(const T& element) {
  using Bits = typename BitsOf<sizeof(T)>::Type;
  return bit_cast<T>(__ldg(reinterpret_cast<const Bits*>(&element)));
}

/// The same where `condition` holds, else zero: one instruction with a predicate. Around an `if`,
/// compilers jump, and wait for one element before they ask for the next.
template <typename T>
NVF_FUNCTION T load_readonly_where(bool condition, const T& element) {
  using Bits = typename BitsOf<sizeof(T)>::Type;
  const auto address = __cvta_generic_to_global(&element);
  if constexpr (sizeof(T) == 2) {
    Bits bits;
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %1, 0;\nmov.b16 %0, 0;\n"
        "@p ld.global.nc.u16 %0, [%2];\n}"
        : "=h"(bits)
        : "r"(static_cast<int>(condition)), "l"(address));
    return bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 4) {
    Bits bits;
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %1, 0;\nmov.b32 %0, 0;\n"
        "@p ld.global.nc.u32 %0, [%2];\n}"
        : "=r"(bits)
        : "r"(static_cast<int>(condition)), "l"(address));
    return bit_cast<T>(bits);
  } else {
    return condition ? load_readonly(element) : bit_cast<T>(Bits{});
  }
}
