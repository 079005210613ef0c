#include "codegen/normal_probabilities.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "codegen/element_statements.h"
#include "ir/all_nodes.h"
#include "ir/scopes.h"

namespace nvfuser {
namespace {

/// A statement of a scope that makes an element in a register, and the allocation of that.
struct Made {
  const Expr* statement = nullptr;
  const Allocate* allocate = nullptr;
};
using MadeInScope = std::unordered_map<const TensorView*, Made>; // only looked up

/// Whether every use of `tensor` takes it as a factor, and rounds the product.
bool is_only_factor(const TensorView* tensor) {
  if (is_low_precision(tensor->dtype())) {
    return true;
  }
  return !tensor->is_fusion_output() && !tensor->uses().empty() &&
         std::ranges::all_of(tensor->uses(), [&](const Expr* use) {
           const auto* binary = use->as<BinaryOp>();
           const auto* unary = use->as<UnaryOp>();
           const bool scales =
               binary != nullptr && (binary->op == BinaryOpType::Mul ||
                                     (binary->op == BinaryOpType::Div && binary->rhs != tensor));
           const bool keeps = unary != nullptr &&
                              (unary->op == UnaryOpType::Cast || unary->op == UnaryOpType::Neg);
           const Val* out = use->outputs().front();
           return (scales || keeps || use->is_a<LoadStoreOp>()) && out->is_tensor() &&
                  is_only_factor(static_cast<const TensorView*>(out));
         });
}

/// The operand beside a constant that is `number` in Float; nullptr: the statement is another.
const Val* beside(const Expr* statement, BinaryOpType op, double number) {
  const auto* binary = statement == nullptr ? nullptr : statement->as<BinaryOp>();
  if (binary == nullptr || binary->op != op) {
    return nullptr;
  }
  const auto is_number = [&](const Val* val) {
    return val->is_const() && is_floating_point(val->dtype()) &&
           static_cast<float>(as_double(val->value())) == static_cast<float>(number);
  };
  return is_number(binary->lhs) ? binary->rhs : is_number(binary->rhs) ? binary->lhs : nullptr;
}

/// The parts of 0.5 * (1 + erf(x * sqrt(1/2))).
struct Written {
  const Val* x = nullptr;
  std::array<Made, 3> parts; // the product, erf, the sum
};

/// The parts whose last statement is `halved`. No value: `halved` is another statement, or a part
/// stands in another scope or is read again.
std::optional<Written> written(const BinaryOp& halved, const MadeInScope& made) {
  Written found;
  const auto part = [&](size_t position, const Val* element) -> const Expr* {
    const auto known = element == nullptr ? made.end() : made.find(tensor_of_element(element));
    if (known == made.end() || known->second.statement == nullptr) {
      return nullptr;
    }
    found.parts.at(position) = known->second;
    return known->second.statement;
  };
  const Expr* sum = part(2, beside(&halved, BinaryOpType::Mul, 0.5));
  const Expr* erf = part(1, beside(sum, BinaryOpType::Add, 1.0));
  const auto* function = erf == nullptr ? nullptr : erf->as<UnaryOp>();
  if (function == nullptr || function->op != UnaryOpType::Erf) {
    return std::nullopt;
  }
  found.x = beside(part(0, function->arg), BinaryOpType::Mul, std::numbers::sqrt2 / 2);
  const bool is_float = found.x != nullptr && tensor_of_element(found.x) != nullptr &&
                        found.x->dtype() == DataType::Float;
  return is_float ? std::optional(found) : std::nullopt;
}

} // namespace

NormalProbabilities::NormalProbabilities(const Kernel& kernel, const RoundedValues& rounded) {
  find_in(kernel.body, rounded);
}

void NormalProbabilities::find_in(const Scope& scope, const RoundedValues& rounded) {
  MadeInScope made; // what one statement reads
  for (const Expr* expr : scope) {
    if (const auto* allocate = expr->as<Allocate>()) {
      if (allocate->size->is_const_int(1) && allocate->buffer->uses().size() == 1) {
        made[allocate->buffer].allocate = allocate;
      }
    } else if ((expr->is_a<BinaryOp>() || expr->is_a<UnaryOp>()) && is_unconditional(*expr)) {
      const TensorView* out = tensor_of_element(expr->outputs().front());
      if (const auto known = made.find(out); known != made.end()) {
        known->second.statement = expr;
      }
      const auto* halved = expr->as<BinaryOp>();
      const std::optional<Written> found =
          halved != nullptr && out != nullptr && rounded.contains(out) && is_only_factor(out)
              ? written(*halved, made)
              : std::nullopt;
      if (found) {
        arguments_.emplace(halved, found->x);
        for (const Made& part : found->parts) {
          unread_.insert({part.statement, part.allocate});
        }
      }
    }
    for (const Scope* body : bodies_of(*expr)) {
      find_in(*body, rounded);
    }
  }
}

} // namespace nvfuser
