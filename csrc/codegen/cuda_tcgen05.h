// Products of blocks and tensor memory as CUDA C++ (runtime/cuda/tensor_memory.cuh).
#pragma once

#include "codegen/printer.h"

namespace nvfuser {

/// `tcgen05_multiply<16, tcgen05_instruction(kFormatHalf, kFormatHalf, 128, 64)>(T5.column(0),
/// ..);`
void print_tcgen05(KernelPrinter& printer, const MmaOp& product);

/// `BlockTensorMemory<64> tensor_memory(tensor_memory_barrier);`, if the kernel has tensors there.
void declare_tensor_memory(KernelPrinter& printer);
/// `const TensorColumns T5(tensor_memory, 0);`, or, of scales, ScaleColumns.
void allocate_columns(KernelPrinter& printer, const Allocate& allocate);

/// Whether a copy is to or from tensor memory.
[[nodiscard]] bool touches_tensor_memory(const LoadStoreOp& copy);
/// `tensor_memory_load<64>(&T6[0], T5.column(0));`, or
/// `tcgen05_copy_scales<1>(T8.column(0), &T7[0]);`
void copy_tensor_memory(KernelPrinter& printer, const LoadStoreOp& copy);

} // namespace nvfuser
