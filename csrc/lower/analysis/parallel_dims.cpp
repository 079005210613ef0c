#include "lower/analysis/parallel_dims.h"

#include <algorithm>

#include "ir/scalar.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/loop_model.h"

namespace nvfuser {
namespace {

struct GeneratedLoop {
  Loop* loop;
  const TensorView* tensor; // the first that has it
};

/// Loops that stand around some statement, in order of first appearance. The axes of inputs drive
/// nothing.
std::vector<GeneratedLoop> generated_loops(const Kernel& kernel) {
  std::vector<GeneratedLoop> loops;
  std::unordered_map<const Loop*, bool> seen;
  for (const TensorView* tensor : kernel.tensors()) {
    if (tensor->definition() == nullptr) {
      continue;
    }
    for (Loop* loop : kernel.loop_model->nest(tensor)) {
      if (!seen[loop]) {
        seen[loop] = true;
        loops.push_back({loop, tensor});
      }
    }
  }
  return loops;
}

/// `extent` rounded up to what its axes ask for.
Val* padded_extent(Kernel& kernel, const Loop& loop) {
  int64_t multiple = 1;
  int64_t size = 0;
  for (const IterDomain* id : loop.members) {
    if (id->has_padding_to_multiple_of_warp()) {
      multiple = kernel.target().warp_size;
      // The loop over a broadcast may run over a larger axis: its own padding says nothing of that.
      size = id->is_broadcast() ? size : std::max(size, id->maybe_size_after_padding().value_or(0));
    }
  }
  if (multiple == 1) {
    return loop.extent();
  }
  if (size > 0) {
    Val* padded = kernel.new_index(size);
    if (!loop.extent()->is_const()) {
      kernel.launch.conditions.push_back(size_condition(
          scalar::le(loop.extent(), padded),
          {"The axis ", loop.promoted->to_string(), " is larger than the ", size,
           " threads that it was padded to"},
          describe(loop.tensors.front())));
    }
    return padded;
  }
  Val* warp = kernel.new_index(multiple);
  return scalar::mul(scalar::ceil_div(loop.extent(), warp), warp);
}

/// Extents of the axes that are bound to an index, each once: each launch computes their maximum.
/// The launch learns whose axes they are.
std::vector<Val*> bound_extents(
    Kernel& kernel, const std::vector<GeneratedLoop>& loops, ParallelType type) {
  std::vector<Val*> extents;
  for (const auto& [loop, tensor] : loops) {
    if (loop->parallel_type != type) {
      continue;
    }
    Val* extent = padded_extent(kernel, *loop);
    const bool is_repeated = std::any_of(
        extents.begin(), extents.end(), [&](const Val* other) { return other->same_as(extent); });
    if (!is_repeated) {
      extents.push_back(extent);
      kernel.launch.bound_tensors[type].push_back(tensor);
    }
  }
  return extents;
}

/// Whether iterations of a loop would all do the same, since its axis is a part of a broadcast.
bool repeats_itself(const Loop& loop) {
  return loop.is_broadcast() && traits_of(traits_of(loop.parallel_type).loop).repeats;
}

/// The grid consists of whole clusters.
Val* in_whole_clusters(Kernel& kernel, Val* blocks) {
  Val* size = kernel.launch.extents.cluster[0];
  return size == nullptr || blocks->same_as(size)
             ? blocks
             : scalar::mul(scalar::ceil_div(blocks, size), size);
}

} // namespace

std::optional<Refusal> find_parallel_dims(Kernel& kernel) {
  NVF_RETURN_REFUSAL(find_cluster_size(kernel));
  LoopModel& model = *kernel.loop_model;
  const std::vector<GeneratedLoop> loops = generated_loops(kernel);
  for (size_t i = 0; i < kHardwareTypes.size(); ++i) {
    const ParallelType type = kHardwareTypes[i];
    Val* launched = nullptr;
    for (Val* extent : bound_extents(kernel, loops, type)) {
      launched = launched == nullptr ? extent : scalar::max(launched, extent);
    }
    kernel.launch.code.bound_extents[type] = launched;
    if (const int64_t least = kernel.options().least_extents[i]; least > 0) {
      Val* extent = kernel.new_index(least);
      launched = launched == nullptr ? extent : scalar::max(launched, extent);
    }
    if (launched != nullptr && launched->is_zero()) {
      launched = kernel.one(); // for what else the kernel computes
    }
    if (type == ParallelType::BIDx && launched != nullptr) {
      launched = in_whole_clusters(kernel, launched);
    }
    bool is_exact = !kernel.options().has_empty_parallel_axis;
    for (const auto& [loop, tensor] : loops) {
      is_exact = is_exact && (loop->parallel_type != type || launched->same_as(loop->extent()));
    }
    kernel.launch.extents[type] = launched;
    model.set_exact(type, is_exact);
  }
  for (Loop& loop : model.loops()) {
    if (loop.is_hardware()) {
      const Val* launched = kernel.launch.extents[loop.parallel_type];
      const bool is_single = launched == nullptr || launched->is_one();
      loop.index = is_single ? kernel.zero() : kernel.parallel_index(loop.parallel_type);
    } else {
      const bool is_single = loop.extent()->is_one() || repeats_itself(loop) ||
                             loop.parallel_type == ParallelType::Bulk; // the box begins at 0
      loop.index = is_single ? kernel.zero() : kernel.new_scalar(DataType::Index);
    }
  }
  return std::nullopt;
}

Val* launched_extent(Kernel& kernel, ParallelType type) {
  Val* extent = kernel.launch.extents[type];
  if (extent == nullptr || extent->is_const_int(0)) { // an axis without elements has one thread
    return kernel.one();
  }
  return extent->is_const() ? extent : kernel.parallel_dim(type);
}

} // namespace nvfuser
