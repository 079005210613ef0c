// The threads of a block as a processor runs them: loops over those of their dimensions that the
// kernel uses.
#pragma once

#include <string>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// The loop variable of a thread dimension (0 x, 1 y, 2 z): `threadIdx.y`.
[[nodiscard]] std::string axis_name(int64_t dim);
/// Number of threads along a dimension; nullptr: the kernel does not use it.
[[nodiscard]] const Val* threads_along(const Kernel& kernel, int64_t dim);
/// The same as it is printed: a number, or `blockDim.y`. Requires: the kernel uses it.
[[nodiscard]] std::string size_text(const Kernel& kernel, int64_t dim);
/// Dimensions with more than one thread, the slowest first.
[[nodiscard]] std::vector<int64_t> launched_dims(const Kernel& kernel);
/// Number of threads of a block, as an expression of type int.
[[nodiscard]] std::string threads_of_block(const Kernel& kernel);
/// Number of a thread in its block, x fastest. Requires: launched dimensions.
[[nodiscard]] std::string number_of_thread(const Kernel& kernel);

} // namespace nvfuser
