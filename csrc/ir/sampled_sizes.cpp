#include "ir/sampled_sizes.h"

#include <algorithm>
#include <vector>

#include "ir/all_nodes.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

/// Scalars that folding knows are computed from scalars by one operation.
bool is_folded(const Val* val) {
  const Expr* expr = val->definition();
  const auto is_number = [](const Val* operand) {
    return operand->is_scalar() && operand->dtype() != DataType::SMemAddress &&
           operand->dtype() != DataType::TMemAddress;
  };
  return expr != nullptr &&
         (expr->is_a<UnaryOp>() || expr->is_a<BinaryOp>() || expr->is_a<TernaryOp>()) &&
         std::ranges::all_of(expr->inputs(), is_number) && is_number(val);
}

} // namespace

std::optional<int64_t> SampledSizes::of(const Val* size) {
  std::vector<const Val*> pending{size};
  while (!pending.empty()) {
    const Val* val = pending.back();
    if (values_.contains(val)) {
      pending.pop_back();
    } else if (val->is_const()) {
      values_[val] = val->value();
    } else if (!is_folded(val)) {
      values_[val] = sample(val);
    } else {
      const auto& operands = val->definition()->inputs();
      const size_t before = pending.size();
      std::ranges::copy_if(operands, std::back_inserter(pending), [&](const Val* operand) {
        return !values_.contains(operand);
      });
      if (pending.size() == before) {
        values_[val] = compute(val);
      }
    }
  }
  const ScalarValue& value = values_[size];
  return has_value(value) ? std::optional(as_int(value)) : std::nullopt;
}

/// A few thousand different numbers, so that products of sizes do not wrap.
ScalarValue SampledSizes::sample(const Val* val) {
  constexpr int64_t kStep = 1103;
  constexpr int64_t kEnd = 4093; // a prime, so that steps reach all
  num_samples_ = (num_samples_ + kStep) % kEnd;
  return convert_value(ScalarValue(num_samples_ + 2), val->dtype());
}

ScalarValue SampledSizes::compute(const Val* val) const {
  const Expr& expr = *val->definition();
  const auto value_of = [&](const Val* operand) -> const ScalarValue& {
    return values_.at(operand);
  };
  if (const auto* unary = expr.as<UnaryOp>()) {
    return scalar::fold(unary->op, value_of(unary->arg), val->dtype());
  }
  if (const auto* binary = expr.as<BinaryOp>()) {
    const bool is_test = is_comparison(binary->op);
    const DataType type = is_test ? binary->lhs->dtype() : val->dtype();
    return scalar::fold(binary->op, value_of(binary->lhs), value_of(binary->rhs), type);
  }
  const auto& ternary = static_cast<const TernaryOp&>(expr);
  const ScalarValue& condition = value_of(ternary.in1);
  if (ternary.op != TernaryOpType::Where || !has_value(condition)) {
    return {};
  }
  return convert_value(value_of(as_bool(condition) ? ternary.in2 : ternary.in3), val->dtype());
}

} // namespace nvfuser
