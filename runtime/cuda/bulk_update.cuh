// Bulk copies that combine integers, or add Doubles, with what is in global memory: whole pieces of
// 16 bytes.
// Compute capability 9.0 and above.
//
// provides: bulk_update_run
// requires: types vector bulk_copy
#pragma once

enum class Update { Add, Min, Max };

template <Update kUpdate>
struct BulkUpdate {};

#define NVF_BULK_UPDATE(update, T, kind)                                                       \
  NVF_FUNCTION void begin_update(                                                              \
      BulkUpdate<Update::update>, T* to, const T* from, unsigned bytes) {                      \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." kind " [%0], [%1], %2;" \
                 :                                                                             \
                 : "l"(__cvta_generic_to_global(to)), "r"(shared_address(from)), "r"(bytes)    \
                 : "memory");                                                                  \
  }

NVF_BULK_UPDATE(Add, int, "add.u32") // sums wrap
NVF_BULK_UPDATE(Min, int, "min.s32")
NVF_BULK_UPDATE(Max, int, "max.s32")
NVF_BULK_UPDATE(Add, int64_t, "add.u64")
NVF_BULK_UPDATE(Min, int64_t, "min.s64")
NVF_BULK_UPDATE(Max, int64_t, "max.s64")
NVF_BULK_UPDATE(Add, uint64_t, "add.u64")
NVF_BULK_UPDATE(Min, uint64_t, "min.u64")
NVF_BULK_UPDATE(Max, uint64_t, "max.u64")
NVF_BULK_UPDATE(Add, double, "add.f64")

#undef NVF_BULK_UPDATE

template <Update kUpdate, unsigned kBytes, typename T>
NVF_FUNCTION void bulk_update_run(T* to, const T* from) {
  begin_update(BulkUpdate<kUpdate>{}, to, from, kBytes);
  bulk_store_commit();
}
