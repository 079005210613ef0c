// Hard edges: pairs of a tensor and an expression that reads it which no segment may hold both
// sides of, and why.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "segment/cut.h"
#include "segment/facts.h"

namespace nvfuser::segment {

struct Edge {
  TensorId tensor = 0;
  ExprId reader = 0;

  auto operator<=>(const Edge&) const = default;
};

/// Why an edge crosses: the rule, and the tensor that the reader cannot be with.
struct Reason {
  CutRule rule = CutRule::Order;
  TensorView* other = nullptr;
};

/// The edges that have to cross. Some of them follow from the kinds of expressions; others are
/// added when schedulers refuse what they hold together.
class HardEdges {
 public:
  HardEdges(const Flow& flow, const Facts& facts) : flow_(flow), facts_(facts) {}

  void add(const Edge& edge, const Reason& reason) {
    added_.emplace(edge, reason);
  }
  [[nodiscard]] std::optional<Reason> find(const Edge& edge) const;
  [[nodiscard]] bool has_added() const {
    return !added_.empty();
  }
  /// Was it added, instead of following from the expressions?
  [[nodiscard]] bool is_added(const Edge& edge) const {
    return added_.contains(edge);
  }

 private:
  const Flow& flow_;
  const Facts& facts_;
  std::map<Edge, Reason> added_;
};

/// Let views that need no kernel be segments of their own: where several outputs are views of one
/// tensor that is computed, or where that tensor is an output as well. One view alone is stored by
/// the kernel that computes it.
/// Cost: linear.
void add_edges_of_views(
    const Fusion& fusion, const Flow& flow, const Facts& facts, HardEdges& edges);

} // namespace nvfuser::segment
