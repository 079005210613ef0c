#include "codegen/conditional_loads.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/target.h"
#include "ir/scopes.h"

namespace nvfuser {
namespace {

/// Whether one access can fill the storage, in registers.
bool is_one_access(const Allocate& allocate) {
  return allocate.memory_type == MemoryType::Local && allocate.size->is_const_int() &&
         as_int(allocate.size->value()) * size_bytes(allocate.buffer->dtype()) <=
             Target::cuda().max_vector_bytes;
}

const TensorView* tensor_of(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val)->view()
                                              : nullptr;
}

bool reads_global_memory(const Expr& expr) {
  return std::ranges::any_of(expr.inputs(), [](const Val* operand) {
    const TensorView* from = tensor_of(operand);
    return from != nullptr && from->memory_type() == MemoryType::Global;
  });
}

class Finder {
 public:
  [[nodiscard]] std::unordered_set<const TensorView*> find(const Scope& body) {
    walk(body);
    return std::move(found_);
  }

 private:
  struct Storage {
    size_t depth = 0;                // conditions around its declaration
    const Expr* condition = nullptr; // the outermost one further in under which it is loaded
  };

  void walk(const Scope& scope) {
    for (const Expr* expr : scope) {
      if (const auto* allocate = expr->as<Allocate>();
          allocate != nullptr && is_one_access(*allocate)) {
        storage_[allocate->buffer] = {.depth = conditions_.size()};
      }
      note_reads(*expr);
      note_load(*expr);
      const bool is_condition = expr->is_a<IfThenElse>();
      if (is_condition) {
        conditions_.push_back(expr);
      }
      for (const Scope* body : bodies_of(*expr)) {
        walk(*body);
      }
      if (is_condition) {
        conditions_.pop_back();
      }
    }
  }

  void note_reads(const Expr& expr) {
    for (const Val* operand : expr.inputs()) {
      const auto known = storage_.find(tensor_of(operand));
      if (known == storage_.end() || known->second.condition == nullptr) {
        continue;
      }
      if (std::ranges::find(conditions_, known->second.condition) == conditions_.end()) {
        found_.insert(known->first);
      }
    }
  }

  void note_load(const Expr& expr) {
    if (!reads_global_memory(expr)) {
      return;
    }
    for (const Val* out : expr.outputs()) {
      const auto known = storage_.find(tensor_of(out));
      if (known != storage_.end() && conditions_.size() > known->second.depth) {
        known->second.condition = conditions_[known->second.depth];
      }
    }
  }

  std::unordered_map<const TensorView*, Storage> storage_; // only looked up
  std::vector<const Expr*> conditions_;                    // around what is walked over
  std::unordered_set<const TensorView*> found_;
};

} // namespace

ConditionalLoads::ConditionalLoads(const Scope& body) : found_(Finder().find(body)) {}

} // namespace nvfuser
