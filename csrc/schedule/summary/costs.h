// Costs of expressions in issue slots: instructions of a lane for one element.
//
// A multiprocessor has 7 to 8 slots for each byte it moves at full bandwidth; MUFU instructions
// (2^x, 1/x, 1/sqrt, tanh, sin) go at a quarter of that rate. Costs are those of the generated
// code.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::schedule {

struct Cost {
  double slots = 0;
  double mufu = 0; // of them, results of the special function unit

  Cost& operator+=(const Cost& other) {
    slots += other.slots;
    mufu += other.mufu;
    return *this;
  }
};

/// Slots that an element may take for each byte that a kernel moves for it, without making the
/// kernel slower: about half of those that a device has, since kernels compute other things as
/// well.
inline constexpr double kSlotsPerByte = 4;

/// Whether the elements of the results are those of an operand, under the same or another shape.
[[nodiscard]] bool moves_elements(const Expr* expr);

/// Costs of one element of the first result of `expr`.
[[nodiscard]] Cost cost_of(const Expr* expr);

} // namespace nvfuser::schedule
