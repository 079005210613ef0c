#pragma once

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// Let a product of matrices that sums over one element be a product of elements.
///   before:  T2[m, n] = matmul(T0[m, 1], T1[1, n])             after:  T2[m, n] = T0 * T1
///   before:  T2[m] = matmul(T0[m, 1], T1[1])
///   after:   T3[m] = squeeze(T0)   T4 = squeeze(T1)   T5[1] = broadcast(T4)   T2 = T3 * T5
///   before:  T2[m, n] = matmul(T0[m, 1], T1[1, n]), of BFloat16
///   after:   T3 = Float(T0)   T4 = Float(T1)   T5 = T3 * T4   T2 = BFloat16(T5)
/// The same for `linear` without bias, which would be rounded with the product. For real numbers of
/// floating point types: the results are the products, rounded once. Where one is zero it has their
/// sign; libraries do as they like there.
/// Cost:     O(expressions).
bool multiply_thin_matrices(Fusion& fusion);

} // namespace nvfuser::optimize
