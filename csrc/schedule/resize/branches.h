// Branches: maps over different shapes that one kernel computes beside each other, each in loops of
// its own. They read parts of one dimension:
//
//   T1[2, 12] = exp(reshape(slice(T0[36], 0:24)))      T2[2, 18] = exp(reshape(T0[36]))
//
// It is worth a kernel less where tensors are small: then a launch takes longer than they do.
#pragma once

#include <vector>

#include "schedule/params/pointwise_params.h"
#include "schedule/run_facts.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule::resize {

struct Branch {
  std::vector<TensorView*> tensors; // that are computed, operands first
  std::vector<TensorView*> outputs;
  TensorView* reference = nullptr; // whose loops all of them take
};

/// Empty: it is one, or has a branch without a reference, or branches that read different
/// dimensions, update an input, or divide one dimension in ways of which neither refines the other.
/// Cost: near-linear in expressions and axes.
[[nodiscard]] std::vector<Branch> find_branches(const FusionSummary& summary);

/// Refuses tensors that take longer than another launch would.
[[nodiscard]] std::optional<Refusal> find_refusal_of_large_branches(
    const FusionSummary& summary, const RunFacts& facts);

[[nodiscard]] std::unique_ptr<PointwiseParams> choose_for_branches(
    const std::vector<Branch>& branches, const RunFacts& facts);

void apply_to_branches(
    FusionSummary& summary, std::vector<Branch> branches, const PointwiseParams& params);

} // namespace nvfuser::schedule::resize
