// Which memory a thread has for itself.
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser {

/// Registers, and a lane of tensor memory: no other thread sees what a thread has there.
[[nodiscard]] inline bool is_of_thread(const TensorView* tensor) {
  return tensor->memory_type() == MemoryType::Local || tensor->memory_type() == MemoryType::Tensor;
}

} // namespace nvfuser
