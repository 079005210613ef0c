// Which types hold the values of which others.
#pragma once

#include "base/types.h"

namespace nvfuser::optimize {

/// Whether every value of `narrow` is one of `wide`, so that a conversion there and back changes
/// nothing. A type holds its own values. Index counts as 64 bits.
[[nodiscard]] bool holds_all_values(DataType wide, DataType narrow);

} // namespace nvfuser::optimize
