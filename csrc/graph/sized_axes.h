// Sized axes: those of a tensor that carry sizes of their own, and which of different tensors are
// the same axis.
#pragma once

#include "graph/val_graph.h"

namespace nvfuser {

/// The root and the logical axes, and those that a schedule resizes: a broadcast and what repeats
/// it correspond, but not once both have grown. Some stand there repeatedly.
[[nodiscard]] IterDomains sized_axes(const TensorView* tensor);

/// Of those axes of all tensors, the groups of the exact graph (id_model.h). Transforms that lead
/// to none of them are left out, which saves most of the time that a graph takes: the graph is
/// closed, but loop axes correspond only because the axes that they are made of do, so that they
/// never make these correspond.
[[nodiscard]] ValGraph exact_graph_of_sized_axes(const Fusion& fusion);

} // namespace nvfuser
