// Copies of boxes: one statement for all positions of the axes bound to tma.
#include <algorithm>

#include "ir/scalar.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/bulk_runs.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/shared_loads.h"
#include "lower/analysis/tensor_maps.h"
#include "lower/statements/element_statements.h"

namespace nvfuser {
namespace {

/// Those of a BulkLoad and of a BulkStore have the same names.
template <typename Fields>
void describe_box(const TensorMap& map, StatementContext& context, Fields& fields) {
  fields.tensor = map.tensor;
  fields.swizzle_bytes = map.swizzle_bytes;
  for (const TensorMapDim& dim : map.dims) {
    // Axes of the box have index 0 in these loops: it is where the box begins.
    fields.coordinates.push_back(context.walk.index_of(dim.axis, context.out));
    fields.extents.push_back(dim.extent);
    fields.strides.push_back(dim.stride);
    fields.box.push_back(dim.box);
  }
}

/// Leave of a box the part that this block loads, if the blocks of its cluster load it together: to
/// where it lies in the box of each, or, if it keeps its part, to the beginning of its own.
void take_part(const TensorMap& map, StatementContext& context, BulkLoadFields& load) {
  Kernel& kernel = context.kernel;
  auto* box = static_cast<TensorIndex*>(load.out);
  const int64_t keeping = keeping_blocks(kernel, box->view());
  const int64_t blocks = std::max(loading_blocks(kernel, box->view()), keeping);
  if (blocks == 1) {
    return;
  }
  const PartOfBox part = part_of_box(map, blocks);
  const auto moved = [&](Val* position, int64_t extent) {
    return scalar::add(position, scalar::mul(block_of_cluster(kernel), kernel.new_index(extent)));
  };
  load.box[part.dim] = part.extent;
  load.coordinates[part.dim] =
      moved(load.coordinates[part.dim], part.extent * load.steps[part.dim]);
  if (keeping == 1) {
    load.out = kernel.new_tensor_index(box->view(), moved(box->index(), part.elements));
  }
}

/// Leave the place in memory of a run, which is all that its instruction is told.
template <typename Fields>
void take_run(const TensorMap& map, StatementContext& context, Fields& fields) {
  fields.coordinates = {offset_of_run(context.kernel, map, fields.coordinates)};
  fields.extents.clear();
  fields.strides.clear();
  fields.box = {map.dims.front().box};
}

/// Whether a box has an element of the tensor. A launch has a block and a thread even for a tensor
/// without elements. It has no box then; the host describes a tensor of one element.
Val* is_inside(const TensorMap& map, const std::vector<Val*>& coordinates) {
  Val* test = nullptr;
  for (size_t i = 0; i < coordinates.size(); ++i) {
    test = scalar::logical_and(test, scalar::lt(coordinates[i], map.dims[i].extent));
  }
  return test;
}

} // namespace

Expr* convert_box(TensorView* copy, StatementContext& context) {
  Kernel& kernel = context.kernel;
  const auto map = std::get<TensorMap>(find_tensor_map(kernel, copy)); // check_bulk_copies has it
  const bool is_run = copies_runs(copy->definition());
  const auto note_condition = [&](const std::vector<Val*>& coordinates) {
    if (is_run || kernel.options().has_empty_parallel_axis) {
      context.condition = is_inside(map, coordinates);
    }
  };
  if (is_bulk_load(copy->definition())) {
    BulkLoadFields load{.out = context.result(copy)};
    describe_box(map, context, load);
    for (const TensorMapDim& dim : map.dims) {
      load.steps.push_back(dim.step);
    }
    note_condition(load.coordinates); // the same in all blocks that load the box together
    take_part(map, context, load);
    if (is_run) {
      take_run(map, context, load);
    }
    return kernel.make<BulkLoad>(std::move(load));
  }
  BulkStoreFields store{.arg = context.operand(bulk_source(copy->definition()))};
  describe_box(map, context, store);
  note_condition(store.coordinates);
  if (is_run) {
    take_run(map, context, store);
  }
  return kernel.make<BulkStore>(std::move(store));
}

} // namespace nvfuser
