// Products of warpgroups as CUDA C++: calls of functions that are written for the kernel, which
// pass descriptors (runtime/cuda/wgmma.cuh) to the instruction.
#pragma once

#include "codegen/printer.h"

namespace nvfuser {

/// `wgmma_m64n256k16_bf16(&T5[0], wgmma_descriptor<128>(&T2[..]), wgmma_descriptor<128>(&T3[..]));`
void print_wgmma(KernelPrinter& printer, const MmaOp& product);

/// The functions that the statements of a kernel call, each once.
[[nodiscard]] std::string wgmma_functions(const Kernel& kernel);

} // namespace nvfuser
