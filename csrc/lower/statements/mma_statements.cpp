// Products by tensor cores: one statement for all positions of the axes bound to mma, or one for
// each element.
#include <deque>

#include "lower/analysis/mma.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/wgmma.h"
#include "lower/statements/statements.h"

namespace nvfuser {
namespace {

/// The nest at the first positions of the axes bound to mma: where fragments begin. The loops with
/// these indices are made in `loops`. `of_tile`: where the tile of all lanes begins, which lie
/// along x.
LoopNest at_first_positions(
    Kernel& kernel, const LoopNest& nest, std::deque<Loop>& loops, bool of_tile) {
  LoopNest first = nest;
  for (Loop*& loop : first) {
    const ParallelType type = loop->parallel_type;
    if (type == ParallelType::Mma || (of_tile && type == ParallelType::TIDx)) {
      loop = &loops.emplace_back(*loop);
      loop->index = kernel.zero();
    }
  }
  return first;
}

} // namespace

std::vector<Expr*> StatementBuilder::multiply(MmaOp& op, const LoopNest& nest) {
  const bool is_instruction = is_mma_instruction(kernel_, &op);
  std::deque<Loop> loops;
  const auto context_of = [&](bool of_tile) {
    return StatementContext(
        kernel_, is_instruction ? at_first_positions(kernel_, nest, loops, of_tile) : nest,
        static_cast<TensorView*>(op.out), walks_);
  };
  StatementContext result = context_of(/*of_tile=*/false);
  const bool reads_tiles = is_instruction && (is_wgmma(&op) || is_tcgen05(&op));
  StatementContext first = context_of(reads_tiles && !holds_first_factor(op));
  StatementContext second = context_of(reads_tiles);
  Expr* statement = kernel_.make<MmaOp>(
      {.out = result.result(op.out),
       .a = first.operand(op.a),
       .b = second.operand(op.b),
       .a_scale = op.a_scale == nullptr ? nullptr : first.operand(op.a_scale),
       .b_scale = op.b_scale == nullptr ? nullptr : second.operand(op.b_scale),
       .init = op.init,
       .macro = is_instruction ? op.macro : int64_t{0}});
  kernel_.tests[statement] = {}; // holes of factors are zeros
  return {statement};
}

std::vector<Expr*> StatementBuilder::copy_columns(LoadStoreOp& op, const LoopNest& nest) {
  std::deque<Loop> loops;
  StatementContext context(
      kernel_, at_first_positions(kernel_, nest, loops, /*of_tile=*/false),
      static_cast<TensorView*>(op.out), walks_);
  Expr* statement = kernel_.make<LoadStoreOp>(
      {.out = context.result(op.out), .arg = context.operand(op.arg), .op = op.op});
  kernel_.tests[statement] = {}; // all lanes of a warp copy, holes as well
  return {statement};
}

} // namespace nvfuser
