// A segmented fusion as pieces that run one after another.
#pragma once

#include "host/partition.h"
#include "segment/segmented_fusion.h"

namespace nvfuser::host {

/// A piece for each segment, then one for each output that is copied into an argument at the end.
/// The whole fusion as one piece where there is no segment: all outputs are inputs.
[[nodiscard]] Partition partition_of(const SegmentedFusion& plan);

} // namespace nvfuser::host
