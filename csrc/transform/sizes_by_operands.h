// Sizes of axes that transforms make, computed from those of their operands.
#pragma once

#include <vector>

#include "ir/tensor_view.h"

namespace nvfuser {

/// Let the size of each resized, merged or split axis of `tensors` follow from its operands, where
/// it does not yet. It may have been computed from other sizes, which are equal for another reason
/// than the operands give: past tensors that a segment does not have, or as a record of dynamic
/// shapes says.
///   before:  T1[i2] is padded by 2 and 2 to T2[i0 + 4], in a run where i0 and i2 are equal
///   after:   T2[i2 + 2 + 2]
/// Other axes of `tensors` with such a size have the new one, unless a transform makes them of
/// another size: operands of a cat may have been reshaped in different ways.
/// Cost: O(axes of tensors with transforms), and O(axes) for each size that is replaced.
void compute_sizes_by_operands(Fusion& fusion, const std::vector<TensorView*>& tensors);

} // namespace nvfuser
