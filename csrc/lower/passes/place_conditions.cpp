#include "lower/passes/place_conditions.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "eval/simplify.h"
#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/owners.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/statement_facts.h"
#include "lower/passes/needed_tests.h"

namespace nvfuser {
namespace {

/// Whether every thread of the block has to come to a statement in `scope`.
bool needs_all_threads(const Scope& scope) {
  return std::any_of(scope.begin(), scope.end(), [](const Expr* expr) {
    const auto* loop = expr->as<ForLoop>();
    return traits_of(*expr).needs_all_threads || (loop != nullptr && needs_all_threads(loop->body));
  });
}

class ConditionPlacer {
 public:
  explicit ConditionPlacer(Kernel& kernel)
      : kernel_(kernel), simplifier_(*kernel.simplifier), needed_(kernel), owners_(kernel) {}

  /// `scope` with conditions. `is_decided`: a hoisted condition decided every range test already.
  Scope place(const Scope& scope, bool is_decided, bool may_hoist) {
    Scope result;
    for (Expr* expr : scope) {
      if (auto* loop = expr->as<ForLoop>()) {
        append_loop(result, *loop, is_decided, may_hoist);
      } else {
        append_statement(result, expr, is_decided);
      }
    }
    return result;
  }

 private:
  static Val* all_of(const std::vector<RangeTest>& tests) {
    Val* condition = nullptr;
    for (const RangeTest& test : tests) {
      condition = scalar::logical_and(condition, test.holds());
    }
    return condition;
  }

  /// An asynchronous copy under the range tests that its condition does not contain: a hole is
  /// filled with zeros. A copy that knew its element to be no hole is a statement of its own.
  Expr* filling_copy(Expr* statement) {
    std::vector<RangeTest> tests = needed_.of(statement);
    for (const RangeTest& other : kernel_.tests.at(statement).storage) {
      std::erase_if(tests, [&](const RangeTest& test) { return test.same_as(other); });
    }
    if (tests.empty()) {
      return statement;
    }
    auto* copy = statement->as<LoadStoreOp>();
    auto* filling = kernel_.make<LoadStoreOp>(
        {.out = copy->out, .arg = copy->arg, .op = copy->op, .cache_op = copy->cache_op});
    filling->set_predicate(all_of(tests));
    kernel_.origin[filling] = kernel_.origin.at(statement);
    kernel_.tests[filling] = kernel_.tests.at(statement);
    return filling;
  }

  /// An element of a factor of tensor cores is zero where it is a hole.
  void append_zero(Scope& result, Expr* statement) {
    for (Val* out : statement->outputs()) {
      Expr* zero = kernel_.make<LoadStoreOp>(
          {.out = out,
           .arg = kernel_.new_constant(int64_t{0}, out->dtype()),
           .op = LoadStoreOpType::Set});
      kernel_.origin[zero] = kernel_.origin.at(statement);
      result.push_back(zero);
    }
  }

  void append_statement(Scope& result, Expr* statement, bool is_decided) {
    Val* condition = nullptr;
    if (!is_decided && fills_holes(kernel_, statement)) {
      condition = all_of(kernel_.tests.at(statement).storage);
      statement = filling_copy(statement);
    } else if (!is_decided) {
      condition = all_of(needed_.of(statement));
      if (condition != nullptr && defines_factor(*statement)) {
        append_zero(result, statement);
      }
    }
    const auto found = kernel_.tests.find(statement);
    if (found != kernel_.tests.end() && found->second.owner != nullptr) {
      if (Val* owner = owners_.without(found->second.owner, tested_owner_); owner != nullptr) {
        condition = scalar::logical_and(condition, owner);
      }
    }
    if (condition == nullptr || condition->is_true()) {
      result.push_back(statement);
    } else {
      append_under(result, condition, {statement});
    }
  }

  void append_under(Scope& result, Val* condition, const Scope& statements) {
    auto* last = result.empty() ? nullptr : result.back()->as<IfThenElse>();
    if (last != nullptr && last->else_body.empty() && last->condition->same_as(condition)) {
      last->then_body.insert(last->then_body.end(), statements.begin(), statements.end());
    } else {
      result.push_back(kernel_.make<IfThenElse>({.condition = condition, .then_body = statements}));
    }
  }

  /// A loop that other threads have no use for, under one test of which thread it is.
  void append_loop(Scope& result, ForLoop& loop, bool is_decided, bool may_hoist) {
    const HardwareIndices owner =
        is_serial(loop) ? owners_.of(loop) & ~tested_owner_ : HardwareIndices{};
    if (owner.none()) {
      append_own_loop(result, loop, is_decided, may_hoist);
      return;
    }
    tested_owner_ |= owner;
    Scope statements;
    append_own_loop(statements, loop, is_decided, may_hoist);
    tested_owner_ &= ~owner;
    append_under(result, owners_.test(owner), statements);
  }

