#include "ir/shifted_axes.h"

#include "ir/dependencies.h"

namespace nvfuser {

std::vector<ParallelType> hardware_indices_in(const Val* scalar) {
  std::vector<ParallelType> indices;
  for (const Val* val : dependencies(scalar)) {
    const ParallelType index = val->vtype() == ValType::NamedScalar
                                   ? static_cast<const NamedScalar*>(val)->parallel_index()
                                   : ParallelType::Serial;
    if (index != ParallelType::Serial) {
      indices.push_back(index); // one scalar for each
    }
  }
  return indices;
}

bool is_shift(const Resize& resize) {
  return !hardware_indices_in(resize.left).empty();
}

} // namespace nvfuser
