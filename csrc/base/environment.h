// Numbers in environment variables.
#pragma once

#include <cstdint>
#include <optional>

namespace nvfuser {

/// The integer that the environment variable `name` holds; empty if it is not set, or to nothing. A
/// UserError for any other text. Numbers beyond 64 bits are the nearest of those.
[[nodiscard]] std::optional<int64_t> environment_int(const char* name);

} // namespace nvfuser
