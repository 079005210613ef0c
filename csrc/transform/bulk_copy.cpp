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

} // namespace

bool is_bulk_copy(const Expr* expr) {
  if (expr == nullptr) {
    return false;
  }
  if (const auto* broadcast = expr->as<BroadcastOp>()) {
    return broadcast->out->memory_type() == MemoryType::Shared && has_box(broadcast->out);
  }
  const auto* copy = expr->as<LoadStoreOp>();
  return copy != nullptr &&
         (copy->op == LoadStoreOpType::CpAsyncBulkTensorTile || copies_runs(copy));
}

bool copies_runs(const Expr* expr) {
  const auto* copy = expr == nullptr ? nullptr : expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::CpAsyncBulk;
}

TensorView* bulk_source(const Expr* expr) {
  NVF_INVARIANT(is_bulk_copy(expr), "a bulk copy has a source");
  const auto* broadcast = expr->as<BroadcastOp>();
  return broadcast != nullptr ? broadcast->arg
                              : static_cast<TensorView*>(expr->as<LoadStoreOp>()->arg);
}

} // namespace nvfuser
