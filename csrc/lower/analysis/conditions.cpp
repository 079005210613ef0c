#include "lower/analysis/conditions.h"

#include <algorithm>

#include "eval/simplify.h"
#include "ir/kernel_nodes.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

void append_terms(Val* condition, std::vector<Val*>& terms) {
  const Expr* definition = condition->definition();
  const auto* both = definition == nullptr ? nullptr : definition->as<BinaryOp>();
  if (both == nullptr || both->op != BinaryOpType::LogicalAnd) {
    terms.push_back(condition);
    return;
  }
  append_terms(both->lhs, terms);
  append_terms(both->rhs, terms);
}

} // namespace

std::vector<Val*> terms_of(Val* condition) {
  std::vector<Val*> terms;
  append_terms(condition, terms);
  return terms;
}

Val* all_of(const std::vector<Val*>& terms) {
  Val* condition = nullptr;
  for (Val* term : terms) {
    condition = scalar::logical_and(condition, term);
  }
  return condition;
}

bool contains_term(const std::vector<Val*>& terms, const Val* term) {
  return std::any_of(
      terms.begin(), terms.end(), [&](const Val* other) { return other->same_as(term); });
}

bool implies(IndexSimplifier& simplifier, const Val* known, const Val* term) {
  if (term->same_as(known)) {
    return true;
  }
  const auto comparison = [](const Val* val) -> const BinaryOp* {
    const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
    return op != nullptr && op->op == BinaryOpType::LT && op->lhs->dtype() == DataType::Index
               ? op
               : nullptr;
  };
  const BinaryOp* a = comparison(term);
  const BinaryOp* b = comparison(known);
  return a != nullptr && b != nullptr && a->rhs->same_as(b->rhs) &&
         simplifier.prove_le(a->lhs, b->lhs);
}

ParallelType first_index_tested(const Val* condition) {
  const Expr* definition = condition->definition();
  const auto* equality = definition == nullptr ? nullptr : definition->as<BinaryOp>();
  const bool is_test = equality != nullptr && equality->op == BinaryOpType::Eq &&
                       equality->rhs->is_zero() && equality->lhs->vtype() == ValType::NamedScalar;
  return is_test ? static_cast<const NamedScalar*>(equality->lhs)->parallel_index()
                 : ParallelType::Serial;
}

bool only_declares(const Expr& expr) {
  const std::vector<Val*>& outs = expr.outputs();
  const auto is_element = [](const Val* out) { return out->vtype() == ValType::TensorIndex; };
  return expr.is_a<Allocate>() || (!outs.empty() && std::ranges::none_of(outs, is_element));
}

bool is_for_first_only(const Scope& scope, ParallelType type) {
  return std::ranges::all_of(scope, [&](const Expr* expr) {
    const auto* branch = expr->as<IfThenElse>();
    if (branch == nullptr) {
      return only_declares(*expr);
    }
    const std::vector<Val*> terms = terms_of(branch->condition);
    return branch->else_body.empty() && std::ranges::any_of(terms, [&](const Val* term) {
             return first_index_tested(term) == type;
           });
  });
}

} // namespace nvfuser
