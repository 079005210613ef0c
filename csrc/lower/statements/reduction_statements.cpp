#include <algorithm>
#include <deque>

#include "ir/scalar.h"
#include "lower/statements/parallel_reduction.h"
#include "lower/statements/statements.h"

namespace nvfuser {
namespace {

/// The nests of the lanes of grouped axes: every combination of their indices, as constants. The
/// loops with these indices are made in `loops`.
std::vector<LoopNest> lanes_of(Kernel& kernel, const LoopNest& nest, std::deque<Loop>& loops) {
  std::vector<LoopNest> lanes{nest};
  for (size_t i = 0; i < nest.size(); ++i) {
    if (nest[i]->parallel_type != ParallelType::Group) {
      continue;
    }
    std::vector<LoopNest> next;
    for (const LoopNest& lane : lanes) {
      for (int64_t index = 0; index < as_int(nest[i]->extent()->value()); ++index) {
        next.push_back(lane);
        next.back()[i] = &loops.emplace_back(*nest[i]);
        next.back()[i]->index = kernel.new_index(index);
      }
    }
    lanes = std::move(next);
  }
  return lanes;
}

bool contains(const std::vector<RangeTest>& tests, const RangeTest& test) {
  return std::any_of(
      tests.begin(), tests.end(), [&](const RangeTest& other) { return test.same_as(other); });
}

/// All lanes contribute, or none. A lane that is a hole combines values that are never read, which
/// is no error in registers; elsewhere it must not be touched.
void require_common_tests(
    const Kernel& kernel,
    const TensorView* out,
    const std::vector<RangeTest>& common,
    const std::vector<RangeTest>& of_lane,
    const std::vector<Val*>& ins) {
  const bool is_own = std::any_of(of_lane.begin(), of_lane.end(), [&](const RangeTest& test) {
    return !contains(common, test);
  });
  const bool reads_memory = std::any_of(ins.begin(), ins.end(), [](const Val* in) {
    return in->vtype() == ValType::TensorIndex &&
           static_cast<const TensorIndex*>(in)->view()->memory_type() != MemoryType::Local;
  });
  if (is_own && reads_memory) {
    kernel.note_refusal(refuse({
        .headline = {"The lanes of a grouped axis are not in range together"},
        .node = {describe(out)},
        .expected = {"a grouped axis that divides its dimension, or an operand in registers"},
        .found = {"a split that may not divide, and an operand in memory"},
        .fix = {"cache the operand in registers (cache_after)"},
    }));
  }
}

/// The identity of each result, as a value of its type.
std::vector<Val*> identities_of(const Expr* expr) {
  std::vector<Val*> inits;
  if (const auto* reduction = expr->as<ReductionOp>()) {
    inits = {reduction->init};
  } else if (const auto* group = expr->as<GroupedReductionOp>()) {
    inits = group->inits;
  } else if (const auto* welford = expr->as<WelfordOp>()) {
    inits = {welford->init_avg, welford->init_var, welford->init_n};
  } else if (const auto* mma = expr->as<MmaOp>()) {
    inits = {mma->init};
  }
  for (size_t i = 0; i < inits.size(); ++i) {
    inits[i] = scalar::cast(expr->outputs()[i]->dtype(), inits[i]);
  }
  return inits;
}

template <typename T>
void append(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

} // namespace

std::vector<Expr*> StatementBuilder::initialize(Expr* reduction, const LoopNest& nest) {
  StatementContext context(kernel_, nest, first_output(reduction), walks_);
  const std::vector<Val*> inits = identities_of(reduction);
  std::vector<Expr*> statements;
  for (size_t i = 0; i < inits.size(); ++i) {
    statements.push_back(
        context.copy_to(static_cast<TensorView*>(reduction->outputs()[i]), inits[i]));
    kernel_.origin[statements.back()] = reduction;
  }
  return statements;
}

ReductionOperands StatementBuilder::operands_of(Expr* expr, StatementContext& context) {
  ReductionOperands operands;
  for (Val* val : expr->outputs()) {
    operands.outs.push_back(context.result(val));
  }
  for (Val* val : expr->inputs()) {
    operands.ins.push_back(context.operand(val));
  }
  operands.inits = identities_of(expr);
  operands.is_welford = expr->is_a<WelfordOp>();
  if (const auto* reduction = expr->as<ReductionOp>()) {
    operands.ops = {reduction->op};
  } else if (const auto* group = expr->as<GroupedReductionOp>()) {
    operands.ops = group->ops;
  }
  return operands;
}

std::vector<RangeTest> StatementBuilder::contribution_tests(
    const TensorView* out, const LoopNest& nest, StatementContext& context) {
  std::vector<RangeTest> tests = context.walk.hole_tests(tested_axes(out), out);
  bool is_accumulating = false; // the accumulator is set before the first loop of a reduced axis
  for (const Loop* loop : nest) {
    is_accumulating = is_accumulating || is_reduced(kernel_, out, loop);
    // A broadcast split by 4 runs four times over one element; it must be added once.
    if (is_accumulating && loop->is_broadcast() && !loop->is_hardware() &&
        !loop->index->is_const()) {
      tests.push_back({loop->index, kernel_.one()});
    }
  }
  return tests;
}

std::vector<Expr*> StatementBuilder::reduce(Expr* expr, const LoopNest& nest) {
  const ReductionShape shape = reduction_shape(kernel_, first_output(expr));
  return shape.is_parallel() ? reduce_across_threads(expr, nest, shape)
                             : reduce_in_thread(expr, nest);
}

std::vector<Expr*> StatementBuilder::reduce_in_thread(Expr* expr, const LoopNest& nest) {
  const TensorView* out = first_output(expr);
  StatementContext context(kernel_, nest, out, walks_);
  const ReductionOperands values = operands_of(expr, context);
  const auto& [outs, ins, inits, ops, is_welford, contributes] = values;
  std::vector<Expr*> statements;
  if (is_welford) {
    statements = {kernel_.make<WelfordOp>(
        {.out_avg = outs[0],
         .out_var = outs[1],
         .out_n = outs[2],
         .in_avg = ins[0],
         .in_var = ins[1],
         .in_n = ins[2],
         .init_avg = inits[0],
         .init_var = inits[1],
         .init_n = inits[2]})};
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    Val* accumulated = context.result(expr->outputs()[i]);
    statements.push_back(
        kernel_.make<BinaryOp>({.out = outs[i], .lhs = accumulated, .rhs = ins[i], .op = ops[i]}));
  }
  const std::vector<RangeTest> tests = contribution_tests(out, nest, context);
  for (const Expr* statement : statements) {
    kernel_.tests[statement].ranges = tests;
  }
  return statements;
}

/// Every thread makes the call; what it contributes is an argument.
std::vector<Expr*> StatementBuilder::reduce_across_threads(
    Expr* expr, const LoopNest& nest, const ReductionShape& shape) {
  ReductionOperands operands = operands_of_lanes(expr, nest);
  const bool is_warp = is_warp_reduction(kernel_, first_output(expr), shape);
  const auto combine = [&](const ReductionOperands& values) {
    return shape.has_cluster ? make_cluster_reductions(kernel_, values, shape.thread_dims)
                             : make_block_reductions(kernel_, values, shape.thread_dims, is_warp);
  };
  if (shape.grid_dims.empty()) {
    return combine(operands);
  }
  std::vector<Expr*> statements;
  if (!shape.thread_dims.empty() || shape.has_cluster) {
    // The result of the block (or cluster) goes through registers to the reduction over the grid.
    const ReductionOperands own = through_registers(kernel_, operands, statements);
    append(statements, combine(own));
    operands.ins = own.outs;
    operands.contributes = nullptr;
  }
  // Threads with equal values share the work of the last block: the block combines what they have.
  const bool is_for_all = last_blocks_.is_for_all(expr);
  const std::vector<int64_t> equal = uniform_thread_dims(kernel_, expr, shape);
  const bool is_shared = !is_for_all && !takes_turns(expr) && !equal.empty();
  const ReductionOperands shares =
      is_shared ? through_registers(kernel_, operands, statements) : operands;
  GridReduction* statement = make_grid_reduction(kernel_, expr, shape, shares, is_for_all);
  statements.push_back(statement);
  is_last_[expr] = statement->is_last;
  if (is_shared) {
    ReductionOperands block = operands;
    block.ins = shares.outs;
    block.contributes = nullptr;
    append(
        statements,
        make_block_reductions(kernel_, block, equal, is_warp && equal == shape.thread_dims));
  }
  return statements;
}

/// The values of all lanes of grouped axes, one lane after the other.
ReductionOperands StatementBuilder::operands_of_lanes(Expr* expr, const LoopNest& nest) {
  const TensorView* out = first_output(expr);
  std::deque<Loop> loops;
  const std::vector<LoopNest> lanes =
      combines_lanes(kernel_, expr) ? lanes_of(kernel_, nest, loops) : std::vector<LoopNest>{nest};
  ReductionOperands all;
  std::vector<std::vector<RangeTest>> tests;
  for (const LoopNest& lane : lanes) {
    StatementContext context(kernel_, lane, out, walks_);
    const ReductionOperands values = operands_of(expr, context);
    append(all.outs, values.outs);
    append(all.ins, values.ins);
    append(all.inits, values.inits);
    append(all.ops, values.ops);
    all.is_welford = values.is_welford;
    tests.push_back(contribution_tests(out, lane, context));
  }
  std::vector<RangeTest> common = tests.front();
  std::erase_if(common, [&](const RangeTest& test) {
    return !std::all_of(tests.begin(), tests.end(), [&](const std::vector<RangeTest>& of_lane) {
      return contains(of_lane, test);
    });
  });
  for (const std::vector<RangeTest>& of_lane : tests) {
    require_common_tests(kernel_, out, common, of_lane, all.ins);
  }
  for (const RangeTest& test : common) {
    all.contributes = scalar::logical_and(all.contributes, test.holds());
  }
  return all;
}

} // namespace nvfuser
