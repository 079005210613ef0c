#include "lower/passes/place_conditions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "eval/simplify.h"
#include "ir/dependencies.h"
#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "ir/substitute_scalars.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/matrix_copies.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/mma.h"
#include "lower/analysis/owners.h"
#include "lower/analysis/reductions.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/shifted_lanes.h"
#include "lower/analysis/statement_facts.h"
#include "lower/statements/element_statements.h"

namespace nvfuser {
namespace {

/// Whether every thread of the block has to come to a statement in `scope`.
bool needs_all_threads(const Scope& scope) {
  return std::any_of(scope.begin(), scope.end(), [](const Expr* expr) {
    const auto* loop = expr->as<ForLoop>();
    return traits_of(*expr).needs_all_threads || (loop != nullptr && needs_all_threads(loop->body));
  });
}

/// Whether a statement leaves its result in registers, and finds its operands there or, if they may
/// come `from_shared`, in shared memory.
bool is_of_block(const Expr& statement, bool from_shared) {
  bool result = true;
  for_each_write(statement, [&](const TensorIndex& element) {
    result = result && element.view()->memory_type() == MemoryType::Local;
  });
  for_each_read(statement, [&](const TensorIndex& element) {
    const MemoryType memory = element.view()->memory_type();
    result =
        result && (memory == MemoryType::Local || (from_shared && memory == MemoryType::Shared));
  });
  return result;
}

/// Elements of every array in registers or shared memory.
using ArraySizes = std::unordered_map<const TensorView*, Val*>;

ArraySizes array_sizes(const Scope& body) {
  ArraySizes sizes;
  for_each_node(body, [&](const Expr& statement) {
    const auto* allocate = statement.as<Allocate>();
    if (allocate != nullptr && allocate->memory_type != MemoryType::Global) {
      sizes[allocate->buffer] = allocate->size;
    }
  });
  return sizes;
}

/// Whether a statement computes an element of a factor of tensor cores, which multiply its holes.
/// Holes of boxes are zeros anyway.
bool defines_factor(const Expr& statement) {
  if (statement.is_a<BulkLoad>()) {
    return false;
  }
  bool result = false;
  for_each_write(statement, [&](const TensorIndex& element) {
    result = result || is_mma_factor(element.view());
  });
  return result;
}

/// Whether a statement copies registers that were loaded with their holes, which are zeros.
bool copies_zeros(const Kernel& kernel, const Expr& statement) {
  const auto* copy = statement.as<LoadStoreOp>();
  const TensorView* from = copy == nullptr || copy->arg->vtype() != ValType::TensorIndex
                               ? nullptr
                               : static_cast<const TensorIndex*>(copy->arg)->view();
  return from != nullptr && from->memory_type() == MemoryType::Local &&
         is_matrix_instruction(kernel, from->definition());
}

/// Integer division by what a hole holds may trap.
bool may_trap(const Expr* statement) {
  const auto* binary = statement->as<BinaryOp>();
  if (binary == nullptr || is_floating_point(binary->out->dtype()) ||
      is_complex(binary->out->dtype())) {
    return false;
  }
  switch (binary->op) {
    case BinaryOpType::Div:
    case BinaryOpType::Mod:
    case BinaryOpType::Remainder:
    case BinaryOpType::Fmod:
    case BinaryOpType::CeilDiv:
    case BinaryOpType::Gcd:
    case BinaryOpType::Pow: return true;
    default: return false;
  }
}

/// Tests of a vector along a shifted axis, in which some lanes may be holes.
struct LaneTests {
  RangeTest first; // the first lane is no hole; those behind it are its neighbours
  RangeTest whole; // all lanes can be moved at once
};

class ConditionPlacer {
 public:
  explicit ConditionPlacer(Kernel& kernel)
      : kernel_(kernel),
        simplifier_(*kernel.simplifier),
        array_sizes_(array_sizes(kernel.body)),
        owners_(kernel) {
    find_needed_tests(kernel.body, /*lanes=*/0);
  }

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
  /// The range tests a statement needs at all.
  [[nodiscard]] std::vector<RangeTest> needed_tests(const Expr* statement) const {
    const auto found = needed_.find(statement);
    return found == needed_.end() ? std::vector<RangeTest>{} : found->second;
  }

