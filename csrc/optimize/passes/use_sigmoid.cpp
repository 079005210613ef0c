#include "optimize/passes/use_sigmoid.h"

#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/operands.h"
#include "ops/unary.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

// ---- Patterns: each returns the operand that it found, nullptr if the value is something else
// ----

TensorView* operand_of(const Val* val, UnaryOpType wanted) {
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<UnaryOp>();
  const bool fits = op != nullptr && op->op == wanted && op->arg->is_tensor() &&
                    op->arg->dtype() == op->out->dtype();
  return fits ? static_cast<TensorView*>(op->arg) : nullptr;
}

const BinaryOp* binary(const Val* val, BinaryOpType wanted) {
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
  return op != nullptr && op->op == wanted ? op : nullptr;
}

/// x of c + x, and of c * x, where `op` is commutative.
TensorView* other_than(const Val* val, BinaryOpType op, double c) {
  const BinaryOp* found = binary(val, op);
  if (found == nullptr) {
    return nullptr;
  }
  for (const auto& [constant, other] :
       {std::pair{found->lhs, found->rhs}, std::pair{found->rhs, found->lhs}}) {
    if (constant_number(constant) == c && other->is_tensor()) {
      return static_cast<TensorView*>(other);
    }
  }
  return nullptr;
}

/// x of 1 + exp(-x)
TensorView* in_denominator(const Val* val) {
  const TensorView* exponential = other_than(val, BinaryOpType::Add, 1.0);
  const TensorView* negated =
      exponential == nullptr ? nullptr : operand_of(exponential, UnaryOpType::Exp);
  return negated == nullptr ? nullptr : operand_of(negated, UnaryOpType::Neg);
}

/// x of 1 + tanh(x)
TensorView* in_shifted_tanh(const Val* val) {
  const TensorView* tanh = other_than(val, BinaryOpType::Add, 1.0);
  return tanh == nullptr ? nullptr : operand_of(tanh, UnaryOpType::Tanh);
}

// ---- What stands for them -----------------------------------------------------------------------

TensorView* product(Val* a, Val* b) {
  return static_cast<TensorView*>(ops::make_binary(BinaryOpType::Mul, ops::Promotion::Keep, a, b));
}

/// 2 x; of a product with a constant, the product with twice the constant, which is as exact.
TensorView* twice(TensorView* x) {
  if (const BinaryOp* op = binary(x, BinaryOpType::Mul)) {
    for (const auto& [constant, other] :
         {std::pair{op->lhs, op->rhs}, std::pair{op->rhs, op->lhs}}) {
      const std::optional<double> number = constant_number(constant);
      if (number && other->is_tensor()) {
        return product(other, ops::number(2.0 * *number));
      }
    }
  }
  return product(x, ops::number(2.0));
}

TensorView* form_of(const UnaryOp& op) {
  TensorView* x = op.op == UnaryOpType::Reciprocal ? in_denominator(op.arg) : nullptr;
  return x == nullptr ? nullptr : ops::sigmoid(x);
}

TensorView* form_of_quotient(const BinaryOp& op) {
  TensorView* x = in_denominator(op.rhs);
  if (x == nullptr) {
    return nullptr;
  }
  if (constant_number(op.lhs) == 1.0) {
    return ops::sigmoid(x);
  }
  return op.lhs == x ? ops::silu(x) : nullptr;
}

/// 0.5 * (1 + tanh(u)), (0.5 * x) * (1 + tanh(u)), 0.5 * (x * (1 + tanh(u))), x * sigmoid(x)
TensorView* form_of_product(const BinaryOp& op) {
  for (const auto& [a, b] : {std::pair{op.lhs, op.rhs}, std::pair{op.rhs, op.lhs}}) {
    const bool is_half = constant_number(a) == 0.5;
    if (TensorView* u = in_shifted_tanh(b)) {
      if (is_half) {
        return ops::sigmoid(twice(u));
      }
      if (TensorView* x = other_than(a, BinaryOpType::Mul, 0.5)) {
        return product(x, ops::sigmoid(twice(u)));
      }
    }
    if (const BinaryOp* inner = is_half ? binary(b, BinaryOpType::Mul) : nullptr) {
      for (const auto& [x, shifted] :
           {std::pair{inner->lhs, inner->rhs}, std::pair{inner->rhs, inner->lhs}}) {
        if (TensorView* u = in_shifted_tanh(shifted)) {
          return product(x, ops::sigmoid(twice(u)));
        }
      }
    }
    if (b->is_tensor() && a == operand_of(b, UnaryOpType::Sigmoid)) {
      return ops::silu(static_cast<TensorView*>(a));
    }
  }
  return nullptr;
}

TensorView* form_of(const BinaryOp& op) {
  switch (op.op) {
    case BinaryOpType::Div: return form_of_quotient(op);
    case BinaryOpType::Mul: return form_of_product(op);
    default: return nullptr;
  }
}

TensorView* form_of(const Expr&) {
  return nullptr;
}

} // namespace

bool use_sigmoid(Fusion& fusion) {
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    const Val* out = expr->output(0);
    if (!out->is_tensor() || out->dtype() != DataType::Float || out->definition() != expr) {
      continue;
    }
    const MadeFor line(expr);
    if (TensorView* form = visit(*expr, [](const auto& op) { return form_of(op); })) {
      define_as(static_cast<TensorView*>(expr->output(0)), form);
      has_changed = true;
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
