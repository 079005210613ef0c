// A reduction as a tree of short sums.
//
// One running sum over n elements is wrong by up to n roundings, and one thread computes it. Here
// threads combine pieces of the reduced axis, and pieces of the results, until little is left:
//
//   s = sum(x)[r R]     x: R elements
//   first    T1[p, l 8]   = sum(x) over runs of 16       8 accumulators in registers
//            P1[p]        = sum(T1) over l               p: R / 128 pieces, in global memory
//   then     T2[q, i 2, j 2, k 4] = sum(P1) over runs of 16
//            T3[q, i 2, j 2]      = sum(T2) over k       one accumulator for each of these sums
//            T4[q, i 2]           = sum(T3) over j
//            P2[q]                = sum(T4) over i       q: R / 32768
//   again    T5 .. T7, P3                                R / 2^23
//   last     s            = sum(P3)                      what is left, by one thread
//
// The sums over few pieces decide how exact the result is: each rounding of the last sum is one of
// the result, while those of many runs cancel. So a stage of Doubles and of complex numbers ends in
// sums of two, as drawn. Lowering adds pieces of Float in Double, and those of narrower types in
// Float; extremes and integers are not rounded: a stage of theirs is runs of 16 of runs of 16.
// A run has as many elements as there are, shared out from the last sum down: a row of two costs no
// sixteen steps, and sixteen pieces are no run.
#pragma once

#include <optional>
#include <vector>

#include "base/refusal.h"
#include "ir/fusion.h"

namespace nvfuser::schedule {

/// The results of an expression (one, or the three of a Welford) in registers, on their way to a
/// partial result.
struct Accumulators {
  std::vector<TensorView*> tensors; // [kept .., piece, ..]: computed in the loops of their reader
  int64_t runs = 0;                 // axes behind the piece that they share with it
};

/// One stage of a tree: partial results, and the sums in registers that lead to them.
struct PartialResults {
  std::vector<Accumulators> accumulators; // operands first
  std::vector<TensorView*> results;       // [kept .., piece, r]
  int64_t pieces = 0; // leading axes: those that are kept, and the piece, as they
                      // follow in memory: of a column sum the piece comes first
};

/// Factor the reduction `expr` into a tree; its results stay, and reduce what is left. The stages
/// are added to `stages`, operands first. Nothing is done for expressions that are no reduction,
/// for short reductions of constant extent, and for tensors whose loops were transformed before.
/// Says no where more elements are reduced than 64 bits count.
[[nodiscard]] std::optional<Refusal> factor_into_tree(
    const Expr* expr, std::vector<PartialResults>& stages);

} // namespace nvfuser::schedule
