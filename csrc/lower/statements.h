#pragma once

#include "lower/index_walk.h"

namespace nvfuser {

/// Turns one tensor expression into statements on elements of tensors.
///   T3[i0, i1] = T1[i0, i1] + T2[i1]   becomes   T3[o3] = T1[o1] + T2[o2]
/// and says under which tests they run (`kernel.tests`).
class StatementBuilder {
 public:
  explicit StatementBuilder(Kernel& kernel) : kernel_(kernel) {}

  /// The statements in the innermost loop of the expression's nest.
  std::vector<Expr*> lower(Expr* expr);
  /// The statement that sets the accumulators of a reduction to its identity; its nest is the
  /// expression's without the loops of reduced axes.
  std::vector<Expr*> initialize(Expr* reduction, const LoopNest& nest);

 private:
  struct Context; // the walk of one statement
  Expr* convert(Expr* expr, Context& context);
  std::vector<Expr*> reduce(Expr* expr, Context& context);
  Val* operand(Val* val, Context& context);
  TensorIndex* element(TensorView* tensor, Context& context);
  Val* owner_test(const TensorView* tensor);
  StatementTests tests_of(Expr* expr, Context& context);

  Kernel& kernel_;
  /// Results that only the last block of a grid reduction holds, and the condition.
  struct LastBlock {
    Val* is_last = nullptr;
    std::vector<ParallelType> types;
    const TensorView* reduction = nullptr;
  };
  void check_same_iteration(const TensorView* dependent, const LastBlock& last) const;
  std::unordered_map<const Val*, LastBlock> last_block_;
};

/// Reductions of `expr`: hardware indices its reduced axes are bound to.
struct ReductionShape {
  bool has_serial = false;
  std::vector<int64_t> thread_dims; // 0 x, 1 y, 2 z
  std::vector<int64_t> grid_dims;
  [[nodiscard]] bool is_parallel() const {
    return !thread_dims.empty() || !grid_dims.empty();
  }
};
[[nodiscard]] ReductionShape reduction_shape(const Kernel& kernel, const TensorView* out);

/// Whether `loop` drives an axis that `tensor` reduces.
[[nodiscard]] bool is_reduced(const Kernel& kernel, const TensorView* tensor, const Loop* loop);

/// Whether `expr` combines elements (ReductionOp, WelfordOp over at least one reduced axis).
[[nodiscard]] bool is_reduction_expr(const Expr* expr);

} // namespace nvfuser
