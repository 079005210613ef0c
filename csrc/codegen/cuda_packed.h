// Arrays of elements of 16 bits in registers, two of which share one.
#pragma once

#include "codegen/packed_arrays.h"
#include "codegen/word_arrays.h"
#include "ir/kernel_nodes.h"

namespace nvfuser {

class KernelPrinter;

/// Print the maximum, or minimum, of elements that lie side by side in registers as one call.
///   loop:  for i < 8, j < 8: T1 = float(T9[i * 8 + j])   T2 = max(T2, T1)
///   text:  T2 = maximum(T2, packed_maximum<64>(&T9[0]))
/// Returns whether `loop`, with all that it holds, is that.
bool print_packed_extremum(KernelPrinter& printer, const ForLoop& loop, const WordArrays& words);

/// Print, before a collective, that arrays which are read on both sides of it stay as they are.
void print_keep_packed(KernelPrinter& printer, const Expr& collective, const PackedArrays& packed);

} // namespace nvfuser
