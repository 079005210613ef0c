#include "optimize/value_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "optimize/number_formats.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

constexpr double kUnknown = -std::numeric_limits<double>::infinity();
// Half of the smallest normal Float: its reciprocal is 2^127.
constexpr double kLeastDivisor = 0x1p-127;

bool is_square(const BinaryOp& op) {
  return op.op == BinaryOpType::Mul && op.lhs == op.rhs && !is_complex(op.out->dtype());
}

/// where(a >= b, a, b)
bool is_maximum(const TernaryOp& op) {
  const Expr* condition = op.in1->definition();
  const auto* comparison = condition == nullptr ? nullptr : condition->as<BinaryOp>();
  return comparison != nullptr && comparison->op == BinaryOpType::GE && comparison->lhs == op.in2 &&
         comparison->rhs == op.in3;
}

template <typename Node>
const Node* definition_as(const Val* val) {
  return val->definition() == nullptr ? nullptr : val->definition()->as<Node>();
}

/// The tensor that a view shows, through all views that stand before it.
const Val* shown(const Val* val) {
  for (const Expr* expr = val->definition(); expr != nullptr; expr = val->definition()) {
    if (!changes_broadcast_axes(*expr)) {
      break;
    }
    val = expr->inputs().front();
  }
  return val;
}

/// exp(x - max(x)), where the maximum is that of the axes that are summed: one element is exp(0).
bool sums_to_one_or_more(const ReductionOp& sum) {
  const auto* exp = definition_as<UnaryOp>(sum.arg);
  const auto* shifted =
      exp == nullptr || exp->op != UnaryOpType::Exp ? nullptr : definition_as<BinaryOp>(exp->arg);
  if (shifted == nullptr || shifted->op != BinaryOpType::Sub) {
    return false;
  }
  const auto* max = definition_as<ReductionOp>(shown(shifted->rhs));
  const auto reduced = [](const Val* out) {
    std::vector<bool> flags;
    for (const IterDomain* axis : static_cast<const TensorView*>(out)->logical()) {
      flags.push_back(axis->is_reduction());
    }
    return flags;
  };
  return max != nullptr && max->op == BinaryOpType::Max && max->arg == shifted->lhs &&
         reduced(max->out) == reduced(sum.out);
}

} // namespace

double ValueBounds::least(const Val* val) {
  return bounds_of(val).least;
}

bool ValueBounds::has_reciprocal(const Val* val) {
  return bounds_of(val).has_reciprocal;
}

/// Operands before what reads them, without recursion: chains may be long.
const ValueBounds::Bounds& ValueBounds::bounds_of(const Val* val) {
  std::vector<const Val*> stack{val};
  while (!stack.empty()) {
    const Val* next = stack.back();
    const Expr* definition = next->definition();
    const size_t size = stack.size();
    if (!known_.contains(next) && definition != nullptr) {
      std::ranges::copy_if(definition->inputs(), std::back_inserter(stack), [&](const Val* in) {
        return !known_.contains(in);
      });
    }
    if (stack.size() == size) {
      stack.pop_back();
      if (!known_.contains(next)) {
        known_.emplace(next, find(next));
      }
    }
  }
  return known_.at(val);
}

ValueBounds::Bounds ValueBounds::find(const Val* val) {
  if (is_complex(val->dtype())) {
    return {.least = kUnknown, .has_reciprocal = false};
  }
  const double least = least_of(val);
  return {.least = least, .has_reciprocal = least >= kLeastDivisor || reciprocal_is_finite(val)};
}

