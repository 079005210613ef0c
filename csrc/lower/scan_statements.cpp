// Scans: a register outside of the loops over the axis holds what was combined so far.
//
//   running = init                      before the loops over the axis
//   running = running op T1[i]          in them
//   T2[i] = running
#include <algorithm>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "lower/scan_loops.h"
#include "lower/statements.h"

namespace nvfuser {
namespace {

bool contains(const LoopNest& loops, const Loop* loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

/// A running value for each position of the loop fits into registers only if there are a known
/// number.
void check_has_constant_extent(const ScanOp& op, const Loop& loop) {
  if (loop.extent()->is_const_int()) {
    return;
  }
  throw UserError({
      .headline =
          {"A scan has a loop of unknown size inside of the loops over its axis: ",
           loop.promoted->to_string()},
      .node = {describe(op.out)},
      .expected = {"constant extents inside of the loops over the axis of a scan"},
      .found = {"extent ", loop.extent()->to_inline_string()},
      .fix = {"reorder the axis of the scan inside, or bind the other axis to threads"},
  });
}

} // namespace

bool combines_over_loops(const Expr* expr) {
  return is_reduction_expr(expr) || (expr != nullptr && expr->is_a<ScanOp>());
}

/// Registers for what the loops inside of those over the axis run through: one running value for
/// each of their positions, also where `out` itself is the same for several.
Expr* StatementBuilder::prepare_scan(ScanOp& op, const LoopNest& nest) {
  RunningValue running;
  running.scanned = scanned_loops(kernel_, op, nest);
  const auto first = std::find(nest.begin(), nest.end(), running.scanned.front());
  Val* size = kernel_.one();
  for (auto position = first; position != nest.end(); ++position) {
    Loop* loop = *position;
    if (!contains(running.scanned, loop) && !loop->is_thread() && !loop->index->is_const()) {
      check_has_constant_extent(op, *loop);
      running.inner.push_back(loop);
      size = scalar::mul(size, loop->extent());
    }
  }
  TensorDomainSpec spec;
  spec.logical = {kernel_.new_iter_domain(size)};
  running.registers = kernel_.new_tensor(kernel_.new_tensor_domain(spec), op.out->dtype());
  running_values_[&op] = running;
  Expr* allocate = kernel_.make<Allocate>(running.registers, MemoryType::Local, size);
  kernel_.origin[allocate] = &op;
  return allocate;
}

const LoopNest& StatementBuilder::loops_of_scan(const ScanOp& op) const {
  return running_values_.at(&op).scanned;
}

TensorIndex* StatementBuilder::running_value(const ScanOp& op) {
  const RunningValue& running = running_values_.at(&op);
  Val* index = kernel_.zero();
  for (const Loop* loop : running.inner) {
    index = scalar::add(scalar::mul(index, loop->extent()), loop->index);
  }
  return kernel_.new_tensor_index(running.registers, kernel_.simplifier->simplify(index));
}

Expr* StatementBuilder::start_scan(ScanOp& op) {
  Val* init = scalar::cast(op.out->dtype(), op.init);
  Expr* statement = kernel_.make<LoadStoreOp>(running_value(op), init, LoadStoreOpType::Set);
  kernel_.origin[statement] = &op;
  return statement;
}

std::vector<Expr*> StatementBuilder::scan(ScanOp& op, const LoopNest& nest) {
  Context context{IndexWalk(kernel_, *kernel_.simplifier, nest, op.out), op.out};
  TensorIndex* running = running_value(op);
  Expr* combine = kernel_.make<BinaryOp>(running, running, operand(op.arg, context), op.op);
  kernel_.tests[combine] = tests_of(&op, context);
  kernel_.tests[combine].owner = nullptr; // every thread has a running value of its own
  Expr* store = copy_to(op.out, running, context);
  kernel_.tests[store] = tests_of(&op, context);
  follow_last_block(&op);
  return {combine, store};
}

} // namespace nvfuser