  /// `lanes`: of the vector that the statements are; 0: they are none.
  void find_needed_tests(const Scope& scope, int64_t lanes) {
    std::vector<const Expr*> sums;
    std::vector<RangeTest> common; // of the other statements
    for (const Expr* expr : scope) {
      if (const auto* loop = expr->as<ForLoop>()) {
        const bool is_vector = loop->loop_kind == LoopKind::Vector;
        find_needed_tests(loop->body, is_vector ? as_int(loop->stop->value()) : lanes);
        continue;
      }
      const auto found = kernel_.tests.find(expr);
      if (found == kernel_.tests.end() || runs_for_holes(*expr, lanes > 0)) {
        continue;
      }
      std::vector<RangeTest> tests = found->second.ranges;
      if (lanes > 0) {
        test_lanes(*expr, lanes, tests);
      }
      needed_[expr] = tests;
      if (combines_for_holes(*expr)) {
        sums.push_back(expr);
      } else {
        common.insert(common.end(), tests.begin(), tests.end());
      }
    }
    for (const Expr* sum : sums) {
      std::erase_if(needed_[sum], [&](const RangeTest& test) {
        return !contains(common, test) && is_of_results(test, first_output(kernel_.origin.at(sum)));
      });
    }
  }

  /// For a vector along a shifted axis `tests` only keep that it begins before the end of the axis.
  /// A load may bring elements of other rows into holes, where there are any; a store may not.
  void test_lanes(const Expr& statement, int64_t lanes, std::vector<RangeTest>& tests) {
    const Resize* shift = shift_of_lanes(kernel_, first_output(kernel_.origin.at(&statement)));
    if (shift == nullptr) {
      return;
    }
    const auto first = std::ranges::find_if(tests, [&](const RangeTest& test) {
      return test.may_be_negative && test.extent->same_as(shift->in->extent());
    });
    NVF_INVARIANT(first != tests.end(), "the first lane is tested: ", statement.to_string());
    if (const std::optional<RangeTest> whole = test_of_vector(statement, lanes, *first)) {
      lane_tests_[&statement] = {.first = *first, .whole = *whole};
    }
    first->may_be_negative = false;
  }

  /// The test of a vector that can be moved at once: one that is stored has no hole; one that is
  /// loaded ends within the tensor; the two that one between them is loaded with lie within the
  /// row. None: both sides are on chip, and have room for holes.
  std::optional<RangeTest> test_of_vector(
      const Expr& statement, int64_t lanes, const RangeTest& first) {
    const auto less = [&](Val* number, int64_t by) {
      return simplifier_.simplify(scalar::sub(number, kernel_.new_index(by)));
    };
    const auto& copy = static_cast<const LoadStoreOp&>(statement);
    const auto* out = static_cast<const TensorIndex*>(copy.out);
    const auto* read = static_cast<const TensorIndex*>(copy.arg);
    if (out->view()->memory_type() == MemoryType::Global) {
      return RangeTest{first.index, less(first.extent, lanes - 1), true};
    }
    if (read->view()->memory_type() != MemoryType::Global) {
      return std::nullopt;
    }
    if (is_unaligned(kernel_, first_output(kernel_.origin.at(&statement)))) {
      return RangeTest{less(first.index, lanes - 1), less(first.extent, 3 * lanes - 2), true};
    }
    return RangeTest{read->index(), less(stored_elements(kernel_, read->view()), lanes - 1)};
  }

  /// Whether what a statement computes for holes is of no consequence.
  [[nodiscard]] bool runs_for_holes(const Expr& statement, bool is_vectorized) const {
    const Expr* origin = kernel_.origin.at(&statement);
    return is_of_block(statement, /*from_shared=*/!is_vectorized) && !may_trap(&statement) &&
           (!defines_factor(statement) || copies_zeros(kernel_, statement)) &&
           !combines_over_loops(origin) && !reads_elsewhere(origin) && stays_in_arrays(statement);
  }

  /// Whether a sum may go on in accumulators that are holes: they are registers of their own, which
  /// its readers leave out. The root of an rfactored axis has holes that are none of its result.
  [[nodiscard]] bool combines_for_holes(const Expr& statement) const {
    const auto origin = kernel_.origin.find(&statement);
    return origin != kernel_.origin.end() && is_reduction_expr(origin->second) &&
           statement.is_a<BinaryOp>() && !first_output(origin->second)->has_root() &&
           is_of_block(statement, /*from_shared=*/true) && stays_in_arrays(statement);
  }

