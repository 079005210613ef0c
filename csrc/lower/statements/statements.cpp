#include "lower/statements/statements.h"

#include <algorithm>

#include "eval/simplify.h"
#include "graph/op_semantics.h"
#include "ir/scalar.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/matrix_copies.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/shifted_lanes.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/thread_memory.h"
#include "lower/statements/element_statements.h"
#include "lower/statements/parallel_reduction.h"
#include "transform/fragments.h"

namespace nvfuser {
std::vector<Expr*> StatementBuilder::lower(Expr* expr) {
  return lower(expr, kernel_.loop_model->nest(first_output(expr)));
}

std::vector<Expr*> StatementBuilder::lower(Expr* expr, const LoopNest& nest) {
  std::vector<Expr*> statements = visit(*expr, [&](auto& op) -> std::vector<Expr*> {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(op)>, LoadStoreOp>) {
      if (is_matrix_copy(expr)) {
        check_rows(op, nest);
      }
      if (is_matrix_instruction(kernel_, expr)) {
        return copy_matrices(op, nest);
      }
      if (is_tensor_memory_instruction(kernel_, expr)) {
        return copy_columns(op, nest);
      }
    }
    if constexpr (requires { combine(op, nest); }) {
      return combine(op, nest);
    } else if constexpr (requires(StatementContext& context) { convert(op, context); }) {
      StatementContext context(kernel_, nest, first_output(expr), walks_);
      Expr* statement = convert(op, context);
      kernel_.tests[statement] = tests_of(expr, context);
      return {statement};
    } else {
      NVF_INVARIANT(false, "has a kernel form: ", describe(op)); // validate_schedule
    }
  });
  for (const Expr* statement : statements) {
    kernel_.origin[statement] = expr;
  }
  return statements;
}

bool has_kernel_form(const Expr& expr) {
  return visit(expr, [](const auto& op) {
    using Node = std::remove_cvref_t<decltype(op)>;
    if constexpr (requires(StatementBuilder& b, Node& node, LoopNest& n) { b.combine(node, n); }) {
      return can_convert(op);
    } else if constexpr (requires(Node& node, StatementContext& c) { convert(node, c); }) {
      return can_convert(op);
    } else {
      return false;
    }
  });
}

// ---- Under which tests a statement runs ---------------------------------------------------------

IterDomains tested_axes(const TensorView* tensor) {
  const bool is_rfactor = is_reduction_expr(tensor->definition()) && tensor->has_root();
  const IterDomains& visited = is_rfactor ? tensor->maybe_root() : first_axes(tensor);
  IterDomains axes;
  for (IterDomain* id : visited) {
    if (!id->is_broadcast()) {
      axes.push_back(id);
    }
  }
  return axes;
}

namespace {

/// Threads that shared memory of a broadcast has room for, where it runs in the loops of another
/// tensor. There may be more threads.
IterDomains widened_thread_axes(const LoopModel& model, const TensorView* tensor) {
  IterDomains axes;
  for (const IterDomain* id : tensor->loop()) {
    const Loop& loop = *model.loop_of(id);
    if (tensor->memory_type() == MemoryType::Shared && is_block_dim(loop.parallel_type) &&
        id->is_broadcast() && !loop.promoted->is_broadcast()) {
      axes.push_back(loop.promoted);
    }
  }
  return axes;
}

/// Let the test of a shifted axis be that of the first lane itself: others follow from it.
void test_first_lane(std::vector<RangeTest>& tests, Val* first, Val* extent) {
  std::erase_if(tests, [&](const RangeTest& test) {
    return test.may_be_negative && test.extent->same_as(extent);
  });
  tests.push_back({.index = first, .extent = extent, .may_be_negative = true});
}

/// An owner's test, where there is one, and that of the statement itself.
Val* with_condition(Val* owner, const StatementContext& context) {
  return context.condition == nullptr ? owner : scalar::logical_and(owner, context.condition);
}

} // namespace

StatementTests StatementBuilder::tests_of(Expr* expr, StatementContext& context) {
  StatementTests tests;
  const TensorView* out = first_output(expr);
  IterDomains tested = tested_axes(out);
  const IterDomains widened = widened_thread_axes(*kernel_.loop_model, out);
  tested.insert(tested.end(), widened.begin(), widened.end());
  if (is_bulk_instruction(kernel_, out)) { // the hardware tells holes of a box apart
    tests.owner = with_condition(owner_test(out), context);
    return tests;
  }
  tests.ranges = context.walk.hole_tests(tested, out);
  if (const Resize* shift = shift_of_lanes(kernel_, out)) {
    test_first_lane(tests.ranges, context.walk.index_of(shift->in, out), shift->in->extent());
  }
  tests.owner = with_condition(owner_test(out), context);
  if (fills_holes(kernel_, expr)) {
    // In an allocation domain of its own, a hole may have the place of an element.
    tests.storage = out->has_allocation()
                        ? tests.ranges
                        : storage_tests(kernel_, *kernel_.simplifier, context.walk, out);
  }
  const Expr* holder = last_blocks_.holder(out);
  if (holder != nullptr && out->memory_type() == MemoryType::Global) {
    require_same_iteration(out, holder);
    tests.owner = scalar::logical_and(tests.owner, is_last_.at(holder));
  }
  return tests;
}

/// The last block to arrive is another one in every iteration of the loops around the reduction.
void StatementBuilder::require_same_iteration(
    const TensorView* dependent, const Expr* reduction) const {
  const LoopNest& nest = kernel_.loop_model->nest(dependent);
  for (const Loop* loop : statement_nest(kernel_, reduction)) {
    const bool is_shared = std::find(nest.begin(), nest.end(), loop) != nest.end();
    if (!is_shared && !loop->is_hardware() && !loop->index->is_const()) {
      kernel_.note_refusal(refuse({
          .headline = {"The result of a reduction over blocks is stored outside of its loops"},
          .node = {describe(dependent), "\ndepends on ", describe(first_output(reduction))},
          .expected = {"a store inside the loop over ", loop->promoted->to_string()},
          .found = {"a loop nest of its own"},
          .fix = {"inline the reduction into what reads it, or parallelize that axis"},
      }));
    }
  }
}

/// Memory that several threads (or blocks) would write with the same value has one writer: the
/// first, on every hardware index that none of the tensor's loops is bound to.
Val* StatementBuilder::owner_test(const TensorView* tensor) {
  if (is_of_thread(tensor)) {
    return nullptr;
  }
  std::vector<int64_t> spared; // grid dimensions of which the last block is the writer
  if (const Expr* holder = last_blocks_.holder(tensor)) {
    spared = reduction_shape(kernel_, first_output(holder)).grid_dims;
  }
  const auto is_spared = [&](ParallelType type) {
    return std::any_of(spared.begin(), spared.end(), [&](const int64_t dim) {
      return kGridDimTypes[static_cast<size_t>(dim)] == type;
    });
  };
  Val* test = nullptr;
  for (const ParallelType type : kHardwareTypes) {
    const Val* launched = kernel_.launch.extents[type];
    if (launched == nullptr || launched->is_one() ||
        (is_grid_dim(type) && tensor->memory_type() == MemoryType::Shared) || is_spared(type)) {
      continue;
    }
    const LoopNest& nest = kernel_.loop_model->nest(tensor);
    const bool is_used = std::any_of(nest.begin(), nest.end(), [&](const Loop* loop) {
      return loop->parallel_type == type && !loop->is_broadcast();
    });
    if (!is_used) {
      test = scalar::logical_and(test, scalar::eq(kernel_.parallel_index(type), kernel_.zero()));
    }
  }
  return test;
}

} // namespace nvfuser
