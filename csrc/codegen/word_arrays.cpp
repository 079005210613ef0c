#include "codegen/word_arrays.h"

#include "ir/scopes.h"

namespace nvfuser {
namespace {

constexpr int64_t kOfWord = 2; // elements

bool is_array_of_words(const Allocate& allocate) {
  const DataType type = allocate.buffer->dtype();
  return allocate.memory_type == MemoryType::Local && !allocate.is_spilled &&
         (type == DataType::BFloat16 || type == DataType::Half) && allocate.size->is_const_int() &&
         as_int(allocate.size->value()) % kOfWord == 0;
}

} // namespace

WordArrays::WordArrays(const Scope& body) {
  visit(body, 0, /*is_alternative=*/false);
}

/// `lanes`: of the vector that the statements stand for; 0: they are no vector. `is_alternative`:
/// they run where a condition does not hold under which a vector may do the same.
void WordArrays::visit(const Scope& scope, int64_t lanes, bool is_alternative) {
  for (const Expr* expr : scope) {
    if (const auto* allocate = expr->as<Allocate>();
        allocate != nullptr && is_array_of_words(*allocate)) {
      arrays_.insert(allocate->buffer);
    }
    for (const Val* out : expr->outputs()) {
      if (out->vtype() == ValType::TensorIndex) {
        const TensorView* view = static_cast<const TensorIndex*>(out)->view();
        const bool is_filled = lanes > 0 && lanes % kOfWord == 0 && expr->is_a<LoadStoreOp>();
        if (is_filled) {
          filled_.insert(view);
        } else if (!is_alternative || !filled_.contains(view)) {
          others_.insert(view);
        }
      }
    }
    const auto* loop = expr->as<ForLoop>();
    const bool is_vector = loop != nullptr && loop->loop_kind == LoopKind::Vector;
    const auto* branch = expr->as<IfThenElse>();
    for (const Scope* body : bodies_of(*expr)) {
      const bool is_else = branch != nullptr && body == &branch->else_body;
      visit(*body, is_vector ? as_int(loop->stop->value()) : lanes, is_alternative || is_else);
    }
  }
}

} // namespace nvfuser
