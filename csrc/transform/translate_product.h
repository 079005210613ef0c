// A matmul or linear as the sum of products that tensor cores compute.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

/// Let `tv`, the result of a matmul or linear, be computed from a sum of products in Float, and
/// return that sum.
///   before:  T2[M, N, r K] = matmul(T0[M, K], T1[K, N])
///   after:   T3[M, K, 1] = broadcast(T0)     T4[1, K, N] = broadcast(T1)
///            T5[M, r K, N] = mma(T3, T4)     T2[M, N] = cast(T5)
///   before:  T3[M, N, r K] = linear(T0[M, K], T1[N, K], T2[N])
///   after:   T4[M, 1, K] = broadcast(T0)     T5[1, N, K] = broadcast(T1)
///            T6[M, N, r K] = mma(T4, T5)     T3[M, N] = cast(T6 + cast(broadcast(T2)))
/// set_mma_macro names the instruction; no product of elements is rounded before the sum.
/// Errors: other definitions, types that tensor cores do not multiply into Float, vectors, a linear
/// with leading dimensions of its weight, a tensor with a schedule.
TensorView* translate_to_mma(TensorView* tv);
[[nodiscard]] std::optional<Refusal> find_wrong_translation(const TensorView* tv);

} // namespace nvfuser::transform
