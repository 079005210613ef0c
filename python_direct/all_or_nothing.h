// Calls that make statements: an error leaves nothing behind.
#pragma once

#include <functional>
#include <utility>

#include "ir/transaction.h"

namespace nvfuser::python {

template <typename Result, typename... Args, typename Fn>
auto all_or_nothing(const std::function<Result(Args...)>*, Fn fn) {
  return [fn](Args... args) -> Result {
    const Transaction transaction(Fusion::maybe_active());
    return fn(std::forward<Args>(args)...);
  };
}

/// `fn` with the same signature; what it made in the active fusion before it fails is taken back.
/// This holds also for constants made by an overload that then turns out not to be meant.
template <typename Fn>
auto all_or_nothing(Fn fn) {
  return all_or_nothing(static_cast<const decltype(std::function{fn})*>(nullptr), fn);
}

} // namespace nvfuser::python
