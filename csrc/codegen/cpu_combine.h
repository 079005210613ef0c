// A reduction over the threads of a block, on a processor: what each thread's turn adds to the
// totals, and what a result takes from them.
#pragma once

#include <string>
#include <vector>

#include "codegen/printer.h"

namespace nvfuser {

/// `T5_all = T5_all + T4[..];` for every value. `totals`: names of variables, one per result.
void combine_into(
    KernelPrinter& printer,
    const BlockReduction& reduction,
    const std::vector<std::string>& totals);

/// `T5[..] = T5[..] + T5_all;`
void combine_totals(
    KernelPrinter& printer,
    const BlockReduction& reduction,
    const std::vector<std::string>& totals);

} // namespace nvfuser
