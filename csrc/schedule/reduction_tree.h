// A reduction as a tree of short sums.
//
// One running sum over n elements is wrong by up to n roundings, and one thread computes it. Here
// threads combine pieces of the reduced axis, and pieces of the results, until little is left:
//
//   s = sum(x)[r R]     x: R elements
//   first    T1[p, l 8]   = sum(x) over runs of 16       8 accumulators in registers
//            P1[p]        = sum(T1) over l               p: R / 128 pieces, in global memory
//   then     T2[q, j 16]  = sum(P1) over runs of 16      one accumulator in registers
//            P2[q]        = sum(T2) over j               q: R / 32768
//   again    T3, P3                                      R / 2^23
//   last     s            = sum(P3)                      what is left, by one thread
//
// A run has as many elements as there are: a row of two costs no sixteen steps.
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "ir/fusion.h"

namespace nvfuser::schedule {

/// One stage of a tree: the results of an expression (one, or the three of a Welford) that are
/// combined from accumulators in registers.
struct PartialResults {
  std::vector<TensorView*> accumulators; // [kept .., piece, ..]: computed in the loops of `results`
  std::vector<TensorView*> results;      // [kept .., piece, r]
  int64_t pieces = 0; // leading axes: those that are kept, and the piece, as they
                      // follow in memory: of a column sum the piece comes first
  int64_t runs = 0;   // axes behind them that the accumulators are shared over
};

/// Factor the reduction `expr` into a tree; its results stay, and reduce what is left. The stages
/// are added to `stages`, operands first. Nothing is done for expressions that are no reduction,
/// for short reductions of constant extent, and for tensors whose loops were transformed before.
/// Says no where more elements are reduced than 64 bits count.
[[nodiscard]] std::optional<Refusal> factor_into_tree(
    const Expr* expr, std::vector<PartialResults>& stages);

} // namespace nvfuser::schedule
