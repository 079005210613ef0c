// For people: how a fusion runs, segment by segment, and why so.
#pragma once

#include <string>
#include <vector>

#include "host/piece_ways.h"
#include "segment/segmented_fusion.h"

namespace nvfuser::host {

/// For every segment: what runs it, with which params and on which grid; why it was cut from the
/// others; why no other scheduler takes it, and which better ways were tried in vain. Tensors have
/// the lines of Python that made them. `cut`: the plan that the segments come from; nullptr: there
/// is one segment.
[[nodiscard]] std::string explain(
    const std::vector<PieceReport>& reports, const SegmentedFusion* cut);

/// Print what NVFUSER_DUMP=scheduler_verbose and scheduler_params ask for of new segments: what
/// schedulers said, and the params of the one that takes each.
void dump_schedulers(const std::vector<PieceReport>& reports, const SegmentedFusion* cut);

} // namespace nvfuser::host
