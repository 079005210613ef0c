#include "lower/analysis/memory_layout.h"

#include <algorithm>

#include "eval/simplify.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/scalar.h"
#include "lower/analysis/parallel_dims.h"

namespace nvfuser {
namespace {

bool has_storage_for(const TensorView* tensor, int64_t position, const Loop& loop) {
  const IterDomain* axis = tensor->axis(position);
  if (is_same_in_iterations(tensor, axis, loop)) {
    return false;
  }
  if (axis->is_reduction() || loop.is_broadcast() || is_grid_dim(loop.parallel_type) ||
      is_outside_kernel(loop.parallel_type)) {
    return false;
  }
  if (is_block_dim(loop.parallel_type)) {
    return tensor->memory_type() == MemoryType::Shared; // common to the block, on both sides of ca
  }
  return position >= tensor->compute_at_position();
}

/// Whether a vectorized statement accesses `tensor` along `axis`: then it must lie innermost.
bool is_lane_axis(
    const ValGraph& exact, const LoopModel& model, const TensorView* tensor, IterDomain* axis) {
  const auto vectorized_along = [&](const TensorView* other) {
    const IterDomains& loop = other->loop();
    return std::any_of(loop.begin(), loop.end(), [&](const IterDomain* id) {
      const Loop* driver = model.loop_of(id);
      return id->parallel_type() == ParallelType::Vectorize &&
             exact.are_mapped(driver->promoted, axis);
    });
  };
  if (vectorized_along(tensor)) {
    return true;
  }
  const std::vector<TensorView*> consumers = tensor->consumers();
  return std::any_of(consumers.begin(), consumers.end(), vectorized_along);
}

/// An explicit allocation domain of a shared tensor, less what shared loops cover. A broadcast that
/// every thread computes anew has an element for each: no thread waits for the others to read one.
IterDomains explicit_axes(const Kernel& kernel, const TensorView* tensor) {
  const LoopModel& model = *kernel.loop_model;
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  IterDomains axes;
  for (IterDomain* id : tensor->domain()->allocation()) {
    IterDomain* stored = id->is_reduction() || id->is_broadcast() ? nullptr : id;
    for (int64_t i = 0; i < tensor->ndims(); ++i) {
      const Loop& loop = *model.loop_of(tensor->axis(i));
      if (exact.are_mapped(tensor->axis(i), id)) {
        stored = has_storage_for(tensor, i, loop) ? loop.promoted : nullptr;
      }
    }
    if (stored != nullptr) {
      axes.push_back(stored);
    }
  }
  return axes;
}

/// Thread axes of loops that shared memory lies in and that are none of the tensor's own: every
/// thread computes the tensor anew, for itself.
IterDomains repeating_axes(const Kernel& kernel, const TensorView* tensor) {
  IterDomains axes;
  if (tensor->memory_type() != MemoryType::Shared) {
    return axes;
  }
  const LoopModel& model = *kernel.loop_model;
  const LoopNest& nest = model.nest(tensor);
  for (int64_t i = 0; i < model.shared_depth(tensor); ++i) {
    const Loop* loop = nest[static_cast<size_t>(i)];
    const bool is_own = std::any_of(
        tensor->loop().begin(), tensor->loop().end(),
        [&](const IterDomain* axis) { return model.loop_of(axis) == loop; });
    if (is_block_dim(loop->parallel_type) && !loop->is_broadcast() && !is_own) {
      axes.push_back(loop->promoted);
    }
  }
  return axes;
}

/// Whether a loop axis goes through elements several times: a split of a broadcast, made below the
/// allocation domain, has more positions than the broadcast.
bool repeats_broadcast(const TensorView* tensor, IterDomain* axis) {
  IterDomains stored = tensor->logical();
  const IterDomains& allocation = tensor->domain()->allocation();
  stored.insert(stored.end(), allocation.begin(), allocation.end());
  const std::vector<Expr*> below = exprs_between(stored, {axis});
  return std::any_of(below.begin(), below.end(), [](const Expr* expr) {
    const auto* split = expr->as<Split>();
    return split != nullptr && split->in->is_broadcast() && !split->factor->is_one();
  });
}

/// Whether the axes of an explicit allocation domain tell apart what the threads compute: not where
/// they compute a broadcast anew in a loop that the allocation domain does not name, or that goes
/// through it several times.
bool separates_threads(const Kernel& kernel, const TensorView* tensor) {
  if (!repeating_axes(kernel, tensor).empty()) {
    return false;
  }
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  const IterDomains& allocation = tensor->domain()->allocation();
  return std::all_of(tensor->loop().begin(), tensor->loop().end(), [&](IterDomain* axis) {
    const Loop& loop = *kernel.loop_model->loop_of(axis);
    if (!is_block_dim(loop.parallel_type) || axis->is_reduction()) {
      return true;
    }
    if (exact.are_mapped(axis, loop.promoted)) {
      return !repeats_broadcast(tensor, axis);
    }
    return std::any_of(allocation.begin(), allocation.end(), [&](IterDomain* id) {
      return exact.are_mapped(axis, id);
    });
  });
}

/// The stage of a circular buffer that the walk stands at; 0 for any other tensor.
Val* stage_index(Kernel& kernel, IndexWalk& walk, const TensorView* tensor) {
  const CircularLoop* circular = circular_loop_of(kernel, tensor);
  return circular == nullptr ? kernel.zero()
                             : scalar::mod(
                                   walk.index_of(circular->loop->promoted, tensor),
                                   kernel.new_index(circular->stages));
}

Val* row_major_offset(
    Kernel& kernel,
    IndexSimplifier& simplifier,
    IndexWalk& walk,
    const TensorView* tensor,
    const IterDomains& axes) {
  Val* offset = stage_index(kernel, walk, tensor);
  for (IterDomain* axis : axes) {
    offset = scalar::add(scalar::mul(offset, axis->extent()), walk.index_of(axis, tensor));
  }
  return simplifier.simplify(offset);
}

/// An axis of which neighbours are `stride` elements apart.
struct StridedAxis {
  IterDomain* axis = nullptr;
  Val* stride = nullptr;
};

/// Replace axes that are the two factors of one product, and lie in memory as it would, by it: the
/// index of the product takes no division. The algebra would find most of these sums, but not where
/// a division by a constant has changed its form before.
void join_products(std::vector<StridedAxis>& axes, IndexSimplifier& simplifier, IndexWalk& walk) {
  const auto join_one = [&] {
    for (auto outer = axes.begin(); outer != axes.end(); ++outer) {
      for (auto inner = axes.begin(); inner != axes.end(); ++inner) {
        IterDomain* product = outer == inner ? nullptr : walk.product_of(outer->axis, inner->axis);
        if (product != nullptr &&
            simplifier.prove_equal(
                outer->stride, scalar::mul(inner->stride, inner->axis->extent()))) {
          inner->axis = product;
          axes.erase(outer);
          return true;
        }
      }
    }
    return false;
  };
  while (join_one()) {
  }
}

Val* global_offset(
    Kernel& kernel, IndexSimplifier& simplifier, IndexWalk& walk, const TensorView* tensor) {
  const IterDomains axes = global_axes(tensor);
  const IterDomains& allocation = tensor->maybe_allocation();
  const Contiguity& contiguity = tensor->domain()->contiguity();
  std::vector<StridedAxis> strided;
  Val* run = kernel.one(); // elements inside the current axis, while it is known to be contiguous
  for (size_t i = axes.size(); i-- > 0;) {
    IterDomain* axis = axes[i];
    if (axis->is_broadcast()) {
      continue; // one element, stride 0 if expanded
    }
    const size_t position =
        std::find(allocation.begin(), allocation.end(), axis) - allocation.begin();
    const bool is_contiguous = contiguity[position].value_or(true);
    Val* stride = is_contiguous ? run : memory_stride(kernel, tensor, i);
    strided.push_back({axis, stride});
    run = scalar::mul(stride, axis->extent());
  }
  join_products(strided, simplifier, walk);
  Val* offset = kernel.zero();
  for (const StridedAxis& each : strided) {
    offset = scalar::add(offset, scalar::mul(walk.index_of(each.axis, tensor), each.stride));
  }
  return simplifier.simplify(offset);
}

} // namespace

bool is_same_in_iterations(const TensorView* tensor, const IterDomain* axis, const Loop& loop) {
  return axis->is_broadcast() && !loop.is_broadcast() &&
         tensor->memory_type() == MemoryType::Local &&
         loop.parallel_type != ParallelType::Vectorize;
}

Val* memory_stride(Kernel& kernel, const TensorView* tensor, size_t axis) {
  const std::string name =
      "T" + std::to_string(tensor->name()) + ".alloc_stride[" + std::to_string(axis) + "]";
  Val* stride = kernel.named_scalar(name, DataType::Index);
  kernel.strides.emplace(stride, StrideSource{tensor, axis});
  return stride;
}

bool is_stored_in_pairs(const TensorView* tensor) {
  return tensor->dtype() == DataType::Float4_e2m1fn &&
         tensor->memory_type() == MemoryType::Global && !tensor->is_cpu_scalar();
}

IterDomains global_axes(const TensorView* tensor) {
  IterDomains axes;
  for (IterDomain* id : tensor->maybe_allocation()) {
    if (!id->is_reduction() && !id->is_device_dim()) {
      axes.push_back(id);
    }
  }
  return axes;
}

IterDomains stored_axes(const Kernel& kernel, const TensorView* tensor) {
  if (tensor->memory_type() == MemoryType::Shared && tensor->has_allocation() &&
      separates_threads(kernel, tensor)) {
    return explicit_axes(kernel, tensor);
  }
  const LoopModel& model = *kernel.loop_model;
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  IterDomains axes = repeating_axes(kernel, tensor);
  IterDomains lanes;
  for (int64_t i = 0; i < tensor->ndims(); ++i) {
    const Loop& loop = *model.loop_of(tensor->axis(i));
    if (has_storage_for(tensor, i, loop)) {
      const bool is_lane = is_lane_axis(exact, model, tensor, loop.promoted);
      (is_lane ? lanes : axes).push_back(loop.promoted);
    }
  }
  axes.insert(axes.end(), lanes.begin(), lanes.end());
  return axes;
}

Val* stored_elements(Kernel& kernel, const TensorView* tensor) {
  const bool is_global = tensor->memory_type() == MemoryType::Global;
  Val* elements = kernel.one();
  for (const IterDomain* axis : is_global ? global_axes(tensor) : stored_axes(kernel, tensor)) {
    elements = scalar::mul(elements, axis->extent());
  }
  if (const CircularLoop* circular = circular_loop_of(kernel, tensor)) {
    elements = scalar::mul(kernel.new_index(circular->stages), elements);
  }
  return elements;
}

std::vector<RangeTest> storage_tests(
    Kernel& kernel, IndexSimplifier& simplifier, IndexWalk& walk, const TensorView* tensor) {
  std::vector<RangeTest> tests;
  for (IterDomain* axis : stored_axes(kernel, tensor)) {
    Val* index = walk.index_of(axis, tensor);
    if (!simplifier.prove_lt(index, axis->extent())) {
      tests.push_back({index, axis->extent()});
    }
  }
  return tests;
}

Val* element_offset(
    Kernel& kernel, IndexSimplifier& simplifier, IndexWalk& walk, TensorView* tensor) {
  if (tensor->memory_type() == MemoryType::Global) {
    return global_offset(kernel, simplifier, walk, tensor);
  }
  return row_major_offset(kernel, simplifier, walk, tensor, stored_axes(kernel, tensor));
}

} // namespace nvfuser
