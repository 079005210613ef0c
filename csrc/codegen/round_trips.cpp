#include "codegen/round_trips.h"

#include <algorithm>

#include "codegen/element_statements.h"
#include "ir/all_nodes.h"
#include "ir/scopes.h"

namespace nvfuser {
namespace {

bool is_float(DataType type) {
  return type == DataType::Float || type == DataType::BFloat16;
}

/// Whether the operands of a statement are read as Floats.
bool computes_in_float(const Expr& expr) {
  const DataType to = expr.outputs().front()->dtype();
  if (const auto* unary = expr.as<UnaryOp>()) {
    const bool is_cast = unary->op == UnaryOpType::Cast || unary->op == UnaryOpType::RefCast;
    return unary->op != UnaryOpType::BitCast && (is_cast ? to == DataType::Float : is_float(to));
  }
  const auto* binary = expr.as<BinaryOp>();
  return binary != nullptr && !is_comparison(binary->op) && is_float(to);
}

/// The Float that a statement rounds; nullptr: it does something else.
const Val* rounded_operand(const Expr& expr) {
  const auto* cast = expr.as<UnaryOp>();
  const bool rounds = cast != nullptr && cast->op == UnaryOpType::Cast &&
                      cast->out->dtype() == DataType::BFloat16 &&
                      cast->arg->dtype() == DataType::Float;
  return rounds && tensor_of_element(cast->arg) != nullptr ? cast->arg : nullptr;
}

/// Whether a tensor is computed element by element: the statements of a reduction write a variable
/// several times.
bool is_pointwise(const TensorView* tensor) {
  const Expr* definition = tensor->definition();
  return definition != nullptr &&
         (definition->is_a<UnaryOp>() || definition->is_a<BinaryOp>() ||
          definition->is_a<TernaryOp>() || definition->is_a<LoadStoreOp>());
}

} // namespace

RoundTrips::RoundTrips(const Kernel& kernel) {
  find_in(kernel.body);
  std::erase_if(sources_, [&](const auto& source) {
    return others_.contains(tensor_of_element(source.first));
  });
  std::erase_if(unread_, [&](const Expr* statement) {
    const auto* allocate = statement->as<Allocate>();
    return others_.contains(
        allocate != nullptr ? allocate->buffer : tensor_of_element(statement->outputs().front()));
  });
}

void RoundTrips::find_in(const Scope& scope) {
  Variables variables;
  std::vector<const TensorView*> rounded;
  for (const Expr* expr : scope) {
    const auto* allocate = expr->as<Allocate>();
    if (allocate != nullptr && allocate->memory_type == MemoryType::Local &&
        allocate->size->is_const_int(1)) {
      variables[allocate->buffer].allocate = allocate;
    } else if (
        expr->is_a<UnaryOp>() || expr->is_a<BinaryOp>() || expr->is_a<TernaryOp>() ||
        expr->is_a<LoadStoreOp>()) {
      note(*expr, variables);
      if (rounded_operand(*expr) != nullptr) {
        if (const TensorView* tensor = tensor_of_element(expr->outputs().front())) {
          rounded.push_back(tensor);
        }
      }
    }
    for (const Scope* body : bodies_of(*expr)) {
      find_in(*body);
    }
  }
  for (const TensorView* tensor : rounded) {
    decide(tensor, variables);
  }
}

void RoundTrips::note(const Expr& statement, Variables& variables) const {
  for (const Val* operand : statement.inputs()) {
    const auto read = variables.find(tensor_of_element(operand));
    if (read != variables.end() && computes_in_float(statement)) {
      read->second.reads.emplace_back(&statement, operand);
    }
  }
  const auto written = variables.find(tensor_of_element(statement.outputs().front()));
  if (written != variables.end()) {
    Variable& variable = written->second;
    variable.has_one_value = variable.made_by == nullptr && is_unconditional(statement);
    variable.made_by = &statement;
  }
}

void RoundTrips::decide(const TensorView* tensor, const Variables& variables) {
  const auto found = variables.find(tensor);
  const auto is_constant = [&](const Variable& variable) {
    return variable.allocate != nullptr && variable.has_one_value;
  };
  if (found != variables.end() && is_constant(found->second) && !tensor->is_fusion_output()) {
    const Variable& variable = found->second;
    const Val* source = rounded_operand(*variable.made_by);
    const TensorView* source_tensor = tensor_of_element(source);
    const auto from = variables.find(source_tensor);
    std::unordered_set<const Expr*> readers; // only counted
    for (const auto& [statement, operand] : variable.reads) {
      readers.insert(statement);
    }
    if (from != variables.end() && is_constant(from->second) && is_pointwise(source_tensor) &&
        !readers.empty() && readers.size() == tensor->uses().size()) {
      for (const auto& [statement, operand] : variable.reads) {
        sources_.emplace(operand, source);
      }
      unread_.insert({variable.made_by, variable.allocate});
      return;
    }
  }
  others_.insert(tensor);
}

} // namespace nvfuser
