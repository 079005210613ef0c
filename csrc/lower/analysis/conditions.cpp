#include "lower/analysis/conditions.h"

#include <algorithm>

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

} // namespace nvfuser
