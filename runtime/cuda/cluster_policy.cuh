// Parts of boxes that blocks of a cluster load for each other, with a policy of the second-level
// cache.
//
// provides: bulk_load_part_hinted
// requires: types vector bulk_copy cluster_stages cache_policy
#pragma once

#define NVF_BULK_LOAD_PART(dims, places, ...)                                               \
  asm volatile("cp.async.bulk.tensor." dims                                                 \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"                  \
               ".multicast::cluster.L2::cache_hint [%0], [%1, {" places "}], [%2], %3, %4;" \
               :                                                                            \
               : "r"(shared_address(to)), "l"(map.address()), "r"(barrier),                 \
                 "h"(Stages::all_blocks()), "l"(policy), __VA_ARGS__                        \
               : "memory")

template <unsigned kBytes, Hint kHint, typename T, typename Stages, typename... C>
NVF_FUNCTION void bulk_load_part_hinted(
    T* to, const TensorMap& map, const Stages& stages, C... coordinates) {
  const int at[] = {coordinates...};
  const unsigned barrier = stages.expect_parts(kBytes);
  const unsigned long long policy = cache_policy<kHint>();
  if constexpr (sizeof...(C) == 1) {
    NVF_BULK_LOAD_PART("1d", "%5", "r"(at[0]));
  } else if constexpr (sizeof...(C) == 2) {
    NVF_BULK_LOAD_PART("2d", "%5, %6", "r"(at[0]), "r"(at[1]));
  } else if constexpr (sizeof...(C) == 3) {
    NVF_BULK_LOAD_PART("3d", "%5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  } else if constexpr (sizeof...(C) == 4) {
    NVF_BULK_LOAD_PART("4d", "%5, %6, %7, %8", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  } else if constexpr (sizeof...(C) == 5) {
    NVF_BULK_LOAD_PART(
        "5d", "%5, %6, %7, %8, %9", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
  }
}

#undef NVF_BULK_LOAD_PART
