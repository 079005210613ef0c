#include "lower/passes/needed_tests.h"

#include <algorithm>

#include "ir/dependencies.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "ir/substitute_scalars.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/matrix_copies.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/mma.h"
#include "lower/analysis/reductions.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/shifted_lanes.h"
#include "lower/statements/element_statements.h"

namespace nvfuser {
namespace {

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

} // namespace

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

bool contains_test(const std::vector<RangeTest>& tests, const RangeTest& test) {
  return std::any_of(
      tests.begin(), tests.end(), [&](const RangeTest& other) { return other.same_as(test); });
}

NeededTests::NeededTests(Kernel& kernel)
    : kernel_(kernel), simplifier_(*kernel.simplifier), array_sizes_(array_sizes(kernel.body)) {
  find(kernel.body, /*lanes=*/0);
}

std::vector<RangeTest> NeededTests::of(const Expr* statement) const {
  const auto found = needed_.find(statement);
  return found == needed_.end() ? std::vector<RangeTest>{} : found->second;
}

const LaneTests* NeededTests::lanes_of(const Expr* statement) const {
  const auto found = lane_tests_.find(statement);
  return found == lane_tests_.end() ? nullptr : &found->second;
}

NeededTests::ArraySizes NeededTests::array_sizes(const Scope& body) {
  ArraySizes sizes;
  for_each_node(body, [&](const Expr& statement) {
    const auto* allocate = statement.as<Allocate>();
    if (allocate != nullptr && allocate->memory_type != MemoryType::Global) {
      sizes[allocate->buffer] = allocate->size;
    }
  });
  return sizes;
}

/// `lanes`: of the vector that the statements are; 0: they are none.
void NeededTests::find(const Scope& scope, int64_t lanes) {
  std::vector<const Expr*> sums;
  std::vector<RangeTest> common; // of the other statements
  for (const Expr* expr : scope) {
    if (const auto* loop = expr->as<ForLoop>()) {
      const bool is_vector = loop->loop_kind == LoopKind::Vector;
      find(loop->body, is_vector ? as_int(loop->stop->value()) : lanes);
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
      return !contains_test(common, test) &&
             is_of_results(test, first_output(kernel_.origin.at(sum)));
    });
  }
}

/// For a vector along a shifted axis `tests` only keep that it begins before the end of the axis.
/// A load may bring elements of other rows into holes, where there are any; a store may not.
void NeededTests::test_lanes(const Expr& statement, int64_t lanes, std::vector<RangeTest>& tests) {
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
std::optional<RangeTest> NeededTests::test_of_vector(
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
bool NeededTests::runs_for_holes(const Expr& statement, bool is_vectorized) const {
  const Expr* origin = kernel_.origin.at(&statement);
  return is_of_block(statement, /*from_shared=*/!is_vectorized) && !may_trap(&statement) &&
         (!defines_factor(statement) || copies_zeros(kernel_, statement)) &&
         !combines_over_loops(origin) && !reads_elsewhere(origin) && stays_in_arrays(statement);
}

/// Whether a sum may go on in accumulators that are holes: they are registers of their own, which
/// its readers leave out. The root of an rfactored axis has holes that are none of its result.
bool NeededTests::combines_for_holes(const Expr& statement) const {
  const auto origin = kernel_.origin.find(&statement);
  return origin != kernel_.origin.end() && is_reduction_expr(origin->second) &&
         statement.is_a<BinaryOp>() && !first_output(origin->second)->has_root() &&
         is_of_block(statement, /*from_shared=*/true) && stays_in_arrays(statement);
}

/// Whether a test tells apart results of a reduction, and anew in each iteration of a loop over
/// what it reduces: a test that does not change there is tested before the loop. A loop over a
/// broadcast runs over one result.
bool NeededTests::is_of_results(const RangeTest& test, const TensorView* out) const {
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

/// Whether holes have a place in the arrays that a statement touches. They have none where an
/// array was made by other splits than those of the loops that read it.
bool NeededTests::stays_in_arrays(const Expr& statement) const {
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
bool NeededTests::stays_in_stage(const TensorIndex& element, Val* size) const {
  const CircularLoop* circular = circular_loop_of(kernel_, element.view());
  if (circular == nullptr || element.view()->memory_type() != MemoryType::Shared) {
    return true;
  }
  ScalarSubstitution at_first_stage(kernel_);
  at_first_stage.replace(circular->loop->index, kernel_.zero());
  Val* offset = simplifier_.simplify(at_first_stage(element.index()));
  return simplifier_.prove_lt(offset, scalar::div(size, kernel_.new_index(circular->stages)));
}

} // namespace nvfuser