  void append_own_loop(Scope& result, ForLoop& loop, bool is_decided, bool may_hoist) {
    if (loop.loop_kind == LoopKind::Vector && !is_decided &&
        needed_.lanes_of(loop.body.front()) != nullptr) {
      append_vector_or_lanes(result, loop);
      return;
    }
    if (traits_of(loop.loop_kind).hoists_conditions && may_hoist && !is_decided &&
        !needs_all_threads(loop.body)) {
      if (const std::optional<Val*> condition = hoisted_condition(loop)) {
        append_unswitched(result, loop, *condition);
        return;
      }
    }
    append_copy(result, loop, place(loop.body, is_decided, may_hoist));
  }

  /// A vector if all of it can be moved at once, else lane by lane what is no hole.
  void append_vector_or_lanes(Scope& result, ForLoop& loop) {
    const Expr* statement = loop.body.front();
    Scope vector;
    append_copy(vector, loop, place(loop.body, /*is_decided=*/true, /*may_hoist=*/false));
    Scope lanes = place({loop_over_lanes(loop)}, /*is_decided=*/false, /*may_hoist=*/false);
    auto* either = kernel_.make<IfThenElse>(
        {.condition = needed_.lanes_of(statement)->whole.holds(),
         .then_body = std::move(vector),
         .else_body = std::move(lanes)});
    Val* condition = all_of(needed_.of(statement));
    if (condition == nullptr) {
      result.push_back(either);
    } else {
      append_under(result, condition, {either});
    }
  }

  /// The copy of one lane, in a loop over those of the vector: no asynchronous one, which takes
  /// whole words.
  ForLoop* loop_over_lanes(const ForLoop& loop) {
    const auto* vector = loop.body.front()->as<LoadStoreOp>();
    Val* lane = kernel_.new_scalar(DataType::Index);
    simplifier_.set_range(lane, loop.stop);
    const auto behind = [&](Val* index) { return simplifier_.simplify(scalar::add(index, lane)); };
    const auto element_behind = [&](Val* side) {
      const auto* element = static_cast<const TensorIndex*>(side);
      return kernel_.new_tensor_index(element->view(), behind(element->index()));
    };
    auto* copy = kernel_.make<LoadStoreOp>(
        {.out = element_behind(vector->out),
         .arg = element_behind(vector->arg),
         .op = LoadStoreOpType::Set});
    RangeTest test = needed_.lanes_of(vector)->first;
    test.index = behind(test.index);
    kernel_.origin[copy] = kernel_.origin.at(vector);
    kernel_.tests[copy] = {.ranges = {test}, .owner = kernel_.tests.at(vector).owner};
    needed_.set(copy, {test});
    return kernel_.make<ForLoop>(
        {.index = lane,
         .iter_domain = loop.iter_domain,
         .start = kernel_.zero(),
         .stop = loop.stop,
         .loop_kind = LoopKind::Serial,
         .body = {copy}});
  }

  void append_unswitched(Scope& result, ForLoop& loop, Val* condition) {
    if (condition != nullptr && condition->is_false()) { // no thread passes all tests
      append_copy(result, loop, place(loop.body, /*is_decided=*/false, /*may_hoist=*/false));
      return;
    }
    Scope fast;
    append_copy(fast, loop, place(loop.body, /*is_decided=*/true, /*may_hoist=*/false));
    if (condition == nullptr) { // every test holds
      result.insert(result.end(), fast.begin(), fast.end());
      return;
    }
    Scope slow;
    if (!is_condition_of_all(loop)) {
      append_copy(slow, loop, place(loop.body, /*is_decided=*/false, /*may_hoist=*/false));
    }
    result.push_back(
        kernel_.make<IfThenElse>({.condition = condition, .then_body = fast, .else_body = slow}));
  }

  /// A choice between an element and a scalar as a branch: all lanes of a vector are on one side.
  Scope with_branches(const Scope& scope) {
    Scope result;
    for (Expr* expr : scope) {
      if (auto* branch = expr->as<IfThenElse>()) {
        expr = kernel_.make<IfThenElse>(
            {.condition = branch->condition,
             .then_body = with_branches(branch->then_body),
             .else_body = branch->else_body});
      } else if (const auto* choice = expr->as<ChosenElement>()) {
        Scope sides;
        for (Val* value : choice->values) {
          sides.push_back(kernel_.make<LoadStoreOp>(
              {.out = choice->out, .arg = value, .op = LoadStoreOpType::Set}));
          kernel_.origin[sides.back()] = kernel_.origin.at(choice);
        }
        NVF_INVARIANT(sides.size() == 2, "a vectorized choice has two sides: ", expr->to_string());
        expr = kernel_.make<IfThenElse>(
            {.condition = choice->conditions.front(),
             .then_body = Scope{sides.front()},
             .else_body = Scope{sides.back()}});
      }
      result.push_back(expr);
    }
    return result;
  }

