#include "transform/lost_elements.h"

#include <vector>

#include "ir/all_nodes.h"

namespace nvfuser::transform {
namespace {

const BinaryOp* as_sum(const Val* val) {
  const Expr* definition = val->definition();
  const auto* op = definition == nullptr ? nullptr : definition->as<BinaryOp>();
  return op != nullptr && op->op == BinaryOpType::Add ? op : nullptr;
}

/// Whether `val`, which is no sum, is a size or a constant that is not negative.
bool is_size(const Val* val) {
  if (val->is_const_int()) {
    return as_int(val->value()) >= 0;
  }
  return val->definition() == nullptr && !val->is_fusion_input() && val->dtype() == DataType::Index;
}

} // namespace

/// Whether `width` is a sum of sizes and constants that are not negative, as those around the
/// operands of a cat: the simplifier has nothing to prove then.
bool LostElements::is_sum_of_sizes(const Val* width) {
  std::vector<const Val*> pending{width};
  while (!pending.empty()) {
    const Val* val = pending.back();
    const BinaryOp* sum = as_sum(val);
    if (sum == nullptr || is_sum_.contains(val)) {
      is_sum_.emplace(val, sum == nullptr && is_size(val));
      pending.pop_back();
      continue;
    }
    const auto lhs = is_sum_.find(sum->lhs);
    const auto rhs = is_sum_.find(sum->rhs);
    if (lhs == is_sum_.end() || rhs == is_sum_.end()) {
      pending.push_back(sum->lhs);
      pending.push_back(sum->rhs);
      continue;
    }
    is_sum_.emplace(val, lhs->second && rhs->second);
    pending.pop_back();
  }
  return is_sum_.at(width);
}

bool LostElements::in(const Expr* expr) {
  const auto* resize = expr->as<Resize>();
  if (resize == nullptr) {
    return false;
  }
  if (is_sum_of_sizes(resize->left) && is_sum_of_sizes(resize->right)) {
    return false;
  }
  if (!simplifier_) {
    simplifier_.emplace(*expr->fusion());
  }
  return !simplifier_->prove_nonnegative(resize->left) ||
         !simplifier_->prove_nonnegative(resize->right);
}

} // namespace nvfuser::transform
