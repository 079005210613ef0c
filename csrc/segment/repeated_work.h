// Repeated work: a kernel computes a function of an operand that is broadcast anew for each element
// that reads it. Cheap functions hide behind the memory accesses of the readers; expensive ones are
// computed once, by a segment of their own.
//
//   before:  T2 = sin(erf(w))   T3 = broadcast(T2)   T4 = x * T3        one kernel, N * C times
//   after:   T2 = sin(erf(w))  |  T3 = broadcast(T2)   T4 = x * T3      two kernels, C times
#pragma once

#include <vector>

#include "graph/val_graph.h"
#include "segment/edges.h"

namespace nvfuser::segment {

/// Elements that are computed of inputs alone, without reductions, and read over more axes than
/// they have: each row computes them anew.
struct RepeatedWork {
  Edge edge;         // behind which a cut would stand: before the tensor is broadcast
  ExprId reader = 0; // the expression that runs over more axes
  double slots = 0;  // of an element, as far as the accesses of the reader do not hide them
};

/// It follows from the definition and the target, and not from sizes.
/// Cost: linear in edges, and for each edge to more axes in the expressions before it, of which at
/// most a few hundred are looked at.
[[nodiscard]] std::vector<RepeatedWork> find_repeated_work(
    const Flow& flow, const Facts& facts, const ValGraph& exact, const Target& target);

/// Whether storing the elements takes less time than to repeat the work, for the sizes that `facts`
/// has.
[[nodiscard]] bool is_worth_storing(
    const RepeatedWork& work, const Flow& flow, const Facts& facts, const Target& target);

} // namespace nvfuser::segment
