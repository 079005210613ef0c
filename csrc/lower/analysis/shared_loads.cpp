#include "lower/analysis/shared_loads.h"

#include <algorithm>

#include "ir/rules.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/circular_loops.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/tensor_maps.h"

namespace nvfuser {
namespace {

/// The axis of a box that says that the blocks of a cluster load it together; nullptr: none.
const IterDomain* clustered_broadcast(const TensorView* copy) {
  if (!is_bulk_load(copy->definition())) {
    return nullptr;
  }
  const auto found = std::ranges::find_if(copy->loop(), [](const IterDomain* axis) {
    return axis->is_broadcast() && axis->is_clustered_grid_dim();
  });
  return found == copy->loop().end() ? nullptr : *found;
}

bool is_factor_of_pair(const TensorView* copy) {
  return std::ranges::any_of(copy->all_uses(), is_product_of_pair);
}

} // namespace

bool is_same_in_cluster(const TensorView* copy) {
  return clustered_broadcast(copy) != nullptr;
}

int64_t loading_blocks(const Kernel& kernel, const TensorView* copy) {
  return is_bulk_instruction(kernel, copy) && is_same_in_cluster(copy) && !is_factor_of_pair(copy)
             ? cluster_size(kernel)
             : 1;
}

int64_t keeping_blocks(const Kernel& kernel, const TensorView* copy) {
  return is_bulk_instruction(kernel, copy) && is_same_in_cluster(copy) && is_factor_of_pair(copy)
             ? cluster_size(kernel)
             : 1;
}

int64_t loading_blocks(const Kernel& kernel) {
  int64_t blocks = 1;
  for (const CircularLoop& loop : kernel.circular_loops) {
    for (const TensorView* tensor : loop.tensors) {
      blocks = std::max(blocks, loading_blocks(kernel, tensor));
    }
  }
  return blocks;
}

PartOfBox part_of_box(const TensorMap& map, int64_t blocks) {
  PartOfBox part;
  int64_t elements = 1;
  for (size_t i = 0; i < map.dims.size(); ++i) {
    elements *= map.dims[i].box;
    part.dim = map.dims[i].box > 1 ? i : part.dim;
  }
  part.extent = map.dims[part.dim].box / blocks;
  part.elements = elements / blocks;
  return part;
}

std::optional<Refusal> find_wrong_sharing(
    const Kernel& kernel, const TensorView* copy, const TensorMap& map) {
  const IterDomain* shared = clustered_broadcast(copy);
  const int64_t blocks = cluster_size(kernel);
  if (shared == nullptr || blocks == 1) {
    return std::nullopt;
  }
  const CircularLoop* circular = circular_loop_of(kernel, copy);
  const bool loads_ahead = circular != nullptr && is_specialized(kernel, *circular);
  if (!loads_ahead && !is_factor_of_pair(copy)) {
    return refuse_node(
        copy, {"Blocks of a cluster load a box together that no threads load ahead"},
        {"a box whose stages are handed back to threads that only load"}, {shared->to_string()},
        {"call warp_specialize on the box, or bind the axis to blocks that are not clustered"});
  }
  const PartOfBox part = part_of_box(map, blocks);
  const int64_t bytes = part.elements * size_bytes(copy->dtype());
  const int64_t unit = alignment_of_boxes(map.swizzle_bytes);
  if (part.extent * blocks != map.dims[part.dim].box || bytes % unit != 0) {
    return refuse_node(
        copy, {"A box has no equal parts for the blocks of a cluster"},
        {"an outermost axis of the box that ", blocks, " divides, into parts of a multiple of ",
         unit, " bytes"},
        {map.dims[part.dim].box, " positions, ", part.elements * blocks * size_bytes(copy->dtype()),
         " bytes in all"},
        {"use larger boxes, or smaller clusters"});
  }
  return std::nullopt;
}

} // namespace nvfuser
