// Products by tensor cores: one statement for all positions of the axes bound to mma, or one for
// each element.
#include <deque>

#include "lower/analysis/mma.h"
#include "lower/statements/statements.h"

namespace nvfuser {
namespace {

/// The nest at the first positions of the axes bound to mma: where fragments begin. The loops with
/// these indices are made in `loops`.
LoopNest at_first_positions(Kernel& kernel, const LoopNest& nest, std::deque<Loop>& loops) {
  LoopNest first = nest;
  for (Loop*& loop : first) {
    if (loop->parallel_type == ParallelType::Mma) {
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
  StatementContext context(
      kernel_, is_instruction ? at_first_positions(kernel_, nest, loops) : nest,
      static_cast<TensorView*>(op.out), walks_);
  Expr* statement = kernel_.make<MmaOp>(
      {.out = context.result(op.out),
       .a = context.operand(op.a),
       .b = context.operand(op.b),
       .init = op.init,
       .macro = is_instruction ? op.macro : int64_t{0}});
  kernel_.tests[statement] = {}; // holes of factors are zeros
  return {statement};
}

} // namespace nvfuser
