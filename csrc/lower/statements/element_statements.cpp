#include "lower/statements/element_statements.h"

#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/mma.h"
#include "transform/fragments.h"

namespace nvfuser {

bool can_convert(const UnaryOp& op) {
  switch (op.op) { // those of addresses and of warps are documented, and have no code
    case UnaryOpType::Address:
    case UnaryOpType::Dereference:
    case UnaryOpType::Print:
    case UnaryOpType::ToUnsignedSmemAddr:
    case UnaryOpType::AdjustPartialLdMatrixAddrInTuring8:
    case UnaryOpType::AdjustPartialLdMatrixAddrInTuring16:
    case UnaryOpType::ElectSync: return false;
    default: return true;
  }
}

bool can_convert(const TernaryOp& op) {
  return op.op != TernaryOpType::Philox; // random elements are nodes of their own
}

bool can_convert(const MmaOp& op) {
  return is_mma(&op); // a sum of products without an instruction is evaluated
}

Expr* convert(UnaryOp& op, StatementContext& context) {
  return context.kernel.make<UnaryOp>(
      {.out = context.result(op.out), .arg = context.operand(op.arg), .op = op.op});
}

Expr* convert(BinaryOp& op, StatementContext& context) {
  if (is_bulk_instruction(context.kernel, context.out)) {
    return convert_box(static_cast<TensorView*>(op.out), context);
  }
  return context.kernel.make<BinaryOp>(
      {.out = context.result(op.out),
       .lhs = context.operand(op.lhs),
       .rhs = context.operand(op.rhs),
       .op = op.op});
}

Expr* convert(TernaryOp& op, StatementContext& context) {
  return context.kernel.make<TernaryOp>(
      {.out = context.result(op.out),
       .in1 = context.operand(op.in1),
       .in2 = context.operand(op.in2),
       .in3 = context.operand(op.in3),
       .op = op.op});
}

Expr* convert(LoadStoreOp& op, StatementContext& context) {
  if (is_bulk_instruction(context.kernel, context.out)) {
    return convert_box(static_cast<TensorView*>(op.out), context);
  }
  return context.kernel.make<LoadStoreOp>(
      {.out = context.result(op.out),
       .arg = context.operand(op.arg),
       .op = is_matrix_copy(&op) || is_tensor_memory_copy(&op) ? LoadStoreOpType::Set : op.op,
       .cache_op = op.cache_op});
}

Expr* convert(BroadcastOp& op, StatementContext& context) {
  if (is_bulk_instruction(context.kernel, context.out)) {
    return convert_box(op.out, context);
  }
  return context.copy_to(op.out, context.operand(op.arg));
}

Expr* convert(SqueezeOp& op, StatementContext& context) {
  return context.copy_to(op.out, context.operand(op.arg));
}

Expr* convert(ExpandOp& op, StatementContext& context) {
  return context.copy_to(op.out, context.operand(op.arg));
}

Expr* convert(ReshapeOp& op, StatementContext& context) {
  return context.copy_to(op.out, context.operand(op.arg));
}

// The statements that order grids stand between loop nests (order_grids).

Expr* convert(WaitForPriorGridOp& op, StatementContext& context) {
  return context.copy_to(op.out, context.operand(op.ins.front()));
}

Expr* convert(LaunchDependentGridOp& op, StatementContext& context) {
  return context.copy_to(op.out, context.operand(op.ins.front()));
}

} // namespace nvfuser
