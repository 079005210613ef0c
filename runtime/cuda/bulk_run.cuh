// Bulk copies of neighbours in global memory, which need no description of the tensor: whole
// pieces of 16 bytes, from and to multiples of 16 bytes. Compute capability 9.0 and above.
//
// provides: bulk_load_run bulk_store_run
// requires: types vector bulk_copy cache_policy
#pragma once

/// `groups`: BulkGroups, or BulkStages.
template <unsigned kBytes, typename T, typename Groups>
NVF_FUNCTION void bulk_load_run(T* to, const T* from, const Groups& groups) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(kBytes),
        "r"(groups.expect(kBytes))
      : "memory");
}
template <unsigned kBytes, Hint kHint, typename T, typename Groups>
NVF_FUNCTION void bulk_load_run(T* to, const T* from, const Groups& groups) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;"
      :
      : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(kBytes),
        "r"(groups.expect(kBytes)), "l"(cache_policy<kHint>())
      : "memory");
}

template <unsigned kBytes, typename T>
NVF_FUNCTION void bulk_store_run(T* to, const T* from) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(shared_address(from)), "r"(kBytes)
               : "memory");
  bulk_store_commit();
}
template <unsigned kBytes, Hint kHint, typename T>
NVF_FUNCTION void bulk_store_run(T* to, const T* from) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(shared_address(from)), "r"(kBytes),
                 "l"(cache_policy<kHint>())
               : "memory");
  bulk_store_commit();
}
