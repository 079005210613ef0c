#pragma once

#include "optimize/optimized_fusion.h"

namespace nvfuser::optimize {

/// Let a tensor that meets itself along two axes be a tensor for each: no kernel can tell two axes
/// apart that an expression maps to each other. Cheap expressions are computed once for each use,
/// and an input is read as two tensors (OptimizedFusion::repeat_input).
///   before:  T1[n] = iota(n)   T2[n, 1] = broadcast(T1)   T3[1, n] = broadcast(T1)   T4 = T2 >= T3
///   after:   T1[n] = iota(n)   T2[n, 1] = broadcast(T1)
///            T5[n] = iota(n)   T3[1, n] = broadcast(T5)   T4 = T2 >= T3
///   before:  T1[m, n] = permute(T0)   T2 = T0 + T1
///   after:   T1[m, n] = permute(T3)   T2 = T0 + T1            T3 is bound to what T0 is bound to
///   before:  T1 = gather(T0, T0)
///   after:   T1 = gather(T0, T2)                              T2 is bound to what T0 is bound to
/// Random numbers, reductions, and inputs that are written in place stay one tensor. Products of
/// matrices and what reads whole tensors end a kernel: uses behind them are not compared.
/// Cost:     near-linear in expressions * rank.
bool separate_uses(OptimizedFusion& fusion);

} // namespace nvfuser::optimize
