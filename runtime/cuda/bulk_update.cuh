// Bulk copies that combine integers with what is in global memory, of whole pieces of 16 bytes.
// Compute capability 9.0 and above.
//
// provides: bulk_update_run
// requires: types vector bulk_copy
#pragma once

enum class Update { Add, Min, Max };

#define NVF_BULK_UPDATE(kind)                                                                \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." kind " [%0], [%1], %2;" \
               :                                                                             \
               : "l"(__cvta_generic_to_global(to)), "r"(shared_address(from)), "r"(kBytes)   \
               : "memory")

/// T has 4 or 8 bytes. Sums wrap, so that one instruction serves both signs.
template <Update kUpdate, unsigned kBytes, typename T>
NVF_FUNCTION void bulk_update_run(T* to, const T* from) {
  if constexpr (sizeof(T) == 4) {
    if constexpr (kUpdate == Update::Add) {
      NVF_BULK_UPDATE("add.u32");
    } else if constexpr (kUpdate == Update::Min) {
      NVF_BULK_UPDATE("min.s32");
    } else {
      NVF_BULK_UPDATE("max.s32");
    }
  } else {
    static_assert(sizeof(T) == 8, "integers of 32 or 64 bits");
    if constexpr (kUpdate == Update::Add) {
      NVF_BULK_UPDATE("add.u64");
    } else if constexpr (kUpdate == Update::Min) {
      NVF_BULK_UPDATE("min.s64");
    } else {
      NVF_BULK_UPDATE("max.s64");
    }
  }
  bulk_store_commit();
}

#undef NVF_BULK_UPDATE
