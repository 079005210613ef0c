// Schedules of users in the place of automatic ones.
//
//   text = schedule_text(..)     a segment as a definition with its schedule, in the caller's
//                                language, for a person to edit
//   FusionRuntime::use_schedule  puts the edited one in place, for all runs with these decisions
//   keep_hand_schedule           the same for every fusion of the process that has such a segment
//                                (NVFUSER_SCHEDULES)
//
// The decisions of a segment are the device and what its scheduler chose, as a short text: they
// are equal for sizes that share a kernel.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/device.h"
#include "base/refusal.h"
#include "host/piece_ways.h"

namespace nvfuser::host {

/// "cuda pointwise 7f3a90c1"; "cpu" where no scheduler takes the segment.
[[nodiscard]] std::string decisions_of(const Candidates::Params& proposed, DeviceKind device);

/// The definition of a segment and its schedule, behind lines that say which it is; where it has no
/// kernel, the definition alone.
[[nodiscard]] std::string schedule_text(
    const PieceReport& report, size_t segment, size_t num_segments, DeviceKind device);

/// Why `scheduled` cannot stand for `definition`: it computes something else.
[[nodiscard]] std::optional<Refusal> find_other_definition(
    const Fusion& definition, const Fusion& scheduled, const std::string& origin);

/// Keep a schedule for all segments of this process that compute what it does.
void keep_hand_schedule(HandSchedule schedule);
/// The schedule that was kept last for a segment with this definition, scheduled or not; nullptr:
/// none was.
[[nodiscard]] std::shared_ptr<const HandSchedule> find_hand_schedule(
    const Fusion& definition, const std::string& decisions);
/// A warning where schedules were kept for a segment with this definition on this device, and none
/// for these decisions: a file whose decisions never come up, as after a change of schedulers,
/// would do nothing and not say so. No value: there are none, or they were used or told before.
[[nodiscard]] std::optional<std::string> take_unused_hand_schedule(
    const Fusion& definition, const std::string& decisions);
/// Whether any was kept: cheap.
[[nodiscard]] bool has_hand_schedules();

} // namespace nvfuser::host
