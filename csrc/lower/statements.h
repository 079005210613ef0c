#pragma once

#include "ir/all_nodes.h"
#include "lower/index_walk.h"

namespace nvfuser {

/// Reductions of `expr`: hardware indices its reduced axes are bound to.
struct ReductionShape {
  bool has_serial = false;
  std::vector<int64_t> thread_dims; // 0 x, 1 y, 2 z
  std::vector<int64_t> grid_dims;
  [[nodiscard]] bool is_parallel() const {
    return !thread_dims.empty() || !grid_dims.empty();
  }
};

/// What a reduction combines at one element of its results, or at several at once.
struct ReductionOperands {
  std::vector<Val*> outs;
  std::vector<Val*> ins;
  std::vector<Val*> inits;
  std::vector<BinaryOpType> ops; // one per value; empty for a Welford triple
  bool is_welford = false;
  Val* contributes = nullptr; // Bool, nullptr: always
};

/// Turns one tensor expression into statements on elements of tensors.
///   T3[i0, i1] = T1[i0, i1] + T2[i1]   becomes   T3[o3] = T1[o1] + T2[o2]
/// and says under which tests they run (`kernel.tests`). The statements of reductions, scans, and
/// of other families stand in *_statements.cpp.
class StatementBuilder {
 public:
  explicit StatementBuilder(Kernel& kernel) : kernel_(kernel) {}

  /// The statements in the innermost loop of the expression's nest.
  std::vector<Expr*> lower(Expr* expr);
  /// The same in another nest: with other indices of the same loops.
  std::vector<Expr*> lower(Expr* expr, const LoopNest& nest);
  /// The statement that sets the accumulators of a reduction to its identity; its nest is the
  /// expression's without the loops of reduced axes.
  std::vector<Expr*> initialize(Expr* reduction, const LoopNest& nest);

  // A scan has a register outside of the loops over its axis, a running value. In this order:
  /// Check the loops and choose the registers. Their allocation.
  Expr* prepare_scan(ScanOp& op, const LoopNest& nest);
  /// The loops over its axis.
  [[nodiscard]] const LoopNest& loops_of_scan(const ScanOp& op) const;
  /// The statement that sets a running value to the initial one.
  Expr* start_scan(ScanOp& op);

 private:
  /// The walk of one statement.
  struct Context {
    IndexWalk walk;
    const TensorView* out;
    Val* condition = nullptr; // of the statement alone: it writes inside of the tensor
  };
  /// The statement of an expression that is no reduction, and its tests.
  Expr* define(Expr* expr, Context& context);
  std::vector<Expr*> reduce(Expr* expr, const LoopNest& nest);
  std::vector<Expr*> scan(ScanOp& op, const LoopNest& nest);
  TensorIndex* running_value(const ScanOp& op);
  std::vector<Expr*> reduce_in_thread(Expr* expr, const LoopNest& nest);
  std::vector<Expr*> reduce_across_threads(
      Expr* expr, const LoopNest& nest, const ReductionShape& shape);
  ReductionOperands operands_of(Expr* expr, Context& context);
  ReductionOperands operands_of_lanes(Expr* expr, const LoopNest& nest);
  /// Tests under which an element contributes.
  std::vector<RangeTest> contribution_tests(
      const TensorView* out, const LoopNest& nest, Context& context);

  // One overload for each kind of expression that computes an element at a time.
  Expr* convert(UnaryOp& op, Context& context);
  Expr* convert(BinaryOp& op, Context& context);
  Expr* convert(TernaryOp& op, Context& context);
  Expr* convert(LoadStoreOp& op, Context& context);
  Expr* convert(BroadcastOp& op, Context& context);
  Expr* convert(SqueezeOp& op, Context& context);
  Expr* convert(ExpandOp& op, Context& context);
  Expr* convert(ReshapeOp& op, Context& context);
  Expr* convert(FullOp& op, Context& context);
  Expr* convert(IotaOp& op, Context& context);
  Expr* convert(EyeOp& op, Context& context);
  Expr* convert(TensorConstruct& op, Context& context);
  Expr* convert(RNGOp& op, Context& context);
  Expr* convert(SliceOp& op, Context& context);
  Expr* convert(PadOp& op, Context& context);
  Expr* convert(CatOp& op, Context& context);
  Expr* convert(RepeatOp& op, Context& context);
  // (index_statements.cpp)
  Expr* convert(SelectOp& op, Context& context);
  Expr* convert(IndexSelectOp& op, Context& context);
  Expr* convert(GatherOp& op, Context& context);
  Expr* convert(ScatterOp& op, Context& context);
  /// All others have no kernel form.
  [[noreturn]] Expr* convert(Expr& other, Context& context);

