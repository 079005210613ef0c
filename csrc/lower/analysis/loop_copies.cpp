#include "lower/analysis/loop_copies.h"

#include <algorithm>

#include "ir/dependencies.h"
#include "ir/scopes.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {

int64_t constant_iterations(const ForLoop& loop) {
  if (!loop.start->is_const_int() || !loop.stop->is_const_int()) {
    return 0;
  }
  return std::max<int64_t>(0, as_int(loop.stop->value()) - as_int(loop.start->value()));
}

LoopCopies::LoopCopies(const Scope& scope) {
  for_each_node(scope, [&](const Expr& expr) {
    const auto* loop = expr.as<ForLoop>();
    if (loop == nullptr || loop->loop_kind == LoopKind::Hardware) {
      return;
    }
    std::vector<const TensorView*>& addressed = addressed_[loop];
    for_each_node(loop->body, [&](const Expr& inner) {
      for_each_element(inner, [&](const TensorIndex& element) {
        const TensorView* tensor = element.view();
        if (tensor->memory_type() == MemoryType::Local &&
            std::ranges::find(addressed, tensor) == addressed.end() &&
            depends_on(element.index(), loop->index)) {
          addressed.push_back(tensor);
        }
      });
    });
  });
}

void LoopCopies::leave_out(const TensorView* tensor) {
  for (auto& [loop, addressed] : addressed_) {
    std::erase(addressed, tensor);
  }
}

const std::vector<const TensorView*>& LoopCopies::addressed_by(const ForLoop& loop) const {
  static const std::vector<const TensorView*> none;
  const auto found = addressed_.find(&loop);
  return found == addressed_.end() ? none : found->second;
}

int64_t LoopCopies::copies(const Expr& statement) const {
  const std::vector<const Scope*> bodies = bodies_of(statement);
  if (bodies.empty()) {
    return 1;
  }
  const auto* loop = statement.as<ForLoop>();
  if (loop != nullptr && loop->loop_kind == LoopKind::Vector) {
    return 1;
  }
  int64_t inside = 0;
  for (const Scope* body : bodies) {
    for (const Expr* expr : *body) {
      inside += copies(*expr);
    }
  }
  const bool is_unrolled = loop != nullptr && addresses_registers(*loop);
  return inside * (is_unrolled ? std::max<int64_t>(1, constant_iterations(*loop)) : 1);
}

} // namespace nvfuser
