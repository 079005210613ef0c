#include "lower/passes/skip_idle_threads.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "eval/simplify.h"
#include "ir/dependencies.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/checked_copies.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/index_forms.h"
#include "lower/analysis/placed_owners.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

/// Conditions that have to hold for any thread (or block) of one loop to do something.
class LoopTests {
 public:
  /// `types`: the indices of the loop.
  LoopTests(
      Kernel& kernel,
      IndexForms& forms,
      const PlacedOwners& owners,
      const Scope& body,
      const std::array<ParallelType, 3>& types)
      : kernel_(kernel),
        simplifier_(*kernel.simplifier),
        forms_(forms),
        owners_(owners),
        types_(types),
        is_of_threads_(is_block_dim(types.front())) {
    for (const ParallelType type : types) {
      inner_.push_back(kernel.parallel_index(type));
    }
    for_each_node(body, [&](const Expr& node) {
      if (const auto* serial = node.as<ForLoop>()) {
        inner_.push_back(serial->index);
      } else if (const auto* allocate = node.as<Allocate>()) {
        temporary_.insert(allocate->buffer);
      }
    });
    visit(body, {});
  }

  /// Tests that a thread is the first one; nullptr: none.
  [[nodiscard]] Val* of_first() const {
    return kept([&](const Val* test) { return is_of_first(test); });
  }
  /// The others; nullptr: none.
  [[nodiscard]] Val* of_others() const {
    return kept([&](const Val* test) { return !is_of_first(test); });
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
      if (is_of_threads_ && counts_copies(*expr)) {
        keep_common(tests);
      }
      for_each_write(*expr, [&](const TensorIndex& element) {
        if (temporary_.count(element.view()) == 0) {
          keep_common(with_tests_of_readers(element.view(), tests));
        }
      });
    }
  }

  [[nodiscard]] bool is_of_first(const Val* test) const {
    return std::ranges::find(types_, first_index_tested(test)) != types_.end();
  }

  template <typename Keep>
  [[nodiscard]] Val* kept(const Keep& keep) const {
    std::vector<Val*> tests = common_.value_or(std::vector<Val*>{});
    std::erase_if(tests, [&](const Val* test) { return !keep(test); });
    return all_of(tests);
  }

  std::vector<Val*> with_tests_of(Val* condition, std::vector<Val*> tests) {
    for (Val* term : terms_of(condition)) {
      Val* test = is_of_first(term) ? term : is_of_threads_ ? of_whole_loop(term) : nullptr;
      if (test != nullptr && !contains_term(tests, test)) {
        tests.push_back(test);
      }
    }
    return tests;
  }

  /// `tests`, and that the thread is the first one, if no other reads `tensor`.
  std::vector<Val*> with_tests_of_readers(const TensorView* tensor, std::vector<Val*> tests) const {
    const HardwareIndices indices = owners_.of(tensor);
    for (const ParallelType type : types_) {
      if (indices.test(hardware_type_index(type)) && is_launched(type)) {
        Val* test = scalar::eq(kernel_.parallel_index(type), kernel_.zero());
        if (!contains_term(tests, test)) {
          tests.push_back(test);
        }
      }
    }
    return tests;
  }

  [[nodiscard]] bool is_launched(ParallelType type) const {
    const Val* launched = kernel_.launch.extents[type];
    return launched != nullptr && !launched->is_one();
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

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  IndexForms& forms_;
  const PlacedOwners& owners_;
  const std::array<ParallelType, 3>& types_;
  bool is_of_threads_;
  std::vector<Val*> inner_;                         // indices that change within the loop
  std::unordered_set<const TensorView*> temporary_; // gone with the thread
  std::optional<std::vector<Val*>> common_;         // of the statements so far
};

/// Let `body`, of a loop over threads or blocks, show that the first one alone does something.
void test_first(Kernel& kernel, const LoopTests& tests, Scope& body) {
  Val* is_first = tests.of_first();
  if (is_first == nullptr) {
    return;
  }
  const std::vector<Val*> terms = terms_of(is_first);
  const bool is_shown = std::ranges::all_of(
      terms, [&](const Val* term) { return is_for_first_only(body, first_index_tested(term)); });
  if (!is_shown) {
    body = {kernel.make<IfThenElse>({.condition = is_first, .then_body = std::move(body)})};
  }
}

void skip(Kernel& kernel, IndexForms& forms, const PlacedOwners& owners, Scope& scope) {
  for (Expr*& expr : scope) {
    if (auto* loop = expr->as<ThreadLoop>()) {
      const LoopTests tests(kernel, forms, owners, loop->body, kBlockDimTypes);
      test_first(kernel, tests, loop->body);
      if (Val* condition = tests.of_others()) {
        expr = kernel.make<IfThenElse>({.condition = condition, .then_body = Scope{expr}});
      }
      continue;
    }
    for (Scope* body : bodies_of(*expr)) {
      skip(kernel, forms, owners, *body);
    }
    // Within clusters, blocks differ where there are tests.
    if (auto* loop = expr->as<BlockLoop>(); loop != nullptr && cluster_size(kernel) == 1) {
      test_first(kernel, LoopTests(kernel, forms, owners, loop->body, kGridDimTypes), loop->body);
    }
  }
}

} // namespace

void skip_idle_threads(Kernel& kernel) {
  if (!kernel.target().has_hardware_threads) {
    IndexForms forms(kernel);
    const PlacedOwners owners(kernel);
    skip(kernel, forms, owners, kernel.body);
  }
}

} // namespace nvfuser
