// Products of warps as CUDA C++: calls of the functions of runtime/cuda/mma.cuh. Names of shapes
// and types are those of products of warpgroups as well.
#pragma once

#include "codegen/printer.h"

namespace nvfuser {

/// `mma_m16n8k16_bf16(&T5[0], &T2[0], &T3[0]);`
void print_mma(KernelPrinter& printer, const MmaOp& product);

/// `m64n16k32`
[[nodiscard]] std::string shape_of(const MmaOp& product);
/// As instructions name the type of a factor: `bf16`, `e4m3`, `tf32` of a Float.
[[nodiscard]] const char* type_of_factor(const Val* factor);
/// Types of both factors, once if they are the same: `bf16`, `e4m3_e5m2`.
[[nodiscard]] std::string types_of_factors(const MmaOp& product);

} // namespace nvfuser
