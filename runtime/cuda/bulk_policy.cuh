// Bulk copies with a policy of the second-level cache. Compute capability 9.0 and above.
//
// provides: bulk_load_hinted bulk_store_hinted
// requires: types vector bulk_copy cache_policy
#pragma once

/// `dims`: "2d"; `places`: where the coordinates stand among the operands.
#define NVF_BULK_LOAD(dims, places, ...)                                                   \
  asm volatile("cp.async.bulk.tensor." dims                                                \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint " \
               "[%0], [%1, {" places "}], [%2], %3;"                                       \
               :                                                                           \
               : "r"(shared_address(to)), "l"(map.address()), "r"(barrier), "l"(policy),   \
                 __VA_ARGS__                                                               \
               : "memory")
#define NVF_BULK_STORE(dims, places, ...)                                                \
  asm volatile("cp.async.bulk.tensor." dims                                              \
               ".global.shared::cta.tile.bulk_group.L2::cache_hint "                     \
               "[%0, {" places "}], [%1], %2;"                                           \
               :                                                                         \
               : "l"(map.address()), "r"(shared_address(from)), "l"(policy), __VA_ARGS__ \
               : "memory")

// Coordinates count elements, the innermost axis first, as those of bulk_load.

template <unsigned kBytes, Hint kHint, typename T, typename Groups, typename... C>
NVF_FUNCTION void bulk_load_hinted(
    T* to, const TensorMap& map, const Groups& groups, C... coordinates) {
  const int at[] = {coordinates...};
  const unsigned barrier = groups.expect(kBytes);
  const unsigned long long policy = cache_policy<kHint>();
  if constexpr (sizeof...(C) == 1) {
    NVF_BULK_LOAD("1d", "%4", "r"(at[0]));
  } else if constexpr (sizeof...(C) == 2) {
    NVF_BULK_LOAD("2d", "%4, %5", "r"(at[0]), "r"(at[1]));
  } else if constexpr (sizeof...(C) == 3) {
    NVF_BULK_LOAD("3d", "%4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  } else if constexpr (sizeof...(C) == 4) {
    NVF_BULK_LOAD("4d", "%4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  } else if constexpr (sizeof...(C) == 5) {
    NVF_BULK_LOAD(
        "5d", "%4, %5, %6, %7, %8", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
  }
}

template <Hint kHint, typename T, typename... C>
NVF_FUNCTION void bulk_store_hinted(const TensorMap& map, const T* from, C... coordinates) {
  const int at[] = {coordinates...};
  const unsigned long long policy = cache_policy<kHint>();
  if constexpr (sizeof...(C) == 1) {
    NVF_BULK_STORE("1d", "%3", "r"(at[0]));
  } else if constexpr (sizeof...(C) == 2) {
    NVF_BULK_STORE("2d", "%3, %4", "r"(at[0]), "r"(at[1]));
  } else if constexpr (sizeof...(C) == 3) {
    NVF_BULK_STORE("3d", "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  } else if constexpr (sizeof...(C) == 4) {
    NVF_BULK_STORE("4d", "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  } else if constexpr (sizeof...(C) == 5) {
    NVF_BULK_STORE(
        "5d", "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
  }
  bulk_store_commit();
}

#undef NVF_BULK_LOAD
#undef NVF_BULK_STORE
