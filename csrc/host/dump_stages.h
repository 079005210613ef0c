// Prints the texts that NVFUSER_DUMP asks for of a fusion that nobody scheduled yet.
#pragma once

#include <string>

#include "ir/fusion.h"

namespace nvfuser::host {

/// Tells how a definition is written in the caller's language, for `python_definition`. Set it
/// before the first run; without it nothing is printed.
void set_definition_printer(std::string (*printer)(const Fusion&));

/// Print the stages on the way of `definition` to its kernels, as far as they are asked for.
/// `concretized`: its dynamic shapes resolved.
void dump_stages(const Fusion& definition, const Fusion& concretized, const Fusion& optimized);

} // namespace nvfuser::host
