#include "lower/statements.h"

#include <algorithm>

#include "eval/simplify.h"
#include "graph/scatter_storage.h"
#include "ir/scalar.h"
#include "lower/async_copies.h"
#include "lower/kernel_forms.h"
#include "lower/memory_layout.h"
#include "lower/parallel_reduction.h"

namespace nvfuser {
namespace {

/// The vectorized loop of a statement, nullptr if it is scalar.
const Loop* vector_loop(const LoopNest& nest) {
  for (const Loop* loop : nest) {
    if (loop->parallel_type == ParallelType::Vectorize) {
      return loop;
    }
  }
  return nullptr;
}

} // namespace

TensorView* first_output(const Expr* expr) {
  return static_cast<TensorView*>(expr->outputs().front());
}

TensorIndex* StatementBuilder::element(TensorView* tensor, Context& context) {
  if (TensorView* storage = storage_of(tensor); storage != tensor) {
    const IterDomains axes = TensorDomain::no_reductions(tensor->logical());
    IndexWalk::Positions positions;
    for (size_t i = 0; i < axes.size(); ++i) {
      positions.emplace_back(storage->logical().at(i), context.walk.index_of(axes[i], tensor));
    }
    return element_at(storage, positions, context);
  }
  Val* offset = element_offset(kernel_, *kernel_.simplifier, context.walk, tensor);
  return kernel_.new_tensor_index(tensor, offset);
}

TensorIndex* StatementBuilder::result(Val* out, Context& context) {
  return element(static_cast<TensorView*>(out), context);
}

Val* StatementBuilder::operand(Val* val, Context& context) {
  return val->is_tensor() ? element(static_cast<TensorView*>(val), context) : val;
}

std::vector<Expr*> StatementBuilder::lower(Expr* expr) {
  return lower(expr, kernel_.loop_model->nest(first_output(expr)));
}

std::vector<Expr*> StatementBuilder::lower(Expr* expr, const LoopNest& nest) {
  std::vector<Expr*> statements;
  if (is_reduction_expr(expr)) {
    statements = reduce(expr, nest);
  } else if (auto* op = expr->as<ScanOp>()) {
    statements = scan(*op, nest);
  } else {
    Context context{
        IndexWalk(kernel_, *kernel_.simplifier, nest, first_output(expr), vector_loop(nest)),
        first_output(expr)};
    statements = {define(expr, context)};
  }
  for (const Expr* statement : statements) {
    kernel_.origin[statement] = expr;
  }
  return statements;
}

Expr* StatementBuilder::define(Expr* expr, Context& context) {
  Expr* statement = visit(*expr, [&](auto& op) -> Expr* { return convert(op, context); });
  kernel_.tests[statement] = tests_of(expr, context);
  follow_last_block(expr);
  return statement;
}

void StatementBuilder::follow_last_block(const Expr* expr) {
  for (Val* val : expr->inputs()) {
    const auto found = last_block_.find(val);
    if (found != last_block_.end()) {
      for (Val* result : expr->outputs()) {
        last_block_[result] = found->second;
      }
    }
  }
}

Expr* StatementBuilder::copy_to(TensorView* out, Val* value, Context& context) {
  return kernel_.make<LoadStoreOp>(element(out, context), value, LoadStoreOpType::Set);
}

// ---- Statements on one element of each operand --------------------------------------------------

Expr* StatementBuilder::convert(UnaryOp& op, Context& context) {
  return kernel_.make<UnaryOp>(result(op.out, context), operand(op.arg, context), op.op);
}

Expr* StatementBuilder::convert(BinaryOp& op, Context& context) {
  return kernel_.make<BinaryOp>(
      result(op.out, context), operand(op.lhs, context), operand(op.rhs, context), op.op);
}

Expr* StatementBuilder::convert(TernaryOp& op, Context& context) {
  return kernel_.make<TernaryOp>(
      result(op.out, context), operand(op.in1, context), operand(op.in2, context),
      operand(op.in3, context), op.op);
}

Expr* StatementBuilder::convert(LoadStoreOp& op, Context& context) {
  return kernel_.make<LoadStoreOp>(
      result(op.out, context), operand(op.arg, context), op.op, op.cache_op);
}

Expr* StatementBuilder::convert(BroadcastOp& op, Context& context) {
  return copy_to(op.out, operand(op.arg, context), context);
}

Expr* StatementBuilder::convert(SqueezeOp& op, Context& context) {
  return copy_to(op.out, operand(op.arg, context), context);
}

Expr* StatementBuilder::convert(ExpandOp& op, Context& context) {
  return copy_to(op.out, operand(op.arg, context), context);
}

Expr* StatementBuilder::convert(ReshapeOp& op, Context& context) {
  return copy_to(op.out, operand(op.arg, context), context);
}

Expr* StatementBuilder::convert(Expr& other, Context&) {
  throw_no_kernel_form(other);
}

// ---- Under which tests a statement runs ---------------------------------------------------------

StatementTests StatementBuilder::tests_of(Expr* expr, Context& context) {
  StatementTests tests;
  const TensorView* out = first_output(expr);
  tests.ranges = context.walk.hole_tests(tested_axes(out), out);
  tests.owner = owner_test(out);
  if (context.condition != nullptr) {
    tests.owner = scalar::logical_and(tests.owner, context.condition);
  }
  if (is_async_copy(kernel_, expr)) {
    // In an allocation domain of its own, a hole may have the place of an element.
    tests.storage = out->has_allocation()
                        ? tests.ranges
                        : storage_tests(kernel_, *kernel_.simplifier, context.walk, out);
  }
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
  for (const Loop* loop : statement_nest(kernel_, last.reduction->definition())) {
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

} // namespace nvfuser
