// Words of generated source: types and constants. They are the same on every target.
#pragma once

#include <string>

#include "base/types.h"

namespace nvfuser {

/// `float`, `__half`, `int64_t`, `nvfuser_index_t`, `Complex<double>`. Requires: a type of
/// single numbers, as all values of a fusion have.
[[nodiscard]] std::string c_type(DataType type);

/// A constant that has exactly the value and, with `exact_type`, exactly the C type of `type`.
/// Without, integers are bare where C converts them as the arithmetic around them needs.
[[nodiscard]] std::string literal(const ScalarValue& value, DataType type, bool exact_type = false);

/// The type that arithmetic on `type` is done in: Float for low-precision floats.
[[nodiscard]] DataType compute_type(DataType type);

} // namespace nvfuser
