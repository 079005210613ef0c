// Where the registers of a CPU kernel lie: in variables and small arrays on the stack, or in the
// scratch memory of a block.
#pragma once

#include <vector>

#include "ir/scopes.h"

namespace nvfuser {

/// Whether a register array lies in scratch memory: its size is known to the launch only, or it is
/// too large for the stack.
[[nodiscard]] bool is_in_scratch(const Allocate& allocate);

/// The scratch memory that the statements of a block need.
struct ScratchNeeds {
  std::vector<const Allocate*> arrays; // registers
  bool has_shared = false;
};
[[nodiscard]] ScratchNeeds find_scratch_needs(const Scope& body);

/// Whether a block declares variables or arrays on its stack.
[[nodiscard]] bool has_stack_variables(const Scope& body);

} // namespace nvfuser
