#include "transform/bulk_copy.h"

#include "ir/pointwise.h"
#include "ir/shape_exprs.h"

namespace nvfuser {
namespace {

bool has_box(const TensorView* tensor) {
  return std::ranges::any_of(tensor->loop(), [](const IterDomain* axis) {
    return axis->parallel_type() == ParallelType::Bulk;
  });
}

/// The operand of an update that a bulk copy stores; nullptr: none is in shared memory.
TensorView* stored_operand(const BinaryOp& op) {
  for (Val* operand : {op.lhs, op.rhs}) {
    if (operand->is_tensor() &&
        static_cast<TensorView*>(operand)->memory_type() == MemoryType::Shared) {
      return static_cast<TensorView*>(operand);
    }
  }
  return nullptr;
}

} // namespace

bool is_bulk_update(const Expr* expr) {
  const auto* op = expr == nullptr ? nullptr : expr->as<BinaryOp>();
  if (op == nullptr || !op->out->is_tensor() || stored_operand(*op) == nullptr ||
      (op->op != BinaryOpType::Add && op->op != BinaryOpType::Min && op->op != BinaryOpType::Max)) {
    return false;
  }
  const auto* out = static_cast<const TensorView*>(op->out);
  return out->memory_type() == MemoryType::Global && has_box(out);
}

bool is_bulk_copy(const Expr* expr) {
  if (expr == nullptr) {
    return false;
  }
  if (const auto* broadcast = expr->as<BroadcastOp>()) {
    return broadcast->out->memory_type() == MemoryType::Shared && has_box(broadcast->out);
  }
  const auto* copy = expr->as<LoadStoreOp>();
  return copies_runs(expr) ||
         (copy != nullptr && copy->op == LoadStoreOpType::CpAsyncBulkTensorTile);
}

bool copies_runs(const Expr* expr) {
  const auto* copy = expr == nullptr ? nullptr : expr->as<LoadStoreOp>();
  return is_bulk_update(expr) || (copy != nullptr && copy->op == LoadStoreOpType::CpAsyncBulk);
}

TensorView* bulk_source(const Expr* expr) {
  NVF_INVARIANT(is_bulk_copy(expr), "a bulk copy has a source");
  if (const auto* update = expr->as<BinaryOp>()) {
    return stored_operand(*update);
  }
  const auto* broadcast = expr->as<BroadcastOp>();
  return broadcast != nullptr ? broadcast->arg
                              : static_cast<TensorView*>(expr->as<LoadStoreOp>()->arg);
}

} // namespace nvfuser
