// Steps of recipes for reductions over the same axes.
#pragma once

#include <vector>

#include "schedule/common/loop_roles.h"
#include "schedule/params/reduction_params.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

/// The results of one reduction: one tensor, or the three of a Welford.
using ReductionResults = std::vector<TensorView*>;

/// The results of each reduction of the fusion; a reduction comes after those that it reads.
[[nodiscard]] std::vector<ReductionResults> reduction_results(const Fusion& fusion);

/// The result of the reduction that makes `tensor`, or whose copy it is.
[[nodiscard]] TensorView* reduced_tensor(TensorView* tensor);

/// Merge the loops of `reference`, whose logical axes are those of the problem's reference, to
/// [I, R, broadcasts]: roles Blocks, Serial and Ones, as far as there are such axes.
[[nodiscard]] LoopRoles make_canonical(TensorView* reference, const ReductionProblem& problem);
/// The same for another tensor, whose logical axes have these positions.
[[nodiscard]] LoopRoles make_canonical(
    TensorView* tensor,
    const std::vector<int64_t>& blocks,
    const std::vector<int64_t>& serial,
    const std::vector<int64_t>& ones);

/// Whether sums of an outer loop may be added to from an inner one. Not where a tensor has some of
/// the axes that are reduced: it is computed in the merged loop, which then is no loop of its own.
/// Before the fusion is edited.
[[nodiscard]] bool may_have_chains(const FusionSummary& summary);

/// Factor what is left of a reduction along its loop `role`, which has `extent` iterations, into
/// short sums: the last ones of two. A power of two, or the tree is not even.
void factor_into_short_sums(
    const LoopRoles& loops, LoopRole role, int64_t extent, const ReductionResults& results);

/// Let reductions run as one where that is possible, so that they share barriers.
void group_where_possible(const std::vector<ReductionResults>& reductions);

/// The columns of a thread are reduced together. `loops`: those of the results.
void group_lanes(const LoopRoles& loops, const std::vector<ReductionResults>& reductions);

/// The widths of the accesses: as the params say, or as wide as layouts allow.
[[nodiscard]] std::vector<int64_t> widths_of(
    const ReductionProblem& problem, const ReductionParams& params, int64_t lanes);

/// Let a task load whole vectors, for each reader anew, so that nothing is tested for each element
/// in the loops that compute. `widths`: of the accesses; none: loads stay where they are used.
[[nodiscard]] std::vector<std::pair<TensorView*, int64_t>> load_vectors(
    const ReductionProblem& problem, const std::vector<int64_t>& widths);

/// Write loads out, so that all stand before the first use: `loops` have the role Unroll. Their
/// readers are written out behind; one test of the whole decides for both that nothing in them has
/// to be tested.
void unroll_loads(LoopRoles& loops, const std::vector<TensorView*>& loads);

/// Put arrays that are too large for the registers of a task into its scratch memory.
/// Requires: all tensors are inlined.
void keep_arrays_in_scratch(const Fusion& fusion);

/// Put what other threads read than compute it into shared memory: a part of a row that could not
/// be inlined, since its readers are in different loops, or since one of them squeezes it.
/// Requires: all tensors are bound and inlined.
void share_with_other_threads(Fusion& fusion);

} // namespace nvfuser::schedule