double ValueBounds::least_of(const Val* val) {
  if (const std::optional<double> number = constant_number(val)) {
    return std::isnan(*number) ? kUnknown : *number;
  }
  const bool is_size = val->dtype() == DataType::Index && val->is_scalar() &&
                       val->definition() == nullptr && !val->is_fusion_input();
  if (is_size || is_boolean(val->dtype()) || is_unsigned(val->dtype())) {
    return 0;
  }
  const Expr* definition = val->definition();
  if (definition == nullptr || definition->outputs().size() != 1) {
    const auto* welford = definition == nullptr ? nullptr : definition->as<WelfordOp>();
    return welford != nullptr && val != welford->out_avg ? 0 : kUnknown;
  }
  const auto both_at_least_zero = [&](const BinaryOp& op) {
    return least(op.lhs) >= 0 && least(op.rhs) >= 0;
  };
  return visit(
      *definition,
      overloaded{
          [&](const UnaryOp& op) -> double {
            switch (op.op) {
              case UnaryOpType::Abs:
              case UnaryOpType::Exp:
              case UnaryOpType::Exp2:
              case UnaryOpType::Sigmoid: return 0;
              case UnaryOpType::Cosh: return 1;
              case UnaryOpType::Relu: return std::max(least(op.arg), 0.0);
              case UnaryOpType::Sqrt: return least(op.arg) > 0 ? std::sqrt(least(op.arg)) : 0;
              case UnaryOpType::Rsqrt: return 0;
              case UnaryOpType::Reciprocal: return least(op.arg) >= 0 ? 0 : kUnknown;
              case UnaryOpType::Cast: return least_of_cast(op);
              default: return kUnknown;
            }
          },
          [&](const BinaryOp& op) -> double {
            switch (op.op) {
              case BinaryOpType::Add:
                return is_floating_point(op.out->dtype()) ? least(op.lhs) + least(op.rhs)
                                                          : kUnknown; // integers wrap
              case BinaryOpType::Mul:
                return is_floating_point(op.out->dtype()) &&
                               (is_square(op) || both_at_least_zero(op))
                           ? 0
                           : kUnknown;
              case BinaryOpType::Div:
                return is_floating_point(op.out->dtype()) && both_at_least_zero(op) ? 0 : kUnknown;
              case BinaryOpType::Max: return std::max(least(op.lhs), least(op.rhs));
              case BinaryOpType::Min: return std::min(least(op.lhs), least(op.rhs));
              default: return kUnknown;
            }
          },
          [&](const TernaryOp& op) -> double {
            if (op.op != TernaryOpType::Where) {
              return kUnknown;
            }
            return is_maximum(op) ? std::max(least(op.in2), least(op.in3))
                                  : std::min(least(op.in2), least(op.in3));
          },
          [&](const ReductionOp& op) -> double {
            if (op.op != BinaryOpType::Add || !is_floating_point(op.out->dtype())) {
              return kUnknown;
            }
            return least(op.arg) >= 0 ? 0 : kUnknown;
          },
          [&](const FullOp& op) -> double { return least(op.fill_value); },
          [&](const Expr& op) -> double {
            return shows_first_operand(op) ? least(op.inputs().front()) : kUnknown;
          },
      });
}

double ValueBounds::least_of_cast(const UnaryOp& op) {
  const double before = least(op.arg);
  if (holds_all_values(op.out->dtype(), op.arg->dtype())) {
    return before;
  }
  const bool rounds = is_floating_point(op.out->dtype()); // others wrap
  return rounds && before >= 0 ? 0 : kUnknown;
}

bool ValueBounds::reciprocal_is_finite(const Val* val) {
  if (const std::optional<double> number = constant_number(val)) {
    return *number == 0 || std::abs(*number) >= kLeastDivisor;
  }
  if (is_integral(val->dtype()) || is_boolean(val->dtype()) || val->dtype() == DataType::Half) {
    return true; // 0, or at least 2^-24
  }
  const Expr* definition = val->definition();
  if (definition == nullptr || definition->outputs().size() != 1) {
    return false;
  }
  return visit(
      *definition, overloaded{
                       [&](const UnaryOp& op) {
                         switch (op.op) {
                           case UnaryOpType::Sqrt: // of the smallest number it is 2^-75
                           case UnaryOpType::Rsqrt: return val->dtype() == DataType::Float;
                           case UnaryOpType::Abs:
                           case UnaryOpType::Neg: return has_reciprocal(op.arg);
                           case UnaryOpType::Cast:
                             return has_reciprocal(op.arg) && !is_complex(op.arg->dtype()) &&
                                    op.arg->dtype() != DataType::Double &&
                                    val->dtype() == DataType::Float;
                           default: return false;
                         }
                       },
                       [&](const TernaryOp& op) {
                         return op.op == TernaryOpType::Where && has_reciprocal(op.in2) &&
                                has_reciprocal(op.in3);
                       },
                       // A sum over no elements is zero.
                       [&](const ReductionOp& op) {
                         return op.op == BinaryOpType::Add && sums_to_one_or_more(op);
                       },
                       [&](const Expr& op) {
                         return shows_first_operand(op) && has_reciprocal(op.inputs().front());
                       },
                   });
}

} // namespace nvfuser::optimize
