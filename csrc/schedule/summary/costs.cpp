#include "schedule/summary/costs.h"

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"

namespace nvfuser::schedule {
namespace {

Cost cost_of(const UnaryOp& op) {
  using enum UnaryOpType;
  switch (op.op) {
    case Exp:
    case Exp2: return {.slots = 8, .mufu = 1};
    case Reciprocal:
    case Rsqrt:
    case Sqrt: return {.slots = 8, .mufu = 1};
    case Log:
    case Log2:
    case Log10: return {.slots = 12, .mufu = 1};
    case Sigmoid:
    case Silu: return {.slots = 18, .mufu = 2};
    case Tanh:
    case Expm1:
    case Log1p: return {.slots = 25, .mufu = 2};
    case Erf:
    case Erfc:
    case Gelu:
    case Sin:
    case Cos: return {.slots = 25, .mufu = 0};
    case Acos:
    case Acosh:
    case Asin:
    case Asinh:
    case Atan:
    case Atanh:
    case Cosh:
    case Erfcinv:
    case Erfinv:
    case Lgamma:
    case Sinh:
    case Tan: return {.slots = 40, .mufu = 2};
    default: return {.slots = 1};
  }
}

Cost cost_of(const BinaryOp& op) {
  using enum BinaryOpType;
  const bool is_integer = is_integral(op.out->dtype());
  switch (op.op) {
    case Div:
    case Mod:
    case Remainder:
    case Fmod: return {.slots = is_integer ? 20.0 : 10.0, .mufu = 1};
    case Pow:
    case Atan2: return {.slots = 60, .mufu = 2};
    default: return {.slots = 1};
  }
}

constexpr double kDoubleRate = 2; // of float's; on a GPU for graphics far less

} // namespace

bool moves_elements(const Expr* expr) {
  const OpSemantics& semantics = semantics_of(*expr);
  const bool is_copy =
      semantics.elements == ElementSource::Copied && semantics.read == OperandRead::Same;
  return is_copy || semantics.elements == ElementSource::Reshaped;
}

Cost cost_of(const Expr* expr) {
  Cost cost{.slots = 1};
  if (const auto* unary = expr->as<UnaryOp>()) {
    cost = cost_of(*unary);
  } else if (const auto* binary = expr->as<BinaryOp>()) {
    cost = cost_of(*binary);
  } else if (expr->is_a<RNGOp>()) {
    cost = {.slots = 20, .mufu = 0}; // a cipher for four elements
  } else if (moves_elements(expr)) {
    cost = {};
  }
  const Val* out = expr->outputs().front();
  if (out->dtype() == DataType::Double) {
    cost.slots *= kDoubleRate;
  }
  return cost;
}

} // namespace nvfuser::schedule