  /// The loop with another body; a loop that runs once is only its body.
  void append_copy(Scope& result, const ForLoop& loop, Scope body) {
    if (loop.index->is_const() && loop.loop_kind != LoopKind::Hardware) {
      result.insert(result.end(), body.begin(), body.end());
      return;
    }
    if (loop.loop_kind == LoopKind::Vector) {
      body = with_branches(body);
    }
    result.push_back(with_body(kernel_, loop, std::move(body)));
  }

  void collect(const ForLoop& loop, std::vector<Val*>& indices, std::vector<RangeTest>& tests) {
    if (is_serial(loop) && !loop.index->is_const()) {
      indices.push_back(loop.index);
    }
    for (const Expr* expr : loop.body) {
      if (const auto* inner = expr->as<ForLoop>()) {
        collect(*inner, indices, tests);
        continue;
      }
      for (const RangeTest& test : needed_.of(expr)) {
        tests.push_back(test);
      }
      if (const LaneTests* lanes = needed_.lanes_of(expr)) {
        tests.push_back(lanes->whole);
      }
    }
  }

  /// All tests inside the loop at the extremes of their indices. No value: an extreme is unknown.
  /// nullptr: there is nothing to test.
  std::optional<Val*> hoisted_condition(const ForLoop& loop) {
    std::vector<Val*> indices;
    std::vector<RangeTest> tests;
    collect(loop, indices, tests);
    Val* condition = nullptr;
    std::vector<RangeTest> done;
    for (const RangeTest& test : tests) {
      if (contains_test(done, test)) {
        continue;
      }
      done.push_back(test);
      Val* largest = simplifier_.max_over(test.index, indices);
      if (largest == nullptr) {
        return std::nullopt;
      }
      Val* smallest = test.may_be_negative ? simplifier_.min_over(test.index, indices) : nullptr;
      if (test.may_be_negative && smallest == nullptr) {
        return std::nullopt;
      }
      for (Val* holds :
           {smallest == nullptr ? kernel_.true_val() : scalar::ge(smallest, kernel_.zero()),
            scalar::lt(largest, test.extent)}) {
        holds = simplifier_.simplify(holds);
        if (!holds->is_true()) {
          condition = scalar::logical_and(condition, holds);
        }
      }
    }
    return condition;
  }

  /// Whether the hoisted condition is that of every statement that leaves something behind: then
  /// there is no other path. A statement with fewer tests, as the surroundings of a pad have, runs
  /// also where the condition does not hold.
  bool is_condition_of_all(const ForLoop& loop) {
    if (!visits_once(loop)) {
      return false;
    }
    std::vector<Val*> indices;
    std::vector<RangeTest> tests;
    collect(loop, indices, tests);
    std::unordered_set<const TensorView*> temporary; // gone with the iteration
    bool result = true;
    for_each_node(loop.body, [&](const Expr& statement) {
      if (const auto* allocate = statement.as<Allocate>()) {
        temporary.insert(allocate->buffer);
      }
      for_each_write(statement, [&](const TensorIndex& element) {
        result = result && (temporary.count(element.view()) != 0 || has_tests(statement, tests));
      });
    });
    return result;
  }

  [[nodiscard]] bool has_tests(const Expr& statement, const std::vector<RangeTest>& tests) const {
    const auto found = kernel_.tests.find(&statement);
    return found != kernel_.tests.end() &&
           std::all_of(tests.begin(), tests.end(), [&](const RangeTest& test) {
             return contains_test(found->second.ranges, test);
           });
  }

  /// Whether each thread runs every statement of the loop at most once.
  static bool visits_once(const ForLoop& loop) {
    if (is_serial(loop) && !loop.stop->is_one()) {
      return false;
    }
    return std::all_of(loop.body.begin(), loop.body.end(), [](const Expr* expr) {
      const auto* inner = expr->as<ForLoop>();
      return inner == nullptr || visits_once(*inner);
    });
  }

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  NeededTests needed_;
  const Owners owners_;
  HardwareIndices tested_owner_; // by conditions around
};

} // namespace

void place_conditions(Kernel& kernel) {
  kernel.body = ConditionPlacer(kernel).place(kernel.body, false, true);
  kernel.tests.clear();
  forget_absent_statements(kernel);
}

} // namespace nvfuser
