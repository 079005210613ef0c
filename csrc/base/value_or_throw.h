// value_or_throw: the value that a `try_...` function found, for code that asks for a user.
#pragma once

#include <utility>
#include <variant>

#include "base/refusal.h"

namespace nvfuser {

/// Throws if it was refused.
template <typename T>
[[nodiscard]] T value_or_throw(std::variant<T, Refusal> found) {
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    throw_refusal(*refusal);
  }
  return std::get<T>(std::move(found));
}

} // namespace nvfuser
