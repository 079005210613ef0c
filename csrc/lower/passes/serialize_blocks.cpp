#include "lower/passes/serialize_blocks.h"

#include <algorithm>

#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/parallel_dims.h"

namespace nvfuser {
namespace {

/// The serial reductions in a statement, in their order.
std::vector<const GridReduction*> serial_reductions(Expr* statement) {
  std::vector<const GridReduction*> found;
  for_each_node({statement}, [&](const Expr& expr) {
    const auto* reduction = expr.as<GridReduction>();
    if (reduction != nullptr && reduction->is_serial) {
      found.push_back(reduction);
    }
  });
  return found;
}

Refusal no_turns(const GridReduction& reduction, const Part& expected, const Part& found) {
  return refuse({
      .headline = {"The blocks of a serial grid reduction cannot take turns here"},
      .node = {describe(static_cast<const TensorIndex*>(reduction.outs.front())->view())},
      .expected = expected,
      .found = found,
      .fix = {"inline the reduction less deep, or do not request a serial reduction"},
  });
}

/// A block in its turn must not wait for a block that waits for its turn.
std::optional<Refusal> find_waiting_block(
    Expr* statement, const std::vector<const GridReduction*>& reductions) {
  for (const GridReduction* reduction : reductions) {
    if (reduction->reduced_dims != reductions.front()->reduced_dims) {
      return no_turns(
          *reduction, {"reductions over the same grid axes in one loop nest"},
          {"reductions over different ones"});
    }
  }
  bool has_barrier = false;
  for_each_node({statement}, [&](const Expr& expr) {
    const auto* reduction = expr.as<GridReduction>();
    has_barrier = has_barrier || traits_of(expr).barriers.has(Barrier::Grid) ||
                  (reduction != nullptr && reduction->allreduce);
  });
  if (has_barrier) {
    return no_turns(
        *reductions.front(), {"no barrier over blocks in its loop nest"},
        {"a tensor that other blocks read"});
  }
  return std::nullopt;
}

/// One position per segment, the index of the block whose turn it is.
TensorView* new_turns(Kernel& kernel, const std::vector<int64_t>& dims) {
  Val* segments = kernel.one();
  for (size_t dim = 0; dim < kGridDimTypes.size(); ++dim) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(dim)) == dims.end()) {
      segments = scalar::mul(segments, launched_extent(kernel, kGridDimTypes[dim]));
    }
  }
  TensorDomainSpec spec;
  spec.logical = {kernel.new_iter_domain(segments)};
  TensorView* turns =
      kernel.new_tensor(kernel.new_tensor_domain(spec), DataType::Int, MemoryType::Global);
  kernel.launch.buffers.push_back({turns, /*zero_init=*/true, /*is_output=*/false});
  return turns;
}

std::optional<Refusal> serialize(Kernel& kernel, Scope& scope) {
  Scope result;
  for (Expr* statement : scope) {
    const std::vector<const GridReduction*> reductions = serial_reductions(statement);
    auto* loop = statement->as<ForLoop>();
    if (reductions.empty()) {
      result.push_back(statement);
    } else if (loop != nullptr && loop->loop_kind == LoopKind::Hardware) { // no loop: the section
                                                                           // is inside
      NVF_RETURN_REFUSAL(serialize(kernel, loop->body));
      result.push_back(statement);
    } else {
      NVF_RETURN_REFUSAL(find_waiting_block(statement, reductions));
      if (!kernel.target().has_hardware_threads) {
        result.push_back(statement);
        continue;
      }
      const std::vector<int64_t>& dims = reductions.front()->reduced_dims;
      TensorView* turns = new_turns(kernel, dims);
      result.push_back(kernel.make<BlockSerializeWait>({.sync_dims = dims, .sync_buffer = turns}));
      result.push_back(statement);
      result.push_back(
          kernel.make<BlockSerializeRelease>({.sync_dims = dims, .sync_buffer = turns}));
    }
  }
  scope = std::move(result);
  return std::nullopt;
}

} // namespace

std::optional<Refusal> serialize_blocks(Kernel& kernel) {
  return serialize(kernel, kernel.body);
}

} // namespace nvfuser
