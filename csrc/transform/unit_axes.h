// Unit axes: axes whose size is a symbol and comes out as 1 in a run.
//
// A kernel pays for such an axis and gets nothing: it divides indices by the size, vectors end at
// the axis, and a sum over it is a reduction. A broadcast has neither an index nor a stride, and
// functions of ops/ squeeze it where it was reduced.
//
//   before:  T0[a, b, c, d]     T1[a, c] = sum(T0, {1, 3})                            a = d = 1
//   after:   T0[b1, b, c, b1]   T1[b1, c] = sum(squeeze(T0, {3}), {1})
#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

/// A dimension of a tensor that is input `input`.
struct TensorDim {
  size_t input = 0;
  size_t dim = 0;
  auto operator<=>(const TensorDim&) const = default;
};

/// Dimensions of inputs that are one axis of the computation: all of them have size 1, or none.
using UnitCandidate = std::vector<TensorDim>;

/// The axes that could be broadcasts where their sizes are 1. None: something in the definition
/// asks for more than the elements along an axis (reshapes, parts, positions), is scheduled, or
/// updates an input in place. Requires: no dynamic shapes. Cost: linear in the number of
/// expressions.
[[nodiscard]] std::vector<UnitCandidate> find_unit_candidates(const Fusion& fusion);

/// Let these candidates of a fusion equal to it be broadcasts. Tensors keep their names and their
/// places among inputs and outputs.
void make_broadcasts(Fusion& fusion, const std::vector<UnitCandidate>& candidates);

} // namespace nvfuser
