#include <algorithm>
#include <deque>

#include "graph/scatter_storage.h"
#include "ir/scalar.h"
#include "lower/parallel_reduction.h"
#include "lower/statements.h"

namespace nvfuser {
namespace {

/// Whether one statement combines the lanes of grouped axes. A Welford triple goes alone.
bool combines_lanes(const Kernel& kernel, const Expr* expr) {
  return is_reduction_expr(expr) && !expr->is_a<WelfordOp>() &&
         reduction_shape(kernel, first_output(expr)).is_parallel();
}

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

/// All lanes contribute, or none. A lane that is a hole combines what no one reads, which is no
/// error in registers; elsewhere it must not be touched.
void check_lane_tests(
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
    throw UserError({
        .headline = {"The lanes of a grouped axis are not in range together"},
        .node = {describe(out)},
        .expected = {"a grouped axis that divides its dimension, or an operand in registers"},
        .found = {"a split that may not divide, and an operand in memory"},
        .fix = {"cache the operand in registers (cache_after)"},
    });
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

bool is_reduction_expr(const Expr* expr) {
  return expr != nullptr &&
         (expr->is_a<ReductionOp>() || expr->is_a<WelfordOp>() || expr->is_a<GroupedReductionOp>());
}

LoopNest statement_nest(const Kernel& kernel, const Expr* expr) {
  LoopNest nest = kernel.loop_model->nest(first_output(expr));
  if (combines_lanes(kernel, expr)) {
    std::erase_if(
        nest, [](const Loop* loop) { return loop->parallel_type == ParallelType::Group; });
  }
  return nest;
}

ReductionShape reduction_shape(const Kernel& kernel, const TensorView* out) {
  ReductionShape shape;
  for (int64_t i = 0; i < out->ndims(); ++i) {
    if (!out->axis(i)->is_reduction()) {
      continue;
    }
    const Loop* loop = kernel.loop_model->loop_of(out->axis(i));
    if (loop->index->is_const()) {
      continue; // runs once
    }
    if (is_thread_dim(loop->parallel_type)) {
      shape.thread_dims.push_back(
          static_cast<int64_t>(loop->parallel_type) - static_cast<int64_t>(ParallelType::TIDx));
    } else if (is_block_dim(loop->parallel_type)) {
      shape.grid_dims.push_back(
          static_cast<int64_t>(loop->parallel_type) - static_cast<int64_t>(ParallelType::BIDx));
    } else {
      shape.has_serial = true;
    }
  }
  std::sort(shape.thread_dims.begin(), shape.thread_dims.end());
  std::sort(shape.grid_dims.begin(), shape.grid_dims.end());
  return shape;
}

bool is_reduced(const Kernel& kernel, const TensorView* tensor, const Loop* loop) {
  const IterDomains& axes = tensor->loop();
  return std::any_of(axes.begin(), axes.end(), [&](const IterDomain* axis) {
    return axis->is_reduction() && kernel.loop_model->loop_of(axis) == loop;
  });
}

IterDomains tested_axes(const TensorView* tensor) {
  const bool is_rfactor = is_reduction_expr(tensor->definition()) && tensor->has_root();
  const IterDomains& visited = scatter_of(tensor) != nullptr ? tensor->domain()->initial_loop()
                               : is_rfactor                  ? tensor->maybe_root()
                                                             : tensor->logical();
  IterDomains axes;
  for (IterDomain* id : visited) {
    if (!id->is_broadcast()) {
      axes.push_back(id);
    }
  }
  return axes;
}

std::vector<Expr*> StatementBuilder::initialize(Expr* reduction, const LoopNest& nest) {
  Context context{
      IndexWalk(kernel_, *kernel_.simplifier, nest, first_output(reduction)),
      first_output(reduction)};
  const std::vector<Val*> inits = identities_of(reduction);
  std::vector<Expr*> statements;
  for (size_t i = 0; i < inits.size(); ++i) {
    statements.push_back(
        copy_to(static_cast<TensorView*>(reduction->outputs()[i]), inits[i], context));
    kernel_.origin[statements.back()] = reduction;
  }
  return statements;
}

ReductionOperands StatementBuilder::operands_of(Expr* expr, Context& context) {
  ReductionOperands operands;
  for (Val* val : expr->outputs()) {
    operands.outs.push_back(result(val, context));
  }
  for (Val* val : expr->inputs()) {
    operands.ins.push_back(operand(val, context));
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
    const TensorView* out, const LoopNest& nest, Context& context) {
  std::vector<RangeTest> tests = context.walk.hole_tests(tested_axes(out), out);
  bool is_accumulating = false; // the accumulator is set before the first loop of a reduced axis
  for (const Loop* loop : nest) {
    is_accumulating = is_accumulating || is_reduced(kernel_, out, loop);
    // A broadcast split by 4 runs four times over one element; it must be added once.
    if (is_accumulating && loop->is_broadcast() && !loop->is_thread() && !loop->index->is_const()) {
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
  Context context{IndexWalk(kernel_, *kernel_.simplifier, nest, out), out};
  const ReductionOperands values = operands_of(expr, context);
  const auto& [outs, ins, inits, ops, is_welford, contributes] = values;
  std::vector<Expr*> statements;
  if (is_welford) {
    statements = {kernel_.make<WelfordOp>(
        outs[0], outs[1], outs[2], ins[0], ins[1], ins[2], inits[0], inits[1], inits[2])};
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    Val* accumulated = result(expr->outputs()[i], context);
    statements.push_back(kernel_.make<BinaryOp>(outs[i], accumulated, ins[i], ops[i]));
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
  const TensorView* out = first_output(expr);
  ReductionOperands operands = operands_of_lanes(expr, nest);
  std::vector<Expr*> statements;
  if (!shape.thread_dims.empty()) {
    const bool is_warp = is_warp_reduction(kernel_, out, shape);
    if (shape.grid_dims.empty()) {
      return {make_block_reduction(kernel_, operands, shape.thread_dims, is_warp)};
    }
    // The block's own result goes through registers to the reduction over blocks.
    const ReductionOperands block = through_registers(kernel_, operands, statements);
    statements.push_back(make_block_reduction(kernel_, block, shape.thread_dims, is_warp));
    operands.ins = block.outs;
    operands.contributes = nullptr;
  }
  GridReduction* statement = make_grid_reduction(kernel_, expr, shape, operands);
  statements.push_back(statement);
  if (!statement->allreduce) {
    LastBlock last{statement->is_last, {}, out};
    for (const int64_t dim : shape.grid_dims) {
      last.types.push_back(kGridDimTypes[static_cast<size_t>(dim)]);
    }
    for (Val* val : expr->outputs()) {
      last_block_[val] = last;
    }
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
    Context context{IndexWalk(kernel_, *kernel_.simplifier, lane, out), out};
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
    check_lane_tests(out, common, of_lane, all.ins);
  }
  for (const RangeTest& test : common) {
    all.contributes = scalar::logical_and(all.contributes, test.holds());
  }
  return all;
}

} // namespace nvfuser
