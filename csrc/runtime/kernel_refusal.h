// KernelRefusal: why there is no kernel, or none that serves the arguments of a run.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "base/refusal.h"

namespace nvfuser {

struct KernelRefusal {
  enum class Cause : uint8_t {
    Schedule,        // the fusion cannot be lowered as it is scheduled
    NoCompiler,      // nothing here compiles for the device
    CompilerFailure, // the compiler failed, not the program: it wrote nothing, the disk is full
    Source,          // the compiler does not take the source of a schedule that is not a user's
    Launch,          // the kernel does not serve these sizes
  };
  Refusal refusal;
  Cause cause = Cause::Schedule;
};

/// The error that it is for a user; of a failed compiler a CompilerError.
[[noreturn]] void throw_refusal(const KernelRefusal& refusal);

/// The result of a function that may say no; throws what it says.
template <typename Result>
[[nodiscard]] Result get_or_throw(std::variant<Result, KernelRefusal> result) {
  if (const auto* refusal = std::get_if<KernelRefusal>(&result)) {
    throw_refusal(*refusal);
  }
  return std::get<Result>(std::move(result));
}

} // namespace nvfuser
