#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Decide with which consumer each tensor with a compute-with position is computed.
///   before:  c[i0, i1] ca_pos(1) compute_with(2), read by m = max(c) and s = c - m
///   after:   c and m share the loop of i1; s, which comes later, reads what was stored
/// The one that is first in a sort of the kernel's expressions; all results of that expression. If
/// loops with it are refused, a later one for which they are not: it is the first one then. So it
/// does not matter which of two readers was defined first. A tensor in shared memory that several
/// threads would write there, as their loop is the reader's alone, is computed by itself.
/// Requires: the loop model.
/// Ensures:  compute_with_consumers() of these tensors; a loop model in which they share loops. The
///           final sort keeps that order: everything else that reads the tensor comes after it.
/// Cost:     one sort, if there is any such tensor; one more for each other reader where the first
///           ones are refused.
std::optional<Refusal> resolve_compute_with(Kernel& kernel);

} // namespace nvfuser
