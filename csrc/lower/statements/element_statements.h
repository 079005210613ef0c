// The statement that computes one element of a result, for every kind of expression that computes
// its elements one by one.
//   T3[i0, i1] = T1[i0, i1] + T2[i1]   becomes   T3[o3] = T1[o1] + T2[o2]
#pragma once

#include "lower/statements/statement_context.h"

namespace nvfuser {

// One element of each operand, at the same position: element_statements.cpp.
Expr* convert(UnaryOp& op, StatementContext& context);
Expr* convert(BinaryOp& op, StatementContext& context);
Expr* convert(TernaryOp& op, StatementContext& context);
Expr* convert(LoadStoreOp& op, StatementContext& context);
/// A copy of a box (lower/analysis/bulk_copies.h), as one statement: bulk_statements.cpp.
Expr* convert_box(TensorView* copy, StatementContext& context);
Expr* convert(BroadcastOp& op, StatementContext& context);
Expr* convert(SqueezeOp& op, StatementContext& context);
Expr* convert(ExpandOp& op, StatementContext& context);
Expr* convert(ReshapeOp& op, StatementContext& context);
Expr* convert(WaitForPriorGridOp& op, StatementContext& context);
Expr* convert(LaunchDependentGridOp& op, StatementContext& context);

// Made from scalars: create_statements.cpp.
Expr* convert(FullOp& op, StatementContext& context);
Expr* convert(IotaOp& op, StatementContext& context);
Expr* convert(EyeOp& op, StatementContext& context);
Expr* convert(TensorConstruct& op, StatementContext& context);
Expr* convert(RNGOp& op, StatementContext& context);

// Parts of an operand, operands with surroundings: resize_statements.cpp.
Expr* convert(SliceOp& op, StatementContext& context);
Expr* convert(PadOp& op, StatementContext& context);
Expr* convert(CatOp& op, StatementContext& context);
Expr* convert(RepeatOp& op, StatementContext& context);

// At positions that a tensor holds: index_statements.cpp.
Expr* convert(SelectOp& op, StatementContext& context);
Expr* convert(IndexSelectOp& op, StatementContext& context);
Expr* convert(GatherOp& op, StatementContext& context);
Expr* convert(ScatterOp& op, StatementContext& context);

/// Whether a node of a kind that has statements has some. Not all attributes do.
[[nodiscard]] inline bool can_convert(const Expr&) {
  return true;
}
[[nodiscard]] bool can_convert(const UnaryOp& op);
[[nodiscard]] bool can_convert(const TernaryOp& op);
[[nodiscard]] bool can_convert(const TensorConstruct& op);
[[nodiscard]] bool can_convert(const ScatterOp& op);
[[nodiscard]] bool can_convert(const MmaOp& op);

/// Whether `expr` reads its operand at other positions than it writes: what it reads for a hole of
/// its result may lie outside of the operand.
[[nodiscard]] bool reads_elsewhere(const Expr* expr);

/// Whether `expr` is a pad of an input that has no statement, as the cat that reads its result
/// reads the input instead.
[[nodiscard]] bool is_read_through(Kernel& kernel, const Expr* expr);

} // namespace nvfuser
