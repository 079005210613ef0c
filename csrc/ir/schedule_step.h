// What a tensor remembers of its schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source_location.h"
#include "ir/fwd.h"

namespace nvfuser {

/// How a scheduling primitive changed which tensors there are, or what they are. All other
/// primitives leave their results in the tensor: its loop domain, bindings, positions.
enum class GraphChange : uint8_t {
  None,
  CacheAfter,
  CacheBefore,
  CacheFork,
  Rfactor,
  GroupReductions,
  CommitLeafToLogical,
};

/// What it takes to undo a change of the graph, and to print it (transform/graph_steps.h).
struct GraphEffect {
  GraphChange change = GraphChange::None;
  std::vector<TensorView*> tensors;  // that the primitive was applied to, in its order
  std::vector<TensorView*> made;     // new tensors, in the order of `tensors`
  std::vector<TensorDomain*> before; // domains of `tensors` that were replaced
  std::vector<int64_t> axes;         // rfactor: positions in the loop domain before
};

/// A primitive applied to a tensor, and the line that did it.
struct ScheduleStep {
  std::string text; // "split(0, 128)"
  SourceLocation location;
  int64_t serial = 0; // order over all tensors of the fusion
  GraphEffect effect;
};

} // namespace nvfuser
