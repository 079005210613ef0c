// Schedules that tuning found, on disk beside machine code (KernelCache::tuned): other processes on
// such a device compute the same segments with them. Nothing is tuned unless a user asks.
//
// A record's key is the definition of the segment, the decisions that the schedule is for
// (host/hand_schedules.h), the device by name, its driver, and the compiler.
#pragma once

#include <optional>
#include <string>

#include "host/piece_ways.h"

namespace nvfuser::host {

/// `HandSchedule::origin` of what tuning found.
inline constexpr const char* kTunedOrigin = "tuning";

/// Keep `schedule`, which is the best for a segment that computes `definition`; not where it draws
/// numbers from the random generator.
void store_tuned(const Fusion& definition, const HandSchedule& schedule, Device device);

/// The schedule that was stored last for such a segment on such a device.
[[nodiscard]] std::optional<HandSchedule> find_tuned(
    const Fusion& definition, const std::string& decisions, Device device);

} // namespace nvfuser::host
