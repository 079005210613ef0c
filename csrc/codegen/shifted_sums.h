// Loops in which a thread adds elements to a Welford, and has sums about their first element
// instead (runtime/common/shifted_sums.h): a Welford step for each element would take longer.
//
//   for i: WELFORD(T4, T5, T6, T1[i])     ShiftedSums<float> T4_sums = {};
//                                         for i: T4_sums.add(0, T1[i]);
//                                         T4_sums.merge_into(0, T4, T5, T6);
//
// The sums are merged into what T4, T5 and T6 had before the loop, so that nothing else of a kernel
// changes: loops around this one merge a set in each of their iterations.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// A set of no more has one pivot, and its code is compiled without what moves it.
inline constexpr int64_t kElementsOfFirstPivot = 8;

/// Sums that begin before a loop and are merged after it.
struct LoopSums {
  /// The statements that add to them. One may stand in several loops: parts of a loop share them.
  std::vector<const WelfordOp*> steps;
  /// Sets, which have the indices of the accumulators; 1: all iterations add to one element.
  int64_t elements = 1;
  /// The most elements that a set has.
  int64_t most_of_set = 0;
};

class ShiftedSums {
 public:
  /// Requires: final statements. Cost: O(statements), times the depth of loops for Welfords.
  explicit ShiftedSums(const Kernel& kernel);

  /// The sums of a loop: their addresses stay.
  [[nodiscard]] std::span<const LoopSums> of(const ForLoop& loop) const;

 private:
  void visit(const Scope& scope);
  void visit_step(const WelfordOp& step);
  [[nodiscard]] int64_t size_of_array(const TensorView* view) const;

  const Kernel& kernel_;
  std::vector<const ForLoop*> open_; // loops around what is visited, outermost first
  std::unordered_map<const TensorView*, const Allocate*> arrays_;
  std::unordered_map<const ForLoop*, std::vector<LoopSums>> sums_;
};

/// Whether the statement adds one element, and no partial result.
[[nodiscard]] bool adds_element(const WelfordOp& welford);

} // namespace nvfuser
