#include "optimize/passes/use_reciprocals.h"

#include <unordered_map>

#include "base/options.h"
#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/operands.h"
#include "ops/unary.h"
#include "optimize/rewrite.h"
#include "optimize/value_bounds.h"

namespace nvfuser::optimize {
namespace {

const UnaryOp* as_root(const Val* val) {
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<UnaryOp>();
  return op != nullptr && op->op == UnaryOpType::Sqrt && op->out->dtype() == DataType::Float &&
                 op->arg->dtype() == DataType::Float
             ? op
             : nullptr;
}

TensorView* multiplied(Val* a, Val* b) {
  return static_cast<TensorView*>(ops::make_binary(BinaryOpType::Mul, ops::Promotion::Keep, a, b));
}

// ---- Divisors
// ---------------------------------------------------------------------------------------

/// Whether one element of `divisor` divides several of the result.
bool serves_many(const TensorView* divisor, const TensorView* result) {
  const IterDomains axes = TensorDomain::no_reductions(divisor->logical());
  const IterDomains& results = result->logical();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i]->is_broadcast() && !results.at(i)->is_broadcast()) {
      return true;
    }
  }
  return false;
}

class Rewriter {
 public:
  bool rewrite(const Expr& expr);

 private:
  TensorView* reciprocal_of(TensorView* tensor);
  TensorView* product_for(const BinaryOp& quotient);

  ValueBounds bounds_;
  std::unordered_map<const TensorView*, TensorView*> reciprocals_; // only looked up
};

/// 1 / `tensor`, computed before the views that lead to it.
TensorView* Rewriter::reciprocal_of(TensorView* tensor) {
  TensorView*& result = reciprocals_[tensor];
  if (result != nullptr) {
    return result;
  }
  std::vector<const Expr*> views; // the last one first
  TensorView* source = tensor;
  while (source->definition() != nullptr && changes_broadcast_axes(*source->definition())) {
    views.push_back(source->definition());
    source = static_cast<TensorView*>(source->definition()->inputs().front());
  }
  const UnaryOp* root = as_root(source);
  result =
      root != nullptr ? ops::rsqrt(static_cast<TensorView*>(root->arg)) : ops::reciprocal(source);
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    const MadeFor line(*view);
    result = apply_to(**view, {{(*view)->inputs().front(), result}}).front();
  }
  return result;
}

// ---- Quotients ----------------------------------------------------------------------------------

/// The tensor that stands for a quotient; nullptr: it stays.
TensorView* Rewriter::product_for(const BinaryOp& quotient) {
  const MadeFor line(&quotient);
  Val* divisor = quotient.rhs;
  if (divisor->is_scalar() && divisor->is_const() && !is_complex(divisor->dtype())) {
    const double number = as_double(convert_value(divisor->value(), DataType::Float));
    return number != 0 && bounds_.has_reciprocal(divisor)
               ? multiplied(quotient.lhs, ops::number(1.0 / number))
               : nullptr;
  }
  if (!divisor->is_tensor() || divisor->dtype() != DataType::Float) {
    return nullptr;
  }
  auto* tensor = static_cast<TensorView*>(divisor);
  if (as_root(tensor) != nullptr) {
    return multiplied(quotient.lhs, reciprocal_of(tensor));
  }
  const bool is_allowed = bounds_.has_reciprocal(tensor) || has_option(EnableOption::FastMath);
  return is_allowed && serves_many(tensor, static_cast<TensorView*>(quotient.out))
             ? multiplied(quotient.lhs, reciprocal_of(tensor))
             : nullptr;
}

/// 1 / sqrt(x) in either spelling.
const UnaryOp* inverted_root(const Expr& expr) {
  if (const auto* op = expr.as<UnaryOp>()) {
    return op->op == UnaryOpType::Reciprocal ? as_root(op->arg) : nullptr;
  }
  const auto* op = expr.as<BinaryOp>();
  const bool is_inverse =
      op != nullptr && op->op == BinaryOpType::Div && constant_number(op->lhs) == 1.0;
  return is_inverse ? as_root(op->rhs) : nullptr;
}

bool Rewriter::rewrite(const Expr& expr) {
  auto* out = static_cast<TensorView*>(expr.output(0));
  if (const UnaryOp* root = inverted_root(expr)) {
    const MadeFor line(&expr);
    define_as(out, ops::rsqrt(static_cast<TensorView*>(root->arg)));
    return true;
  }
  const auto* op = expr.as<BinaryOp>();
  const bool is_quotient = op != nullptr && op->op == BinaryOpType::Div && op->lhs->is_tensor() &&
                           op->lhs->dtype() == DataType::Float;
  TensorView* product = is_quotient ? product_for(*op) : nullptr;
  if (product == nullptr) {
    return false;
  }
  define_as(out, product);
  return true;
}

} // namespace

bool use_reciprocals(Fusion& fusion) {
  Rewriter rewriter;
  bool has_changed = false;
  for (Expr* expr : exprs_from_outputs(fusion)) {
    const Val* out = expr->output(0);
    if (out->is_tensor() && out->dtype() == DataType::Float && out->definition() == expr) {
      has_changed |= rewriter.rewrite(*expr);
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
