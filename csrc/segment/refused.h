// Where to cut a group that no scheduler takes. Each rule knows what in the group stands against
// one kernel, and names the edges between which it falls apart.
#pragma once

#include "graph/val_graph.h"
#include "schedule/summary/fusion_summary.h"
#include "segment/partition.h"

namespace nvfuser::segment {

/// Edges inside of `group`, with reasons; none if no rule knows a cut. `summary`: of the group as a
/// fusion of its own. `exact`: the graph of the complete fusion.
[[nodiscard]] Reasons find_cuts(
    const Flow& flow,
    const Facts& facts,
    const ValGraph& exact,
    const Group& group,
    const schedule::FusionSummary& summary);

} // namespace nvfuser::segment
