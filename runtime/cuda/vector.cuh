// Several neighbouring elements in one access. Both sides are aligned to the size of the access
// (2 to 32 bytes, a power of two).
//
// provides: copy_vector fill_vector load_vector store_vector load_readonly Cache
// requires: types
#pragma once

/// How a global access uses the caches. ReadOnly: nothing writes the memory while the kernel runs.
enum class Cache { AllLevels, Streaming, Global, ReadOnly };

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

template <Cache kCache, typename Bits>
NVF_FUNCTION Bits load_bits(const Bits* from) {
  if constexpr (kCache == Cache::Streaming) {
    return __ldcs(from);
  } else if constexpr (kCache == Cache::Global) {
    return __ldcg(from);
  } else if constexpr (kCache == Cache::ReadOnly) {
    return __ldg(from);
  } else {
    return *from;
  }
}

template <Cache kCache, typename Bits>
NVF_FUNCTION void store_bits(Bits* to, Bits bits) {
  if constexpr (kCache == Cache::Streaming) {
    __stcs(to, bits);
  } else if constexpr (kCache == Cache::Global) {
    __stcg(to, bits);
  } else {
    *to = bits;
  }
}

/// Copy `kLanes` elements; kLoad applies if `from` is global memory, kStore if `to` is.
template <int kLanes, Cache kLoad = Cache::AllLevels, Cache kStore = Cache::AllLevels, typename T>
NVF_FUNCTION void copy_vector(T* to, const T* from) {
  constexpr int kBytes = kLanes * sizeof(T);
  constexpr int kAccess = kBytes < 16 ? kBytes : 16; // the widest there is
  using Bits = typename BitsOf<kAccess>::Type;
#pragma unroll
  for (int i = 0; i < kBytes / kAccess; ++i) {
    const Bits bits = load_bits<kLoad>(reinterpret_cast<const Bits*>(from) + i);
    store_bits<kStore>(reinterpret_cast<Bits*>(to) + i, bits);
  }
}
/// Types differ where memory packs elements.
template <int kLanes, Cache kCache, typename To, typename From>
NVF_FUNCTION void load_vector(To* to, const From* from) {
  copy_vector<kLanes, kCache>(to, from);
}
template <int kLanes, Cache kCache, typename To, typename From>
NVF_FUNCTION void store_vector(To* to, const From* from) {
  copy_vector<kLanes, Cache::AllLevels, kCache>(to, from);
}

/// Let `kLanes` elements be `value`.
template <int kLanes, typename T, typename V>
NVF_FUNCTION void fill_vector(T* to, V value) {
#pragma unroll
  for (int i = 0; i < kLanes; ++i) {
    to[i] = value;
  }
}

/// One element of memory that nothing writes while the kernel runs.
template <typename T>
NVF_FUNCTION T load_readonly(const T& element) {
  using Bits = typename BitsOf<sizeof(T)>::Type;
  return bit_cast<T>(__ldg(reinterpret_cast<const Bits*>(&element)));
}
