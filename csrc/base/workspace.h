// Workspaces: memory that the host allocates in one piece, for tensors between kernels and for what
// blocks of a kernel leave for each other.
#pragma once

#include <cstdint>

namespace nvfuser {

/// Tensors in a workspace start at multiples of so many bytes: wide vectors can reach all of them.
inline constexpr int64_t kWorkspaceAlignment = 256;

} // namespace nvfuser
