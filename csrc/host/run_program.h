// Running a plan: memory, addresses, then step by step onto the caller's current stream. The host
// waits for nothing: what a run does can be captured in a CUDA graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/evaluator.h"
#include "host/program_plan.h"
#include "runtime/launch.h"

namespace nvfuser::host {

/// The services that a run asks of the framework that calls it.
struct Caller {
  OutputAllocator& allocator;
  Evaluator& evaluator;
};

/// Run `plan` with arguments of its signature. `fusion_id` names the run in profiles.
[[nodiscard]] std::vector<RunOutput> run_plan(
    const ProgramPlan& plan,
    std::span<const Argument> args,
    const Caller& caller,
    int64_t fusion_id);

} // namespace nvfuser::host
