// The types that a kernel can compute its indices in.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "base/types.h"

namespace nvfuser {

/// Says no to any type but integers of 32 and of 64 bits.
[[nodiscard]] std::optional<Refusal> find_wrong_index_type(DataType type);

} // namespace nvfuser
