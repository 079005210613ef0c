// The facts that a scheduler learns from the arguments of a run.
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "ir/fusion.h"
#include "runtime/arguments.h"
#include "runtime/dlpack_tensor.h"
#include "schedule/run_facts.h"

namespace nvfuser {

/// Checks `args` as a run does. `target`: what to schedule for; empty: the device that the
/// arguments are on. With another target than theirs, schedules can be made and read where there is
/// no such device.
[[nodiscard]] schedule::RunFacts find_run_facts(
    Fusion& fusion, std::span<const Argument> args, const std::optional<Target>& target = {});
/// The same with the equal_input_dims of the fusion, which a caller knows that asks repeatedly.
[[nodiscard]] schedule::RunFacts find_run_facts(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    const std::optional<Target>& target);
[[nodiscard]] std::variant<schedule::RunFacts, Refusal> try_find_run_facts(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    const std::optional<Target>& target);

} // namespace nvfuser
