#pragma once

#include "ir/all_nodes.h"
#include "lower/analysis/last_blocks.h"
#include "lower/analysis/reductions.h"
#include "lower/statements/scan_loops.h"
#include "lower/statements/statement_context.h"

namespace nvfuser {

/// The operands that a reduction combines at one element of its results, or at several at once.
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
/// and says under which tests they run (`kernel.tests`). Reductions (reduction_statements.cpp),
/// scans (scan_statements.cpp) and products by tensor cores (mma_statements.cpp) have statements of
/// their own; for all others there is `convert` (lower/statements/element_statements.h).
class StatementBuilder {
 public:
  explicit StatementBuilder(Kernel& kernel) : kernel_(kernel), last_blocks_(kernel) {}

  /// The statements in the innermost loop of the expression's nest.
  std::vector<Expr*> lower(Expr* expr);
  /// The same in another nest: with other indices of the same loops.
  std::vector<Expr*> lower(Expr* expr, const LoopNest& nest);
  /// The statement that sets the accumulators of a reduction to its identity; its nest is the
  /// expression's without the loops of reduced axes.
  std::vector<Expr*> initialize(Expr* reduction, const LoopNest& nest);

  // A scan has registers outside of the loops over its axis. In this order:
  /// Registers, and what they are set to.
  struct ScanStart {
    LoopNest outlived; // loops of the nest that they stand before
    Scope allocations;
    Expr* initial = nullptr;
  };
  /// Check the loops and choose the registers.
  std::vector<ScanStart> start_scan(ScanOp& op, const LoopNest& nest);
  /// The loops over its axis.
  [[nodiscard]] const ScanLoops& loops_of_scan(const ScanOp& op) const;
  // For a scan over threads, after the loops over a thread's items:
  /// The statement that combines threads.
  Expr* scan_threads(ScanOp& op);
  /// The statement that makes a result of what the thread has, in all loops of the nest.
  Expr* finish_scan(ScanOp& op, const LoopNest& nest);

 private:
  friend bool has_kernel_form(const Expr& expr);
  /// Statements of the kinds that hold something over their loops. All others have a `convert`.
  std::vector<Expr*> combine(ReductionOp& op, const LoopNest& nest) {
    return reduce(&op, nest);
  }
  std::vector<Expr*> combine(WelfordOp& op, const LoopNest& nest) {
    return reduce(&op, nest);
  }
  std::vector<Expr*> combine(GroupedReductionOp& op, const LoopNest& nest) {
    return reduce(&op, nest);
  }
  std::vector<Expr*> combine(ScanOp& op, const LoopNest& nest) {
    return scan(op, nest);
  }
  std::vector<Expr*> combine(MmaOp& op, const LoopNest& nest) {
    return multiply(op, nest);
  }
  std::vector<Expr*> reduce(Expr* expr, const LoopNest& nest);
  std::vector<Expr*> reduce_in_thread(Expr* expr, const LoopNest& nest);
  std::vector<Expr*> reduce_across_threads(
      Expr* expr, const LoopNest& nest, const ReductionShape& shape);
  ReductionOperands operands_of(Expr* expr, StatementContext& context);
  ReductionOperands operands_of_lanes(Expr* expr, const LoopNest& nest);
  /// Tests under which an element contributes.
  std::vector<RangeTest> contribution_tests(
      const TensorView* out, const LoopNest& nest, StatementContext& context);

  /// Fragments from or to shared memory: matrix_statements.cpp. Empty: refused.
  std::vector<Expr*> copy_matrices(LoadStoreOp& op, const LoopNest& nest);
  /// From or to tensor memory: mma_statements.cpp.
  std::vector<Expr*> copy_columns(LoadStoreOp& op, const LoopNest& nest);
  /// On every target: rows lie in shared memory as the instruction copies them.
  void check_rows(LoadStoreOp& op, const LoopNest& nest);
  /// By tensor cores: mma_statements.cpp.
  std::vector<Expr*> multiply(MmaOp& op, const LoopNest& nest);

  // Scans: scan_statements.cpp.
  /// One element for each position of some loops.
  struct Registers {
    TensorView* tensor = nullptr;
    LoopNest loops;
  };
  struct Scan {
    ScanLoops loops;
    Registers carry; // what was combined so far; over threads: by all of them
    Registers own;   // by one thread, in the loops over its items
    Registers chunk; // `own` at each item
  };
  Registers new_registers(const ScanOp& op, const LoopNest& loops);
  Expr* allocate(const Registers& registers, ScanOp& op);
  TensorIndex* element(const Registers& registers);
  Expr* set_registers(const Registers& registers, Val* value, ScanOp& op);
  std::vector<Expr*> scan(ScanOp& op, const LoopNest& nest);

  Val* owner_test(const TensorView* tensor);
  StatementTests tests_of(Expr* expr, StatementContext& context);

  void require_same_iteration(const TensorView* dependent, const Expr* reduction) const;

  Kernel& kernel_;
  IndexWalk::Shared walks_;
  LastBlocks last_blocks_;
  std::unordered_map<const Expr*, Val*> is_last_; // of reductions over blocks that are not for all
  std::unordered_map<const ScanOp*, Scan> scans_;
};

/// Whether there are statements for `expr`: its kind has a `convert`, which takes its attributes,
/// or a `combine`.
[[nodiscard]] bool has_kernel_form(const Expr& expr);

/// Axes that must not be holes for a statement that defines `tensor` to run.
[[nodiscard]] IterDomains tested_axes(const TensorView* tensor);

} // namespace nvfuser
