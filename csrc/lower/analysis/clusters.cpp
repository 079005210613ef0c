#include "lower/analysis/clusters.h"

#include <algorithm>

#include "ir/rules.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

std::optional<Refusal> find_wrong_size(const Kernel& kernel, const Loop& loop) {
  const int64_t most = kernel.target().max_cluster_size;
  if (most <= 1) {
    return refuse_node(
        loop.tensors.front(), {"The device has no clusters of blocks"},
        {"a GPU of compute capability 9.0 or more, or the CPU"},
        {"compute capability ", kernel.target().architecture / 10, ".",
         kernel.target().architecture % 10},
        {"leave out set_clustered_blocks: the blocks then meet in global memory"});
  }
  if (!loop.extent()->is_const_int()) {
    return refuse_node(
        loop.tensors.front(), {"The number of blocks in a cluster is not known"},
        {"a clustered axis of constant size"}, {loop.promoted->to_string()},
        {"split the axis by a constant, and cluster the part of that size"});
  }
  const int64_t size = as_int(loop.extent()->value());
  if (size > most) {
    return refuse_node(
        loop.tensors.front(), {"A cluster of ", size, " blocks is too large"},
        {"at most ", most, " blocks"}, {loop.promoted->to_string()},
        {"split the axis by ", Target::kPortableClusterSize, " or less, and cluster that part"});
  }
  return std::nullopt;
}

} // namespace

bool is_clustered(const Loop& loop) {
  return loop.parallel_type == ParallelType::BIDx &&
         std::ranges::any_of(
             loop.members, [](const IterDomain* id) { return id->is_clustered_grid_dim(); });
}

std::optional<Refusal> find_cluster_size(Kernel& kernel) {
  int64_t size = 1;
  for (const Loop& loop : kernel.loop_model->loops()) {
    if (is_clustered(loop) && !loop.is_broadcast()) {
      NVF_RETURN_REFUSAL(find_wrong_size(kernel, loop));
      size = std::max(size, as_int(loop.extent()->value()));
    }
  }
  kernel.launch.extents.cluster[0] = size > 1 ? kernel.new_index(size) : nullptr;
  return std::nullopt;
}

int64_t cluster_size(const Kernel& kernel) {
  const Val* size = kernel.launch.extents.cluster[0];
  return size == nullptr ? 1 : as_int(size->value());
}

Val* block_of_cluster(Kernel& kernel) {
  return scalar::mod(
      kernel.parallel_index(ParallelType::BIDx), kernel.new_index(cluster_size(kernel)));
}

Val* cluster_index(Kernel& kernel) {
  return scalar::div(
      kernel.parallel_index(ParallelType::BIDx), kernel.new_index(cluster_size(kernel)));
}

} // namespace nvfuser
