// Automatic schedules are no program of a user: where one of them cannot be made or lowered, there
// is a next way, and the user gets no error.
#pragma once

#include <concepts>
#include <utility>

#include "base/refusal.h"

namespace nvfuser {

/// The result of `make`, which may be a refusal: an error that it throws becomes one.
template <std::invocable Make>
  requires std::constructible_from<std::invoke_result_t<Make>, Refusal>
[[nodiscard]] std::invoke_result_t<Make> try_automatic(Make&& make) {
  try {
    return std::forward<Make>(make)();
  } catch (const Error& error) {
    return refuse_headline(Part(error.what()), error.kind());
  }
}

} // namespace nvfuser
