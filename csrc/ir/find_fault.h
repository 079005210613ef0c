// The rules that every fusion keeps, whatever was called.
//
//   domains     axes of a tensor are its own; each domain has each axis once; every axis of a loop
//               or of memory comes from an axis of the tensor, or from one that was inserted
//   axes        sizes that are known are not negative; only a broadcast is expanded
//   nodes       operands, results and attributes fit (ir/node_rules.h)
//   memory      a flag of contiguity for each axis that has a stride, and for no other
//   positions   lie within the loops of the tensor
//   stages      of circular buffers: more than one, and less ahead than there are
//   aliases     outputs and the inputs that they are written to have one type and rank
//
// Code on higher floors relies on them. Fusions that are read from bytes are checked; those that
// functions of the core made keep them by construction.
#pragma once

#include <string>

#include "ir/fwd.h"

namespace nvfuser {

/// The first rule that is broken, and where; empty: none. Requires: values are of the kinds that
/// their places ask for, and none depends on itself. Cost: O(statements), up to sorting.
[[nodiscard]] std::string find_fault(const Fusion& fusion);

} // namespace nvfuser
