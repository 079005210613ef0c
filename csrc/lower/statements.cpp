#include "lower/statements.h"

#include <algorithm>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "lower/memory_layout.h"
#include "lower/parallel_reduction.h"

namespace nvfuser {
namespace {

TensorView* first_output(const Expr* expr) {
  return static_cast<TensorView*>(expr->outputs().front());
}

/// The vectorized loop of a statement, nullptr if it is scalar.
const Loop* vector_loop(const LoopNest& nest) {
  for (const Loop* loop : nest) {
    if (loop->parallel_type == ParallelType::Vectorize) {
      return loop;
    }
  }
  return nullptr;
}

/// Axes that must not be holes for a statement that defines `tensor` to run.
IterDomains tested_axes(const TensorView* tensor) {
  const bool is_rfactor = is_reduction_expr(tensor->definition()) && tensor->has_root();
  IterDomains axes;
  for (IterDomain* id : is_rfactor ? tensor->maybe_root() : tensor->logical()) {
    if (!id->is_broadcast()) {
      axes.push_back(id);
    }
  }
  return axes;
}

} // namespace

struct StatementBuilder::Context {
  IndexWalk walk;
  const TensorView* out;
};

bool is_reduction_expr(const Expr* expr) {
  return expr != nullptr && (expr->is_a<ReductionOp>() || expr->is_a<WelfordOp>());
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

TensorIndex* StatementBuilder::element(TensorView* tensor, Context& context) {
  Val* offset = element_offset(kernel_, *kernel_.simplifier, context.walk, tensor);
  return kernel_.new_tensor_index(tensor, offset);
}

Val* StatementBuilder::operand(Val* val, Context& context) {
  return val->is_tensor() ? element(static_cast<TensorView*>(val), context) : val;
}

std::vector<Expr*> StatementBuilder::lower(Expr* expr) {
  TensorView* out = first_output(expr);
  const LoopNest& nest = kernel_.loop_model->nest(out);
  Context context{IndexWalk(kernel_, *kernel_.simplifier, nest, vector_loop(nest)), out};
  std::vector<Expr*> statements;
  if (is_reduction_expr(expr)) {
    statements = reduce(expr, context);
  } else {
    statements = {convert(expr, context)};
  }
  for (const Expr* statement : statements) {
    kernel_.origin[statement] = expr;
  }
  return statements;
}

Expr* StatementBuilder::convert(Expr* expr, Context& context) {
  TensorView* out = first_output(expr);
  const auto in = [&](Val* val) { return operand(val, context); };
  const auto copy_of = [&](Val* value) -> Expr* {
    return kernel_.make<LoadStoreOp>(element(out, context), value, LoadStoreOpType::Set);
  };
  const auto set_like = [&](const auto& op) -> Expr* { return copy_of(in(op.arg)); };
  Expr* statement = visit(
      *expr,
      overloaded{
          [&](UnaryOp& op) -> Expr* {
            return kernel_.make<UnaryOp>(element(out, context), in(op.arg), op.op);
          },
          [&](BinaryOp& op) -> Expr* {
            return kernel_.make<BinaryOp>(element(out, context), in(op.lhs), in(op.rhs), op.op);
          },
          [&](TernaryOp& op) -> Expr* {
            return kernel_.make<TernaryOp>(
                element(out, context), in(op.in1), in(op.in2), in(op.in3), op.op);
          },
          [&](LoadStoreOp& op) -> Expr* {
            return kernel_.make<LoadStoreOp>(element(out, context), in(op.arg), op.op, op.cache_op);
          },
          [&](BroadcastOp& op) -> Expr* { return set_like(op); },
          [&](SqueezeOp& op) -> Expr* { return set_like(op); },
          [&](ExpandOp& op) -> Expr* { return set_like(op); },
          [&](ReshapeOp& op) -> Expr* { return set_like(op); },
          [&](FullOp& op) -> Expr* { return copy_of(scalar::cast(out->dtype(), op.fill_value)); },
          [&](IotaOp& op) -> Expr* {
            // User values are not index arithmetic: the position is converted at the border.
            Val* position = context.walk.index_of(out->logical().front(), out);
            Val* number = scalar::cast(out->dtype(), position);
            Val* step = scalar::cast(out->dtype(), op.step);
            Val* start = scalar::cast(out->dtype(), op.start);
            return copy_of(scalar::add(start, scalar::mul(number, step)));
          },
          [&](Expr& other) -> Expr* {
            throw UserError(
                {
                    .headline = {other.op_name(), " has no kernel form"},
                    .node = {describe(other)},
                    .expected = {"an operation that runs element by element, or a reduction"},
                    .found = {other.op_name()},
                    .fix = {"evaluate it through the fallback evaluator"},
                },
                ErrorKind::NotImplemented);
          },
      });
  kernel_.tests[statement] = tests_of(expr, context);
  for (Val* val : expr->inputs()) {
    const auto found = last_block_.find(val);
    if (found != last_block_.end()) {
      for (Val* result : expr->outputs()) {
        last_block_[result] = found->second;
      }
    }
  }
  return statement;
}

StatementTests StatementBuilder::tests_of(Expr* expr, Context& context) {
  StatementTests tests;
  const TensorView* out = first_output(expr);
  tests.ranges = context.walk.hole_tests(tested_axes(out), out);
  tests.owner = owner_test(out);
  const auto last = std::find_if(expr->inputs().begin(), expr->inputs().end(), [&](const Val* in) {
    return last_block_.count(in) != 0;
  });
  if (last != expr->inputs().end() && out->memory_type() == MemoryType::Global) {
    check_same_iteration(out, last_block_.at(*last));
    tests.owner = scalar::logical_and(tests.owner, last_block_.at(*last).is_last);
  }
  return tests;
}

/// The last block to arrive is another one in every iteration of the loops around the reduction.
void StatementBuilder::check_same_iteration(
    const TensorView* dependent, const LastBlock& last) const {
  const LoopNest& nest = kernel_.loop_model->nest(dependent);
  for (const Loop* loop : kernel_.loop_model->nest(last.reduction)) {
    const bool is_shared = std::find(nest.begin(), nest.end(), loop) != nest.end();
    if (!is_shared && !loop->is_thread() && !loop->index->is_const()) {
      throw UserError({
          .headline = {"The result of a reduction over blocks is stored outside of its loops"},
          .node = {describe(dependent), "\ndepends on ", describe(last.reduction)},
          .expected = {"a store inside the loop over ", loop->promoted->to_string()},
          .found = {"a loop nest of its own"},
          .fix = {"inline the reduction into what reads it, or parallelize that axis"},
      });
    }
  }
}

/// Memory that several threads (or blocks) would write with the same value has one writer: the
/// first, on every hardware index that none of the tensor's loops is bound to.
Val* StatementBuilder::owner_test(const TensorView* tensor) {
  if (tensor->memory_type() == MemoryType::Local) {
    return nullptr;
  }
  std::vector<ParallelType> spared; // decided by the last block of a grid reduction instead
  for (Val* in : tensor->definition()->inputs()) {
    const auto found = last_block_.find(in);
    if (found != last_block_.end()) {
      spared = found->second.types;
    }
  }
  Val* test = nullptr;
  for (const ParallelType type : kThreadParallelTypes) {
    const Val* launched = kernel_.launch.extents[thread_type_index(type)];
    if (launched == nullptr || launched->is_one() ||
        (is_block_dim(type) && tensor->memory_type() == MemoryType::Shared) ||
        std::find(spared.begin(), spared.end(), type) != spared.end()) {
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

std::vector<Expr*> StatementBuilder::initialize(Expr* reduction, const LoopNest& nest) {
  Context context{IndexWalk(kernel_, *kernel_.simplifier, nest), first_output(reduction)};
  std::vector<Expr*> statements;
  const auto set = [&](Val* out, Val* init) {
    auto* tensor = static_cast<TensorView*>(out);
    statements.push_back(kernel_.make<LoadStoreOp>(
        element(tensor, context), scalar::cast(tensor->dtype(), init), LoadStoreOpType::Set));
    kernel_.origin[statements.back()] = reduction;
  };
  if (const auto* op = reduction->as<ReductionOp>()) {
    set(op->out, op->init);
  } else if (const auto* welford = reduction->as<WelfordOp>()) {
    set(welford->out_avg, welford->init_avg);
    set(welford->out_var, welford->init_var);
    set(welford->out_n, welford->init_n);
  }
  return statements;
}

std::vector<Expr*> StatementBuilder::reduce(Expr* expr, Context& context) {
  TensorView* out = first_output(expr);
  std::vector<Val*> outs;
  std::vector<Val*> ins;
  std::vector<Val*> inits;
  for (Val* val : expr->outputs()) {
    outs.push_back(element(static_cast<TensorView*>(val), context));
  }
  for (Val* val : expr->inputs()) {
    ins.push_back(operand(val, context));
  }
  BinaryOpType op = BinaryOpType::Add;
  const bool is_welford = expr->is_a<WelfordOp>();
  if (const auto* reduction = expr->as<ReductionOp>()) {
    op = reduction->op;
    inits = {scalar::cast(out->dtype(), reduction->init)};
  } else {
    const auto* welford = expr->as<WelfordOp>();
    inits = {
        scalar::cast(welford->out_avg->dtype(), welford->init_avg),
        scalar::cast(welford->out_var->dtype(), welford->init_var),
        scalar::cast(welford->out_n->dtype(), welford->init_n)};
  }
  StatementTests tests{context.walk.hole_tests(tested_axes(out), out), nullptr};
  const LoopNest& nest = kernel_.loop_model->nest(out);
  bool is_accumulating = false; // the accumulator is set before the first loop of a reduced axis
  for (const Loop* loop : nest) {
    is_accumulating = is_accumulating || is_reduced(kernel_, out, loop);
    // A broadcast split by 4 runs four times over one element; it must be added once.
    if (is_accumulating && loop->is_broadcast() && !loop->is_thread() && !loop->index->is_const()) {
      tests.ranges.push_back({loop->index, kernel_.one()});
    }
  }
  const ReductionShape shape = reduction_shape(kernel_, out);
  if (!shape.is_parallel()) {
    Expr* statement =
        is_welford
            ? static_cast<Expr*>(kernel_.make<WelfordOp>(
                  outs[0], outs[1], outs[2], ins[0], ins[1], ins[2], inits[0], inits[1], inits[2]))
            : static_cast<Expr*>(
                  kernel_.make<BinaryOp>(outs[0], element(out, context), ins[0], op));
    kernel_.tests[statement] = tests;
    return {statement};
  }
  // Every thread makes the call; what it contributes is an argument.
  Val* contributes = nullptr;
  for (const RangeTest& test : tests.ranges) {
    contributes = scalar::logical_and(contributes, scalar::lt(test.index, test.extent));
  }
  ReductionOperands operands{outs, ins, inits, op, is_welford, contributes};
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

} // namespace nvfuser
