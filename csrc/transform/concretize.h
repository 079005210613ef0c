// Resolving dynamic shapes: a fusion with symbolic axes becomes one without.
//
//   ReshapeOp            SqueezeOp, ReshapeOp with merges and splits, BroadcastOp: those that have
//                        something to do; an empty tensor of the new sizes where the operand is
//                        empty. A dimension has the constant that the new shape says for it
//   ExpandOp             an expansion of dimensions of size 1; a copy if there are none
//   reductions, scans,   where an axis came out as a broadcast: defined again, by the functions of
//   searches, lookups    ops/ (transform/redefine.h)
//   slices, pads, topk,  whose result has a dimension that came out as a broadcast: their operands
//   tensors of scalars   say so (transform/redefine.h), and so does their text
//   every other reader   its symbolic axes become iterations or broadcasts, as their operands' did
#pragma once

#include "eval/evaluator.h"
#include "ir/fusion.h"
#include "transform/concretization.h"

namespace nvfuser {

/// Rewrite `fusion` (unscheduled) as `record` says, which was found for a fusion equal to it.
/// Tensors keep their names and their places among the outputs.
/// Ensures: has_dynamic_shapes(fusion) is false.
void concretize(Fusion& fusion, const Concretization& record);

/// Hold the sizes of axes that meet in an expression against each other. Requires: no symbolic
/// axes. Throws UserError: `Expected sizes to match`.
void check_meeting_sizes(const Fusion& fusion, ExpressionEvaluator& evaluator);
/// The error as a refusal.
[[nodiscard]] std::optional<Refusal> find_unequal_sizes(
    const Fusion& fusion, ExpressionEvaluator& evaluator);

} // namespace nvfuser
