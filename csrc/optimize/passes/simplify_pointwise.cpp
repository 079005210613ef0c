#include "optimize/passes/simplify_pointwise.h"

#include <cmath>

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ir/scalar.h"
#include "ops/binary.h"
#include "ops/unary.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

bool is_whole(DataType dtype) {
  return is_integral(dtype) || is_boolean(dtype);
}

// ---- Neutral operands ---------------------------------------------------------------------------

/// Whether `x op c == x` for every x of `dtype`, bit for bit.
bool is_neutral_on_the_right(BinaryOpType op, const Val* c, DataType dtype) {
  const std::optional<double> number = constant_number(c);
  if (!number || is_complex(dtype)) {
    return false;
  }
  const bool is_zero = *number == 0.0;
  switch (op) {
    case BinaryOpType::Add: return is_zero && (is_integral(dtype) || std::signbit(*number));
    case BinaryOpType::Sub: return is_zero && (is_integral(dtype) || !std::signbit(*number));
    case BinaryOpType::Mul:
    case BinaryOpType::Div:
    case BinaryOpType::Pow: return *number == 1.0;
    case BinaryOpType::BitwiseOr:
    case BinaryOpType::BitwiseXor:
    case BinaryOpType::Lshift:
    case BinaryOpType::Rshift: return is_zero && is_whole(dtype);
    case BinaryOpType::BitwiseAnd: return *number == -1.0 && is_integral(dtype);
    case BinaryOpType::LogicalAnd: return !is_zero && is_boolean(dtype);
    case BinaryOpType::LogicalOr: return is_zero && is_boolean(dtype);
    default: return false;
  }
}

bool is_commutative(BinaryOpType op) {
  switch (op) {
    case BinaryOpType::Add:
    case BinaryOpType::Mul:
    case BinaryOpType::BitwiseAnd:
    case BinaryOpType::BitwiseOr:
    case BinaryOpType::BitwiseXor:
    case BinaryOpType::LogicalAnd:
    case BinaryOpType::LogicalOr: return true;
    default: return false;
  }
}

Val* other_than_neutral(const BinaryOp& op) {
  const DataType dtype = op.out->dtype();
  if (is_neutral_on_the_right(op.op, op.rhs, dtype)) {
    return op.lhs;
  }
  if (is_commutative(op.op) && is_neutral_on_the_right(op.op, op.lhs, dtype)) {
    return op.rhs;
  }
  return nullptr;
}

// ---- Operations that undo or repeat each other --------------------------------------------------

bool undoes_itself(const UnaryOp& op) {
  switch (op.op) {
    case UnaryOpType::Neg:
    case UnaryOpType::BitwiseNot: return true;
    case UnaryOpType::LogicalNot: return is_boolean(op.arg->dtype());
    default: return false;
  }
}

bool has_no_effect_twice(const UnaryOp& op) {
  switch (op.op) {
    case UnaryOpType::Abs:
    case UnaryOpType::Ceil:
    case UnaryOpType::Floor:
    case UnaryOpType::Relu:
    case UnaryOpType::Round:
    case UnaryOpType::Trunc: return true;
    default: return false;
  }
}

Val* inner_value(const UnaryOp& op) {
  const Expr* definition = op.arg->definition();
  const auto* inner = definition == nullptr ? nullptr : definition->as<UnaryOp>();
  if (inner == nullptr || inner->op != op.op) {
    return nullptr;
  }
  if (undoes_itself(op) && undoes_itself(*inner)) {
    return inner->arg;
  }
  return has_no_effect_twice(op) ? op.arg : nullptr;
}

// ---- Copies and choices -------------------------------------------------------------------------

Val* copied_value(const LoadStoreOp& op) {
  if (op.op != LoadStoreOpType::Set || !op.out->is_tensor()) {
    return nullptr;
  }
  const auto* out = static_cast<const TensorView*>(op.out);
  const bool is_permuted = out->has_root() && out->root() != out->logical();
  const bool keeps_old_value = is_updated(static_cast<const TensorView*>(op.arg));
  return is_permuted || keeps_old_value ? nullptr : op.arg;
}

/// Which kernels a plan has is not what the definition knew, so that they run one after the other.
template <typename Node>
Val* ordered_value(const Node& op) {
  return is_updated(op.ins.front()) ? nullptr : op.ins.front();
}

