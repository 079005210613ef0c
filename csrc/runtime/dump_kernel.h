// The dumps of a kernel that NVFUSER_DUMP asks for while it is made.
#pragma once

#include <string>

#include "runtime/compiled_kernel.h"

namespace nvfuser {

/// The fusion that is about to be lowered.
void dump_scheduled_fusion(const Fusion& fusion, const std::string& kernel_name);
/// Its source and what it is compiled with.
void dump_source(const CompiledKernel& code, const KernelRequest& request);
/// The machine code that the compiler made of it.
void dump_binary(const CompiledKernel& code, const KernelRequest& request);

} // namespace nvfuser
