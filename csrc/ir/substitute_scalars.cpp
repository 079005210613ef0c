#include "ir/substitute_scalars.h"

#include <algorithm>
#include <iterator>

#include "ir/domain_exprs.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

/// The scalars that a scalar is computed from.
std::vector<Val*> operands_of(const Val* val) {
  std::vector<Val*> operands;
  if (const Expr* definition = val->definition()) {
    std::ranges::copy_if(definition->inputs(), std::back_inserter(operands), [](const Val* in) {
      return in->is_scalar();
    });
  }
  return operands;
}

} // namespace

void ScalarSubstitution::replace(Val* leaf, Val* with) {
  if (map_.insert_or_assign(leaf, with).second) {
    leaves_.push_back(leaf);
  }
  keep_between(leaf, with);
}

/// Else `with` would read itself: no walk over definitions would end.
void ScalarSubstitution::keep_between(const Val* leaf, Val* with) {
  std::unordered_map<const Val*, bool> reads_leaf{{leaf, true}};
  std::vector<Val*> stack{with};
  while (!stack.empty()) { // operands before what reads them
    Val* val = stack.back();
    if (reads_leaf.contains(val)) {
      stack.pop_back();
      continue;
    }
    bool is_ready = true;
    bool reads = false;
    for (Val* in : operands_of(val)) {
      const auto known = reads_leaf.find(in);
      if (known == reads_leaf.end()) {
        stack.push_back(in);
        is_ready = false;
      } else {
        reads = reads || known->second;
      }
    }
    if (is_ready) {
      reads_leaf.emplace(val, reads);
      stack.pop_back();
      if (reads) {
        map_.emplace(val, val);
        kept_.insert(val->definition());
      }
    }
  }
}

Val* ScalarSubstitution::operator()(Val* root) {
  std::vector<Val*> stack{root};
  while (!stack.empty()) { // operands before what reads them
    Val* val = stack.back();
    if (map_.contains(val)) {
      stack.pop_back();
      continue;
    }
    bool is_ready = true;
    for (Val* in : operands_of(val)) {
      if (!map_.contains(in)) {
        stack.push_back(in);
        is_ready = false;
      }
    }
    if (is_ready) {
      Val* rebuilt = rebuild(val);
      map_[val] = finish_ ? finish_(val, rebuilt) : rebuilt;
      stack.pop_back();
    }
  }
  return map_.at(root);
}

Val* ScalarSubstitution::rebuild(Val* val) {
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
  if (op == nullptr || (map_.at(op->lhs) == op->lhs && map_.at(op->rhs) == op->rhs)) {
    return rebuild_other(val);
  }
  Val* lhs = map_.at(op->lhs);
  Val* rhs = map_.at(op->rhs);
  switch (op->op) {
    case BinaryOpType::Add: return scalar::add(lhs, rhs);
    case BinaryOpType::Sub: return scalar::sub(lhs, rhs);
    case BinaryOpType::Mul: return scalar::mul(lhs, rhs);
    case BinaryOpType::Div: return scalar::div(lhs, rhs);
    case BinaryOpType::Mod: return scalar::mod(lhs, rhs);
    case BinaryOpType::CeilDiv: return scalar::ceil_div(lhs, rhs);
    case BinaryOpType::Max: return scalar::max(lhs, rhs);
    case BinaryOpType::Min: return scalar::min(lhs, rhs);
    default: {
      Val* out = fusion_.new_scalar(val->dtype());
      fusion_.make<BinaryOp>({.out = out, .lhs = lhs, .rhs = rhs, .op = op->op});
      return out;
    }
  }
}

Val* ScalarSubstitution::rebuild_other(Val* val) {
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<UnaryOp>();
  if (op == nullptr || map_.at(op->arg) == op->arg) {
    return val;
  }
  if (op->op == UnaryOpType::Cast) {
    return scalar::cast(val->dtype(), map_.at(op->arg));
  }
  Val* out = fusion_.new_scalar(val->dtype());
  fusion_.make<UnaryOp>({.out = out, .arg = map_.at(op->arg), .op = op->op});
  return out;
}

void ScalarSubstitution::apply(const std::vector<TensorView*>& tensors) {
  for (const TensorView* tensor : tensors) {
    for (IterDomain* id : tensor->domain()->all_ids()) {
      Val* expanded = id->has_expanded_extent() ? (*this)(id->expanded_extent()) : nullptr;
      id->assign_extents((*this)(id->extent()), expanded);
    }
  }
  for (const TensorView* tensor : tensors) {
    for (Expr* expr : tensor->domain()->all_exprs()) {
      if (auto* resize = expr->as<Resize>()) {
        resize->left = (*this)(resize->left);
        resize->right = (*this)(resize->right);
      }
    }
  }
  for (Val* leaf : leaves_) {
    std::vector<Expr*> readers = leaf->all_uses();
    std::erase_if(readers, [&](const Expr* reader) { return kept_.contains(reader); });
    fusion_.replace_uses(leaf, map_.at(leaf), readers);
  }
}

} // namespace nvfuser
