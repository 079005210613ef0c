#include "lower/passes/skip_idle_threads.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "eval/simplify.h"
#include "ir/dependencies.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/index_forms.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

/// Conditions that have to hold for any thread of one loop to do something.
class LoopTests {
 public:
  LoopTests(Kernel& kernel, IndexForms& forms, const ThreadLoop& loop)
      : simplifier_(*kernel.simplifier), forms_(forms) {
    for (const ParallelType type : kBlockDimTypes) {
      inner_.push_back(kernel.parallel_index(type));
    }
    for_each_node(loop.body, [&](const Expr& node) {
      if (const auto* serial = node.as<ForLoop>()) {
        inner_.push_back(serial->index);
      } else if (const auto* allocate = node.as<Allocate>()) {
        temporary_.insert(allocate->buffer);
      }
    });
    visit(loop.body, {});
  }

  /// nullptr: nothing.
  [[nodiscard]] Val* all() const {
    return all_of(common_.value_or(std::vector<Val*>{}));
  }

 private:
  /// `tests`: what has to hold for `scope` to run.
  void visit(const Scope& scope, const std::vector<Val*>& tests) {
    for (Expr* expr : scope) {
      if (common_ && common_->empty()) {
        return; // nothing can come back
      }
      if (const auto* branch = expr->as<IfThenElse>()) {
        visit(branch->then_body, with_tests_of(branch->condition, tests));
        visit(branch->else_body, tests);
        continue;
      }
      for (const Scope* body : bodies_of(*expr)) {
        visit(*body, tests);
      }
      for_each_write(*expr, [&](const TensorIndex& element) {
        if (temporary_.count(element.view()) == 0) {
          keep_common(tests);
        }
      });
    }
  }

  std::vector<Val*> with_tests_of(Val* condition, std::vector<Val*> tests) {
    for (Val* term : terms_of(condition)) {
      Val* test = of_whole_loop(term);
      if (test != nullptr && !contains_term(tests, test)) {
        tests.push_back(test);
      }
    }
    return tests;
  }

  /// A condition that follows from `test` in any thread and iteration; nullptr: none that is worth
  /// a test.
  Val* of_whole_loop(Val* test) {
    const Expr* definition = test->definition();
    const auto* comparison = definition == nullptr ? nullptr : definition->as<BinaryOp>();
    if (comparison == nullptr || comparison->op != BinaryOpType::LT ||
        comparison->lhs->dtype() != DataType::Index || !elements_in(test).empty()) {
      return nullptr;
    }
    const bool is_uniform = std::none_of(
        inner_.begin(), inner_.end(), [&](const Val* index) { return depends_on(test, index); });
    if (is_uniform) { // a compiler moves it out itself
      return nullptr;
    }
    Val* least = simplifier_.min_over(comparison->lhs, inner_);
    Val* bound = simplifier_.max_over(comparison->rhs, inner_);
    if (least == nullptr || bound == nullptr) {
      return nullptr;
    }
    Val* holds = simplifier_.simplify(scalar::lt(least, bound));
    return holds->is_const() || forms_.needs_guard(holds) ? nullptr : holds;
  }

  void keep_common(const std::vector<Val*>& tests) {
    if (!common_) {
      common_ = tests;
      return;
    }
    std::erase_if(*common_, [&](const Val* test) { return !contains_term(tests, test); });
  }

  IndexSimplifier& simplifier_;
  IndexForms& forms_;
  std::vector<Val*> inner_;                         // indices that change within the loop
  std::unordered_set<const TensorView*> temporary_; // gone with the thread
  std::optional<std::vector<Val*>> common_;         // of the statements so far
};

void skip(Kernel& kernel, IndexForms& forms, Scope& scope) {
  for (Expr*& expr : scope) {
    const auto* loop = expr->as<ThreadLoop>();
    if (loop == nullptr) {
      for (Scope* body : bodies_of(*expr)) {
        skip(kernel, forms, *body);
      }
    } else if (Val* condition = LoopTests(kernel, forms, *loop).all()) {
      expr = kernel.make<IfThenElse>({.condition = condition, .then_body = Scope{expr}});
    }
  }
}

} // namespace

void skip_idle_threads(Kernel& kernel) {
  if (!kernel.target().has_hardware_threads) {
    IndexForms forms(kernel);
    skip(kernel, forms, kernel.body);
  }
}

} // namespace nvfuser
