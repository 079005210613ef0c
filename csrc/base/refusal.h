// A refusal is a value: why something cannot be done, in the five parts of an error.
//
// Rules that may say no are functions `std::optional<Refusal> find_...(...)`. Schedulers, caches
// and passes read what they return; code that asks on behalf of a user throws it.
#pragma once

#include <optional>
#include <utility>

#include "base/errors.h"

namespace nvfuser {

struct Refusal {
  ErrorReport report;
  ErrorKind kind = ErrorKind::Runtime;
};

/// Says no. Every rule does it here: the breakpoint that shows where, whether a user is told or
/// not.
[[nodiscard]] Refusal refuse(ErrorReport report, ErrorKind kind = ErrorKind::Runtime);

/// Says no where the headline says everything.
[[nodiscard]] Refusal refuse_headline(Part headline, ErrorKind kind = ErrorKind::Runtime);

/// The error that a refusal is for a user.
[[noreturn]] void throw_refusal(const Refusal& refusal);

/// Throws if there is a refusal: `check(find_...(tensor))`.
inline void check(const std::optional<Refusal>& refusal) {
  if (refusal.has_value()) {
    throw_refusal(*refusal);
  }
}

} // namespace nvfuser

/// Say no where `find` does: `NVF_RETURN_REFUSAL(find_unbound_axis(tensor));`
#define NVF_RETURN_REFUSAL(find)                            \
  do {                                                      \
    if (std::optional<::nvfuser::Refusal> refusal = find) { \
      return refusal;                                       \
    }                                                       \
  } while (false)
