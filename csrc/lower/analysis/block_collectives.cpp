#include "lower/analysis/block_collectives.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/scalar.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/parallel_dims.h"

namespace nvfuser {
namespace {

constexpr int64_t kBytesOfElement = 16; // of the widest type

/// Thread dimensions along which values are combined.
std::vector<int64_t> combined_dims(const Expr& collective) {
  if (const auto* scan = collective.as<BlockScan>()) {
    return {scan->scanned_dim};
  }
  const auto* cluster = collective.as<ClusterReduction>();
  return cluster != nullptr ? cluster->reduced_dims : collective.as<BlockReduction>()->reduced_dims;
}

/// Bytes of what one thread contributes to a reduction: one value for each result; for Welford a
/// triple and its weight.
int64_t bytes_of_values(const std::vector<Val*>& outs, bool is_welford) {
  int64_t widest = is_welford ? 8 : 1; // bytes: in a struct, all are aligned to it
  for (const Val* out : outs) {
    widest = std::max(widest, size_bytes(out->dtype()));
  }
  const auto values = static_cast<int64_t>(outs.size()) + (is_welford ? 1 : 0);
  return values * widest;
}

/// Threads of a block along `dims`.
Val* threads_along(Kernel& kernel, const std::vector<int64_t>& dims) {
  Val* threads = kernel.one();
  for (const int64_t dim : dims) {
    threads =
        scalar::mul(threads, launched_extent(kernel, kBlockDimTypes[static_cast<size_t>(dim)]));
  }
  return threads;
}

/// Dimensions of a block that are not in `dims`.
std::vector<int64_t> other_dims(const std::vector<int64_t>& dims) {
  std::vector<int64_t> others{0, 1, 2};
  std::erase_if(others, [&](int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); });
  return others;
}

/// Bytes of the messages that carry so many: of one word, two or a multiple of four.
int64_t bytes_of_messages(int64_t bytes) {
  constexpr int64_t kWord = 4;
  const int64_t words = (bytes + kWord - 1) / kWord;
  return kWord * (words <= 2 ? words : (words + 3) / 4 * 4);
}

/// Where there are hardware threads, each block has the values of its own threads, then twice the
/// room for what every block of the cluster sends: one value for each thread that is not reduced
/// (runtime/cuda/cluster_reduce.cuh). Where there are none, one block has what all threads of the
/// cluster contribute.
Val* scratch_of_cluster(
    Kernel& kernel, const ClusterReduction& reduction, bool has_hardware_threads) {
  const int64_t value = bytes_of_values(reduction.outs, reduction.is_welford);
  const int64_t blocks = cluster_size(kernel);
  Val* threads = threads_along(kernel, {0, 1, 2});
  if (!has_hardware_threads) {
    const auto bytes = static_cast<int64_t>(reduction.outs.size()) * kBytesOfElement;
    return scalar::mul(threads, kernel.new_index(blocks * bytes));
  }
  Val* segments = threads_along(kernel, other_dims(reduction.reduced_dims));
  Val* received = scalar::mul(segments, kernel.new_index(2 * blocks * bytes_of_messages(value)));
  Val* unit = kernel.new_index(Target::cuda().max_vector_bytes);
  Val* own = scalar::mul(threads, kernel.new_index(value));
  return scalar::add(scalar::mul(scalar::ceil_div(own, unit), unit), received);
}

} // namespace

bool always_waits(const Kernel& kernel, const Expr& collective) {
  if (collective.is_a<ClusterReduction>()) {
    return true;
  }
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
  if (const auto* cluster = collective.as<ClusterReduction>()) {
    return scratch_of_cluster(kernel, *cluster, kernel.target().has_hardware_threads);
  }
  const auto* scan = collective.as<BlockScan>();
  const auto* reduction = collective.as<BlockReduction>();
  const int64_t bytes = scan != nullptr ? size_bytes(scan->value->dtype())
                                        : bytes_of_values(reduction->outs, reduction->is_welford);
  Val* all = kernel.new_index(bytes);
  for (const ParallelType type : kBlockDimTypes) {
    all = scalar::mul(all, launched_extent(kernel, type));
  }
  return all;
}

int64_t extra_scratch_bytes(Kernel& kernel, const Expr& collective) {
  const auto* cluster = collective.as<ClusterReduction>();
  if (cluster == nullptr || kernel.target().has_hardware_threads) {
    return 0;
  }
  const Val* here = scratch_of_cluster(kernel, *cluster, /*has_hardware_threads=*/false);
  const Val* on_gpu = scratch_of_cluster(kernel, *cluster, /*has_hardware_threads=*/true);
  return here->is_const_int() && on_gpu->is_const_int()
             ? std::max<int64_t>(0, as_int(here->value()) - as_int(on_gpu->value()))
             : 0;
}

Val* scratch_offset(const Expr& collective) {
  if (const auto* scan = collective.as<BlockScan>()) {
    return scan->workspace_offset;
  }
  const auto* cluster = collective.as<ClusterReduction>();
  return cluster != nullptr ? cluster->workspace_offset
                            : collective.as<BlockReduction>()->workspace_offset;
}

void set_scratch(Expr& collective, Val* offset) {
  if (auto* scan = collective.as<BlockScan>()) {
    scan->workspace_offset = offset;
  } else if (auto* cluster = collective.as<ClusterReduction>()) {
    cluster->workspace_offset = offset;
  } else {
    collective.as<BlockReduction>()->workspace_offset = offset;
  }
}

} // namespace nvfuser
