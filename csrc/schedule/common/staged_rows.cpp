#include "schedule/common/staged_rows.h"

#include "base/types.h"

namespace nvfuser::schedule {
namespace {

/// The asynchronous copies that may pass by the first-level cache, in bytes.
constexpr int64_t kPassingBytes = 16;

} // namespace

bool is_streamed(const TensorAccess& access) {
  return !access.is_output && !access.is_lookup() && access.has_all_axes;
}

bool is_staged(const TensorAccess& access, int64_t width) {
  const int64_t bytes = width * size_bytes(access.tensor->dtype());
  return is_streamed(access) && (bytes == 4 || bytes == 8 || bytes == 16);
}

TensorView* stage_in_shared_memory(
    const TensorAccess& access, int64_t width, const std::vector<TensorView*>& loads) {
  std::vector<Expr*> readers;
  for (const TensorView* load : loads) {
    readers.push_back(load->definition());
  }
  const LoadStoreOpType copy =
      is_staged(access, width) ? LoadStoreOpType::CpAsync : LoadStoreOpType::Set;
  // They need no lines of that cache, of which shared memory leaves few.
  const bool passes_by = copy == LoadStoreOpType::CpAsync &&
                         width * size_bytes(access.tensor->dtype()) == kPassingBytes;
  TensorView* staged = access.tensor->cache_after(
      copy, passes_by ? CacheOp::Global : CacheOp::Unspecified, true, readers);
  staged->set_memory_type(MemoryType::Shared);
  return staged;
}

} // namespace nvfuser::schedule