Val* chosen_value(const TernaryOp& op) {
  if (op.op != TernaryOpType::Where) {
    return nullptr;
  }
  if (op.in2 == op.in3) {
    return op.in2;
  }
  if (!op.in1->is_scalar() || !op.in1->is_const()) {
    return nullptr;
  }
  return as_bool(op.in1->value()) ? op.in2 : op.in3;
}

/// The operand that the result equals; nullptr: there is none.
Val* equal_operand(const Expr& expr) {
  return visit(
      expr, overloaded{
                [](const UnaryOp& op) { return inner_value(op); },
                [](const BinaryOp& op) { return other_than_neutral(op); },
                [](const TernaryOp& op) { return chosen_value(op); },
                [](const LoadStoreOp& op) { return copied_value(op); },
                [](const WaitForPriorGridOp& op) { return ordered_value(op); },
                [](const LaunchDependentGridOp& op) { return ordered_value(op); },
                [](const Expr&) -> Val* { return nullptr; },
            });
}

// ---- Rewriting ----------------------------------------------------------------------------------

bool remove_if_neutral(const Expr& expr) {
  auto* out = static_cast<TensorView*>(expr.output(0));
  Val* equal = equal_operand(expr);
  if (equal == nullptr || !equal->is_tensor()) {
    return false;
  }
  auto* operand = static_cast<TensorView*>(equal);
  const bool is_bound = operand->is_fusion_input() || operand->is_fusion_output();
  const bool stays_a_copy = out->is_fusion_output() && is_bound && expr.is_a<LoadStoreOp>();
  if (stays_a_copy || !may_stand_for(operand, out)) {
    return false;
  }
  replace(out, operand);
  return true;
}

/// A square is a product, which other squares of the same number are equal to.
bool make_product(const Expr& expr) {
  const auto* op = expr.as<BinaryOp>();
  if (op == nullptr || op->op != BinaryOpType::Pow || !op->lhs->is_tensor() ||
      constant_number(op->rhs) != 2.0 || is_complex(op->out->dtype()) ||
      op->lhs->dtype() != op->out->dtype()) {
    return false;
  }
  const MadeFor line(&expr);
  define_as(
      static_cast<TensorView*>(op->out),
      static_cast<TensorView*>(
          ops::make_binary(BinaryOpType::Mul, ops::Promotion::Keep, op->lhs, op->lhs)));
  return true;
}

ScalarValue folded(const UnaryOp& op) {
  if (!op.arg->is_const()) {
    return {};
  }
  return op.op == UnaryOpType::Cast
             ? convert_value(op.arg->value(), op.arg->dtype(), op.out->dtype())
             : scalar::fold(op.op, op.arg->value(), op.out->dtype());
}

ScalarValue folded(const BinaryOp& op) {
  if (!op.lhs->is_const() || !op.rhs->is_const() || op.lhs->dtype() != op.rhs->dtype()) {
    return {};
  }
  const DataType dtype = is_comparison(op.op) ? op.lhs->dtype() : op.out->dtype();
  return scalar::fold(op.op, op.lhs->value(), op.rhs->value(), dtype);
}

/// The value of a scalar that is computed from constants, or chosen by one; nullptr: it is not
/// known (i0 + 1), or there is none (1 / 0).
Val* known_value(const Expr& expr) {
  if (const auto* op = expr.as<TernaryOp>()) {
    Val* chosen = chosen_value(*op);
    return chosen != nullptr && chosen->dtype() == op->out->dtype() ? chosen : nullptr;
  }
  const ScalarValue value = visit(
      expr, overloaded{
                [](const UnaryOp& op) { return folded(op); },
                [](const BinaryOp& op) { return folded(op); },
                [](const Expr&) { return ScalarValue{}; },
            });
  return has_value(value) ? expr.fusion()->new_constant(value, expr.output(0)->dtype()) : nullptr;
}

bool fold_scalar(const Expr& expr) {
  Val* out = expr.output(0);
  Val* known = out->is_scalar() && !out->all_uses().empty() ? known_value(expr) : nullptr;
  if (known == nullptr) {
    return false;
  }
  expr.fusion()->replace_uses(out, known, std::vector<Expr*>(out->all_uses()));
  return true;
}

} // namespace

bool simplify_pointwise(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : fusion.exprs()) { // tensors are computed from them
    const Val* out = expr->output(0);
    if (!out->is_tensor() && out->definition() == expr) {
      has_changed |= fold_scalar(*expr);
    }
  }
  for (Expr* expr : exprs_from_outputs(fusion)) {
    if (expr->output(0)->definition() == expr) {
      has_changed |= remove_if_neutral(*expr) || make_product(*expr);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