  // Resizes: resize_statements.cpp.
  /// Position along `root`, an axis that the statement reads, of the element at `logical`.
  Val* position_of(IterDomain* root, IterDomain* logical, Context& context);
  /// The element of the operand of a slice or pad.
  Val* element_before_resize(TensorView* producer, Context& context);

  Expr* copy_to(TensorView* out, Val* value, Context& context);
  /// Position of the statement's element along a dimension of `out`, which is made from scalars.
  Val* logical_index(const TensorView* out, size_t dim, Context& context);
  /// Its row-major position in the logical shape.
  Val* logical_position(const TensorView* out, Context& context);
  /// The element of `out` that the statement defines.
  TensorIndex* result(Val* out, Context& context);
  /// The element of a tensor that the statement reads; a scalar is itself.
  Val* operand(Val* val, Context& context);
  TensorIndex* element(TensorView* tensor, Context& context);
  /// The element at other positions than those of the loops.
  TensorIndex* element_at(
      TensorView* producer, const IndexWalk::Positions& positions, Context& context);
  /// Copies the element of `arg` at position `index` of dimension `dim`, and where the statement
  /// stands along the others. Dimension i of `arg` is out_dims[i] of `out`.
  Expr* look_up(
      TensorView* out,
      TensorView* arg,
      int64_t dim,
      Val* index,
      const std::vector<int64_t>& out_dims,
      Context& context);
  Val* owner_test(const TensorView* tensor);
  StatementTests tests_of(Expr* expr, Context& context);

  Kernel& kernel_;
  /// Results that only the last block of a grid reduction holds, and the condition.
  struct LastBlock {
    Val* is_last = nullptr;
    std::vector<ParallelType> types;
    const TensorView* reduction = nullptr;
  };
  /// What depends on such a result is held by the last block only, too.
  void follow_last_block(const Expr* expr);
  void check_same_iteration(const TensorView* dependent, const LastBlock& last) const;
  std::unordered_map<const Val*, LastBlock> last_block_;
  struct RunningValue {
    TensorView* registers = nullptr;
    LoopNest scanned; // loops over the axis
    LoopNest inner;   // loops inside of the first of them that address the registers
  };
  std::unordered_map<const ScanOp*, RunningValue> running_values_;
};

/// Whether `expr` reads its operand at other positions than it writes: what it reads for a hole of
/// its result may lie outside of the operand.
[[nodiscard]] bool reads_elsewhere(const Expr* expr);

[[nodiscard]] ReductionShape reduction_shape(const Kernel& kernel, const TensorView* out);

/// Whether `loop` drives an axis that `tensor` reduces.
[[nodiscard]] bool is_reduced(const Kernel& kernel, const TensorView* tensor, const Loop* loop);

/// The tensor that stands for all results of `expr`: they have one loop nest.
TensorView* first_output(const Expr* expr);

/// Axes that must not be holes for a statement that defines `tensor` to run.
[[nodiscard]] IterDomains tested_axes(const TensorView* tensor);

/// Whether `expr` combines elements (of one tensor, of several in step, or into a Welford triple).
[[nodiscard]] bool is_reduction_expr(const Expr* expr);

/// Whether a register outside of some of its loops holds what was combined so far.
[[nodiscard]] bool combines_over_loops(const Expr* expr);

/// The loops around the statement of `expr`: its nest without grouped axes, if one statement
/// combines all their lanes across threads.
[[nodiscard]] LoopNest statement_nest(const Kernel& kernel, const Expr* expr);

} // namespace nvfuser
