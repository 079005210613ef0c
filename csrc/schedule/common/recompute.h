// Computing elements anew in each pass over a row, instead of keeping them.
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

/// Tensors that are computed once, where later passes find them.
using KeptRows = std::vector<TensorView*>;

/// The tensors with an element for each one of the problem that the first pass computes, without
/// any result of a reduction, and that later passes begin with. Inputs are none of them.
/// Cost: O(exprs * passes).
[[nodiscard]] KeptRows rows_of_first_pass(const FusionSummary& summary);

/// Refuses what cannot be computed twice: tensors that are created, from random numbers or without
/// operands, and that several passes need, where `kept` are computed once.
[[nodiscard]] std::optional<Refusal> find_unrepeatable(
    const FusionSummary& summary, const KeptRows& kept = {});

/// Refuses the same of parts of rows (below).
[[nodiscard]] std::optional<Refusal> find_unrepeatable_part(const FusionSummary& summary);

/// Inputs with an element for each one of the problem that more than one pass needs, where each
/// computes what it needs but `kept`. Cost: O(exprs * passes).
[[nodiscard]] std::vector<const TensorView*> inputs_of_several_passes(
    const FusionSummary& summary, const KeptRows& kept = {});

/// Let no tensor with an element for each one of the problem be needed before and after a
/// reduction, but inputs and `kept`: what several passes need is an expression for each of them.
///   before:  T1 = float(T0)   T2 = sum(T1)   T3 = T1 / T2
///   after:   T1 = float(T0)   T2 = sum(T1)   T4 = float(T0)   T3 = T4 / T2
/// An output stays the tensor of the pass that has all it needs. Nothing is scheduled yet.
/// Throws what is refused above. Cost: O(exprs * passes).
void recompute_in_each_pass(FusionSummary& summary, const KeptRows& kept = {});

/// Inputs that are parts of rows, and that more than one pass needs, where each computes what it
/// needs: each pass loads them. Cost: O(exprs * passes).
[[nodiscard]] std::vector<const TensorView*> parts_of_several_passes(const FusionSummary& summary);

/// The same for parts of rows alone: tensors that have some of the axes that are reduced, and
/// repeat their elements along the others. Threads share the elements of a row, so that in another
/// pass other threads would need what one of them keeps. Whole rows stay what they are.
/// Throws what is refused of parts. Cost: O(exprs * passes).
void recompute_parts_in_each_pass(FusionSummary& summary);

} // namespace nvfuser::schedule
