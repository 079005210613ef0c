#include "lower/analysis/shifted_lanes.h"

#include <algorithm>
#include <unordered_set>

#include "eval/simplify.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/val_graph.h"
#include "ir/rules.h"
#include "ir/shifted_axes.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/memory_layout.h"

namespace nvfuser {
namespace {

const Loop* loop_of_lanes(const Kernel& kernel, const TensorView* tensor) {
  for (const IterDomain* axis : tensor->loop()) {
    const Loop* loop = kernel.loop_model->loop_of(axis);
    if (axis->parallel_type() == ParallelType::Vectorize && !loop->extent()->is_one()) {
      return loop;
    }
  }
  return nullptr;
}

/// How an axis was made: by its own definition, or that of an axis it is equal to.
const Expr* origin_of(const ValGraph& exact, const IterDomain* id) {
  if (id->definition() != nullptr) {
    return id->definition();
  }
  const std::vector<Expr*>& definitions = exact.definitions(exact.group(id));
  return definitions.empty() ? nullptr : definitions.front();
}

/// Whether there is no gap between rows.
bool is_packed(const TensorView* tensor) {
  return std::ranges::all_of(tensor->domain()->contiguity(), [](const std::optional<bool>& flag) {
    return flag.value_or(true);
  });
}

} // namespace

const Resize* shift_of_lanes(const Kernel& kernel, const TensorView* tensor) {
  const Loop* lanes = loop_of_lanes(kernel, tensor);
  if (lanes == nullptr) {
    return nullptr;
  }
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  std::unordered_set<int64_t> visited; // a reshape that is undone leads back
  const IterDomain* axis = lanes->promoted;
  while (visited.insert(exact.group(axis)).second) {
    const Expr* origin = origin_of(exact, axis);
    const auto* resize = origin == nullptr ? nullptr : origin->as<Resize>();
    if (origin == nullptr || (resize != nullptr && is_shift(*resize))) {
      return resize;
    }
    axis = static_cast<const IterDomain*>(origin->inputs().back()); // whose elements are lanes
  }
  return nullptr;
}

bool is_unaligned(const Kernel& kernel, const TensorView* tensor) {
  const TensorView* source = copied_operand(tensor->definition());
  return source != nullptr && source->memory_type() == MemoryType::Global &&
         shift_of_lanes(kernel, tensor) != nullptr &&
         std::ranges::none_of(kernel.launch.vector_accesses, [&](const VectorAccess& access) {
           return access.made_by == tensor && access.tensor != tensor;
         });
}

std::optional<Refusal> find_unaligned_rows(
    Kernel& kernel, const TensorView* tensor, TensorView* side, int64_t width) {
  const Loop* lanes = loop_of_lanes(kernel, tensor);
  IndexWalk::Shared walks;
  IndexWalk walk(kernel, *kernel.simplifier, kernel.loop_model->nest(tensor), tensor, lanes, walks);
  Val* offset = element_offset(kernel, *kernel.simplifier, walk, side);
  if (kernel.is_refused()) {
    return kernel.take_refusal();
  }
  if (is_packed(side) && kernel.simplifier->prove_divisible(offset, kernel.new_index(width))) {
    return std::nullopt;
  }
  return refuse_node(
      {describe(side), ", read or written by ", describe(tensor)},
      {"The vectors of a shifted axis do not begin where those of memory do"},
      {"rows without gaps, and a first lane at a multiple of ", width, " elements"},
      {is_packed(side) ? "" : "gaps between rows; ", "a first lane at ",
       offset->to_inline_string()},
      {"shift the axis by the number of the row times its elements, modulo the width; or unroll "
       "the axis here"});
}

} // namespace nvfuser
