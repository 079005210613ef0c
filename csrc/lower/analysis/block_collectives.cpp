#include "lower/analysis/block_collectives.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/scalar.h"
#include "lower/analysis/parallel_dims.h"

namespace nvfuser {
namespace {

/// Thread dimensions along which values are combined.
std::vector<int64_t> combined_dims(const Expr& collective) {
  const auto* reduction = collective.as<BlockReduction>();
  return reduction != nullptr ? reduction->reduced_dims
                              : std::vector<int64_t>{collective.as<BlockScan>()->scanned_dim};
}

/// Bytes of one thread: one value for each result of a reduction; for Welford a triple and its
/// weight.
int64_t scratch_bytes_per_thread(const Expr& collective) {
  if (const auto* scan = collective.as<BlockScan>()) {
    return size_bytes(scan->value->dtype());
  }
  const auto& reduction = *collective.as<BlockReduction>();
  int64_t widest = reduction.is_welford ? 8 : 1; // bytes: in a struct, all are aligned to it
  for (const Val* out : reduction.outs) {
    widest = std::max(widest, size_bytes(out->dtype()));
  }
  const auto values = static_cast<int64_t>(reduction.outs.size()) + (reduction.is_welford ? 1 : 0);
  return values * widest;
}

} // namespace

bool always_waits(const Kernel& kernel, const Expr& collective) {
  int64_t members = 1;
  for (const int64_t dim : combined_dims(collective)) {
    const Val* launched = kernel.launch.extents.block[static_cast<size_t>(dim)];
    if (launched != nullptr && !launched->is_const()) {
      return false;
    }
    members *= launched == nullptr ? 1 : as_int(launched->value());
  }
  return members > 1 && members != kernel.target().warp_size;
}

Val* scratch_bytes(Kernel& kernel, const Expr& collective) {
  Val* bytes = kernel.new_index(scratch_bytes_per_thread(collective));
  for (const ParallelType type : kBlockDimTypes) {
    bytes = scalar::mul(bytes, launched_extent(kernel, type));
  }
  return bytes;
}

void set_scratch(Expr& collective, Val* offset) {
  if (auto* scan = collective.as<BlockScan>()) {
    scan->workspace_offset = offset;
  } else {
    collective.as<BlockReduction>()->workspace_offset = offset;
  }
}

} // namespace nvfuser
