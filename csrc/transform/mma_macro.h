// Choosing the instruction of tensor cores that computes a sum of products.
#pragma once

#include <optional>

#include "base/mma_macro.h"
#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Let an instruction compute `tv`. Its definition becomes an MmaOp with this macro:
///   before:  T4 = T2 * T3 (Float, of bfloat16)   T5 = sum(T4)
///   after:   T5 = mma(T2, T3)
/// Factors in blocks, each with a scale, are products themselves (of Float, of fp8 and e8m0):
///   before:  T5 = T1 * T2   T6 = T3 * T4   T7 = T5 * T6   T8 = sum(T7)
///   after:   T8 = mma(T1, T3, T2, T4)
/// The definition may be an MmaOp already; no instruction (0) takes its macro away.
/// Errors: other definitions, operands or results that the instruction does not have.
void set_mma_macro(TensorView* tv, MmaMacro macro);
[[nodiscard]] std::optional<Refusal> find_wrong_mma_macro(const TensorView* tv, MmaMacro macro);

} // namespace nvfuser::transform
