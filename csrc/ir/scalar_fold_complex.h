// Constant folding of operations on complex numbers; a part of ir/scalar_fold.cpp.
#pragma once

#include "ir/statement.h"

namespace nvfuser::scalar {

/// Empty if the operation has no meaning for complex numbers.
[[nodiscard]] ScalarValue fold_complex(UnaryOpType op, const std::complex<double>& x);
[[nodiscard]] ScalarValue fold_complex(
    BinaryOpType op, const std::complex<double>& a, const std::complex<double>& b);

} // namespace nvfuser::scalar