  /// Whether a test tells apart results of a reduction, and anew in each iteration of a loop over
  /// what it reduces: a test that does not change there is tested before the loop. A loop over a
  /// broadcast runs over one result.
  [[nodiscard]] bool is_of_results(const RangeTest& test, const TensorView* out) const {
    bool is_reducing = false;
    bool changes = false;
    for (const Loop* loop : kernel_.loop_model->nest(out)) {
      const bool depends = !loop->index->is_const() && depends_on(test.index, loop->index);
      const bool reduces = is_reduced(kernel_, out, loop);
      if (depends && (reduces || loop->is_broadcast())) {
        return false;
      }
      is_reducing = is_reducing || reduces;
      changes = changes || (depends && is_reducing && !loop->is_hardware());
    }
    return changes && !test.may_be_negative;
  }

  static bool contains(const std::vector<RangeTest>& tests, const RangeTest& test) {
    return std::any_of(
        tests.begin(), tests.end(), [&](const RangeTest& other) { return other.same_as(test); });
  }

  /// Whether holes have a place in the arrays that a statement touches. They have none where an
  /// array was made by other splits than those of the loops that read it.
  [[nodiscard]] bool stays_in_arrays(const Expr& statement) const {
    bool result = true;
    for_each_element(statement, [&](const TensorIndex& element) {
      if (!result || element.index()->is_zero()) {
        return;
      }
      const auto size = array_sizes_.find(element.view());
      result = size != array_sizes_.end() && simplifier_.prove_nonnegative(element.index()) &&
               simplifier_.prove_lt(element.index(), size->second) &&
               stays_in_stage(element, size->second);
    });
    return result;
  }

  /// Whether holes of a circular buffer in shared memory have a place in the stage that is read:
  /// other stages may be loaded meanwhile.
  [[nodiscard]] bool stays_in_stage(const TensorIndex& element, Val* size) const {
    const CircularLoop* circular = circular_loop_of(kernel_, element.view());
    if (circular == nullptr || element.view()->memory_type() != MemoryType::Shared) {
      return true;
    }
    ScalarSubstitution at_first_stage(kernel_);
    at_first_stage.replace(circular->loop->index, kernel_.zero());
    Val* offset = simplifier_.simplify(at_first_stage(element.index()));
    return simplifier_.prove_lt(offset, scalar::div(size, kernel_.new_index(circular->stages)));
  }

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
    std::vector<RangeTest> tests = needed_tests(statement);
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
      condition = all_of(needed_tests(statement));
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
        lane_tests_.contains(loop.body.front())) {
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
        {.condition = lane_tests_.at(statement).whole.holds(),
         .then_body = std::move(vector),
         .else_body = std::move(lanes)});
    Val* condition = all_of(needed_tests(statement));
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
    RangeTest test = lane_tests_.at(vector).first;
    test.index = behind(test.index);
    kernel_.origin[copy] = kernel_.origin.at(vector);
    kernel_.tests[copy] = {.ranges = {test}, .owner = kernel_.tests.at(vector).owner};
    needed_[copy] = {test};
    return kernel_.make<ForLoop>(
        {.index = lane,
         .iter_domain = loop.iter_domain,
         .start = kernel_.zero(),
         .stop = loop.stop,
         .loop_kind = LoopKind::Serial,
         .body = {copy}});
  }

  void append_unswitched(Scope& result, ForLoop& loop, Val* condition) {
    if (condition != nullptr && condition->is_false()) { // no one passes all tests
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
      for (const RangeTest& test : needed_tests(expr)) {
        tests.push_back(test);
      }
      if (const auto lanes = lane_tests_.find(expr); lanes != lane_tests_.end()) {
        tests.push_back(lanes->second.whole);
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
      if (contains(done, test)) {
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
             return contains(found->second.ranges, test);
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
  ArraySizes array_sizes_;
  std::unordered_map<const Expr*, std::vector<RangeTest>> needed_; // nothing: none
  std::unordered_map<const Expr*, LaneTests> lane_tests_;          // of vectors along shifted axes
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
