// Partition: which expressions belong together, as far as facts tell it. Schedulers are asked
// later.
//
//   1. In the order of the flow an expression joins all parts that it reads from, if one kernel can
//      hold them; if not, all of these edges cross, and it begins a part in a later *stage*.
//   2. A part that only one other part reads joins that one.
//   3. Parts of one stage that read the same tensor and run over the same axes are joined: it is
//      read once.
// 4. Cheap tensors are computed where they are read, instead of being stored (segment/copies.h).
//
// An edge between two parts always leads to a later stage, so that no joining closes a circle.
#pragma once

#include <span>
#include <vector>

#include "segment/edges.h"

namespace nvfuser::segment {

/// Expressions of a segment, ascending; what is computed in several segments is in each.
struct Group {
  std::vector<ExprId> exprs = {};
  std::vector<ExprId> own = {};       // those whose results other groups take from this one
  std::vector<TensorId> outputs = {}; // results that others read, and outputs of the fusion
  std::vector<TensorId> updates = {}; // outputs that are written into the memory of an argument
};

using Reasons = std::map<Edge, Reason>;

/// Groups of `exprs` (ascending) in an order in which they can run. `provided`: results that are
/// needed elsewhere (ascending). Adds to `reasons` why edges cross. `joins_siblings`: do step 3.
/// Cost: near-linear in expressions * rank.
[[nodiscard]] std::vector<Group> partition(
    const Flow& flow,
    const Facts& facts,
    const HardEdges& hard,
    std::span<const ExprId> exprs,
    std::span<const TensorId> provided,
    bool joins_siblings,
    Reasons& reasons);

} // namespace nvfuser::segment
