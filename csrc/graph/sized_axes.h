// Sized axes: those of a tensor that carry sizes of their own, and which of different tensors are
// the same axis.
#pragma once

#include "graph/val_graph.h"

namespace nvfuser {

/// The root and the logical axes, and those that a schedule resizes: a broadcast and what repeats
/// it correspond, but not once both have grown. Some stand there repeatedly.
[[nodiscard]] IterDomains sized_axes(const TensorView* tensor);

/// The exact graph (id_model.h) of the sized axes of all tensors: they have the same groups in
/// both. It leaves out transforms that lead to none of them, which saves most of the time that a
/// graph takes. Loop axes correspond only because the axes that they are made of do, so that they
/// never make these correspond, although a graph is closed.
[[nodiscard]] ValGraph exact_graph_of_sized_axes(const Fusion& fusion);

} // namespace nvfuser
