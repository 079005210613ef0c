// Scalars as the bytes of a kernel parameter.
#pragma once

#include <cstddef>

#include "base/types.h"

namespace nvfuser {

/// Upper bound of what write_scalar writes.
inline constexpr size_t kMaxScalarBytes = 16;

/// Write `value` as a kernel reads a parameter of type `dtype` (`index_type` stands for Index);
/// returns the bytes written.
size_t write_scalar(
    const ScalarValue& value, DataType dtype, DataType index_type, std::byte* destination);

} // namespace nvfuser
