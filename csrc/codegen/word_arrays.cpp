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
  visit(body, 0);
}

/// `lanes`: of the vector that the statements stand for; 0: they are no vector.
void WordArrays::visit(const Scope& scope, int64_t lanes) {
  for (const Expr* expr : scope) {
    if (const auto* allocate = expr->as<Allocate>();
        allocate != nullptr && is_array_of_words(*allocate)) {
      arrays_.insert(allocate->buffer);
    }
    for (const Val* out : expr->outputs()) {
      if (out->vtype() == ValType::TensorIndex) {
        const bool is_filled = lanes > 0 && lanes % kOfWord == 0 && expr->is_a<LoadStoreOp>();
        (is_filled ? filled_ : others_).insert(static_cast<const TensorIndex*>(out)->view());
      }
    }
    const auto* loop = expr->as<ForLoop>();
    const bool is_vector = loop != nullptr && loop->loop_kind == LoopKind::Vector;
    for (const Scope* body : bodies_of(*expr)) {
      visit(*body, is_vector ? as_int(loop->stop->value()) : lanes);
    }
  }
}

} // namespace nvfuser
