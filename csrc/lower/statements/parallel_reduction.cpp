#include "lower/statements/parallel_reduction.h"

#include <algorithm>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "lower/analysis/parallel_dims.h"

namespace nvfuser {
namespace {

/// Values of a Welford: mean, sum of squared deviations, count.
constexpr size_t kTriple = 3;

/// A buffer in global memory of `elements` elements that the host allocates for one run.
TensorView* new_workspace(Kernel& kernel, Val* elements, DataType dtype, bool zero_init) {
  TensorDomainSpec spec;
  spec.logical = {kernel.new_iter_domain(elements)};
  TensorView* buffer = kernel.new_tensor(kernel.new_tensor_domain(spec), dtype, MemoryType::Global);
  kernel.launch.buffers.push_back({buffer, zero_init, /*is_output=*/false});
  return buffer;
}

bool is_entered_repeatedly(const Loop& loop) {
  return !loop.is_hardware() && !loop.index->is_const();
}

void check_turns(const Kernel& kernel, const Expr* reduction, bool allreduce) {
  if (allreduce && takes_turns(reduction)) {
    kernel.note_refusal(refuse({
        .headline = {"A serial grid reduction has its result in the last block only"},
        .node = {describe(reduction->outputs().front())},
        .expected = {"tensors that depend on it neither to run on the reduced grid axes, nor to "
                     "depend on a later reduction over blocks"},
        .found = {"a dependent that other blocks compute"},
        .fix = {"do not request a serial reduction, or store the result and read it in another "
                "kernel"},
    }));
  }
}

/// The operands of each triple of a Welford; those of other reductions together.
std::vector<ReductionOperands> one_triple_each(const ReductionOperands& operands) {
  if (!operands.is_welford) {
    return {operands};
  }
  std::vector<ReductionOperands> triples;
  for (size_t first = 0; first < operands.outs.size(); first += kTriple) {
    const auto some = [&](const std::vector<Val*>& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<Val*>(begin, begin + static_cast<std::ptrdiff_t>(kTriple));
    };
    ReductionOperands triple = operands;
    triple.outs = some(operands.outs);
    triple.ins = some(operands.ins);
    triple.inits = some(operands.inits);
    triples.push_back(std::move(triple));
  }
  return triples;
}

/// 64-bit words of several triples that lie together (runtime/cuda/grid_reduce_welford_group.cuh);
/// 0: each value has a buffer.
int64_t words_of_group(const Kernel& kernel, const ReductionOperands& operands) {
  if (!kernel.target().is_cuda() || !operands.is_welford || operands.outs.size() == kTriple) {
    return 0;
  }
  const int64_t word = size_bytes(DataType::Int);
  const int64_t moments = 2 * size_bytes(operands.outs.front()->dtype());
  return static_cast<int64_t>(operands.outs.size() / kTriple) * ((moments + word - 1) / word + 1);
}

} // namespace

bool is_warp_reduction(const Kernel& kernel, const TensorView* out, const ReductionShape& shape) {
  if (shape.thread_dims != std::vector<int64_t>{0}) {
    return false;
  }
  const int64_t warp = kernel.target().warp_size;
  const Val* launched = kernel.launch.extents[ParallelType::TIDx];
  bool is_padded = false;
  for (int64_t i = 0; i < out->ndims(); ++i) {
    is_padded = is_padded ||
                (out->axis(i)->is_reduction() &&
                 kernel.loop_model->loop_of(out->axis(i))->parallel_type == ParallelType::TIDx &&
                 out->axis(i)->has_padding_to_multiple_of_warp());
  }
  // One warp exactly, so that lanes need no scratch to meet.
  return is_padded && launched->is_const() && as_int(launched->value()) == warp;
}

std::vector<Expr*> make_block_reductions(
    Kernel& kernel,
    const ReductionOperands& operands,
    const std::vector<int64_t>& thread_dims,
    bool is_warp) {
  std::vector<Expr*> statements;
  for (const ReductionOperands& each : one_triple_each(operands)) {
    statements.push_back(kernel.make<BlockReduction>(
        {.outs = each.outs,
         .ins = each.ins,
         .inits = each.inits,
         .ops = each.ops,
         .is_welford = each.is_welford,
         .reduced_dims = thread_dims,
         .is_warp = is_warp,
         .read_predicate = each.contributes}));
  }
  return statements;
}

std::vector<Expr*> make_cluster_reductions(
    Kernel& kernel, const ReductionOperands& operands, const std::vector<int64_t>& thread_dims) {
  std::vector<Expr*> statements;
  for (const ReductionOperands& each : one_triple_each(operands)) {
    statements.push_back(kernel.make<ClusterReduction>(
        {.outs = each.outs,
         .ins = each.ins,
         .inits = each.inits,
         .ops = each.ops,
         .is_welford = each.is_welford,
         .reduced_dims = thread_dims,
         .read_predicate = each.contributes}));
  }
  return statements;
}

std::vector<int64_t> uniform_thread_dims(
    const Kernel& kernel, const Expr* reduction, const ReductionShape& shape) {
  const LoopNest nest = statement_nest(kernel, reduction);
  std::vector<int64_t> dims;
  for (const ParallelType type : kBlockDimTypes) {
    const int64_t dim = traits_of(type).dim;
    const Val* launched = kernel.launch.extents[type];
    const bool is_reduced = std::ranges::find(shape.thread_dims, dim) != shape.thread_dims.end();
    const bool is_bound = std::ranges::any_of(nest, [&](const Loop* loop) {
      return loop->parallel_type == type && !loop->index->is_const();
    });
    if (is_reduced || (launched != nullptr && !launched->is_one() && !is_bound)) {
      dims.push_back(dim);
    }
  }
  return dims;
}

bool takes_turns(const Expr* reduction) {
  const auto* op = reduction->as<ReductionOp>();
  return op != nullptr && op->serial_grid;
}

ReductionOperands through_registers(
    Kernel& kernel, const ReductionOperands& operands, std::vector<Expr*>& statements) {
  ReductionOperands inner = operands;
  for (size_t i = 0; i < operands.outs.size(); ++i) {
    TensorView* partial =
        kernel.new_tensor(kernel.new_tensor_domain({}), operands.outs[i]->dtype());
    const auto element = [&] { return kernel.new_tensor_index(partial, kernel.zero()); };
    statements.push_back(kernel.make<Allocate>(
        {.buffer = partial, .memory_type = MemoryType::Local, .size = kernel.one()}));
    statements.push_back(kernel.make<LoadStoreOp>(
        {.out = element(), .arg = operands.inits[i], .op = LoadStoreOpType::Set}));
    inner.outs[i] = element();
  }
  return inner;
}

GridReduction* make_grid_reduction(
    Kernel& kernel,
    Expr* expr,
    const ReductionShape& shape,
    const ReductionOperands& operands,
    bool allreduce) {
  const auto* out = static_cast<TensorView*>(expr->outputs().front());
  Val* entrance = kernel.zero();
  Val* entrances = kernel.one();
  const LoopNest nest = statement_nest(kernel, expr);
  for (const Loop* loop : nest) {
    if (is_entered_repeatedly(*loop)) {
      entrance = scalar::add(scalar::mul(entrance, loop->extent()), loop->index);
      entrances = scalar::mul(entrances, loop->extent());
    }
  }
  Val* blocks = entrances;
  Val* threads = kernel.one();
  for (const ParallelType type : kHardwareTypes) {
    // As launched, which is one for an axis without elements.
    Val*& product = is_grid_dim(type) ? blocks : threads;
    product = scalar::mul(product, launched_extent(kernel, type));
  }
  Val* slots = scalar::mul(blocks, threads);
  std::vector<TensorView*> work;
  if (const int64_t words = words_of_group(kernel, operands); words > 0) {
    Val* elements = scalar::mul(slots, kernel.new_index(words));
    work.push_back(new_workspace(kernel, elements, DataType::Int, /*zero_init=*/false));
  } else {
    for (const Val* result : operands.outs) {
      work.push_back(new_workspace(kernel, slots, result->dtype(), /*zero_init=*/false));
    }
  }
  if (shape.has_serial && !allreduce) {
    kernel.note_refusal(refuse({
        .headline = {"A reduction over blocks stands in a serial loop of the same reduction"},
        .node = {describe(out)},
        .expected = {"the serial axes reduced before the grid axes"},
        .found = {"both in one reduction, whose result only the last block has"},
        .fix = {"rfactor the serial axes: they are then reduced once, in registers"},
    }));
  }
  check_turns(kernel, expr, allreduce);
  const bool is_serial = takes_turns(expr);
  TensorView* counters =
      is_serial ? nullptr : new_workspace(kernel, blocks, DataType::Int, /*zero_init=*/true);
  kernel.launch.is_cooperative = kernel.launch.is_cooperative || allreduce;
  Val* is_last = allreduce ? nullptr : kernel.new_scalar(DataType::Bool);
  return kernel.make<GridReduction>(
      {.outs = operands.outs,
       .ins = operands.ins,
       .inits = operands.inits,
       .ops = operands.ops,
       .is_welford = operands.is_welford,
       .reduced_dims = shape.grid_dims,
       .reduced_thread_dims = uniform_thread_dims(kernel, expr, shape),
       .allreduce = allreduce,
       .is_serial = is_serial,
       .is_last = is_last,
       .read_predicate = operands.contributes,
       .entrance = kernel.simplifier->simplify(entrance),
       .entrances = entrances,
       .work_buffers = work,
       .sync_buffer = counters});
}

} // namespace nvfuser
