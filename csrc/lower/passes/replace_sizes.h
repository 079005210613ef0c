#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Give every class of equal axes one extent: a constant if any member has one, else the size of an
/// input, else the first symbol. Extents made of these are rebuilt.
///   before:  T2{i0} = T0{i0} + T1{i4}      T3 = split of T1's axis: {( ceilDiv(i4, 4) )}, {4}
///   after:   T2{i0} = T0{i0} + T1{i0}      T3: {( ceilDiv(i0, 4) )}, {4}
/// Sums of many sizes get names (lower/analysis/size_names.h).
/// Symbolic axes become iterations, tensors of dtype Index become Int: their elements have 64 bits
/// whatever the kernel's indices have.
/// Ensures:  equal extents are the same Val; `kernel.launch.sizes` says where symbols come from.
[[nodiscard]] std::optional<Refusal> replace_sizes(Kernel& kernel);

} // namespace nvfuser
