// Prints the texts that NVFUSER_DUMP asks for of a fusion that nobody scheduled yet.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::host {

/// Print a definition as Python, if that is asked for.
void dump_python(const Fusion& definition);

/// Print the stages on the way of `definition` to its kernels, as far as they are asked for.
/// `concretized`: its dynamic shapes resolved.
void dump_stages(const Fusion& definition, const Fusion& concretized, const Fusion& optimized);

} // namespace nvfuser::host
