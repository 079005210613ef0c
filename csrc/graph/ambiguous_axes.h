// Tensors that meet a reshape of themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "graph/val_graph.h"

namespace nvfuser {

/// An axis of the graph that follows in two ways from the axes of a tensor.
///   T1[N, M]   T2[N * M] = reshape(T1)   T3[N, M, N * M] = T1[N, M, 1] + T2[1, 1, N * M]
/// N is the first axis of T3, and the quotient of its last one by M: what is computed in the loops
/// of T3 has two indices of N. A way from more axes to what fewer determine already is none:
///   T2 = reshape(T1)   T3[N, M] = T1 + reshape(T2)
struct AmbiguousAxis {
  IterDomain* axis = nullptr;   // that follows in two ways
  IterDomain* first = nullptr;  // an axis of the tensor that is needed for one of them only
  IterDomain* second = nullptr; // and one for the other
};

/// Searches for the tensors of one graph, which must not change meanwhile. The steps between groups
/// of axes, which all searches share, are read from the graph once.
class AmbiguousAxisSearch {
 public:
  explicit AmbiguousAxisSearch(const ValGraph& graph) : graph_(graph) {}

  /// The first ambiguous axis, from the logical axes of `tensor` through splits and merges. Empty
  /// for axes that were searched before: their groups decide the question.
  /// Cost: O(axes that follow from some of the tensor's, and not from all). One that follows from
  /// all cannot contradict anything, and the search ends there: at the next reshape of a chain.
  [[nodiscard]] std::optional<AmbiguousAxis> find(const TensorView* tensor);

 private:
  using Sources = uint64_t; // bits are positions of axes of the tensor

  /// All axes of `to` follow from those of `from` together.
  struct Step {
    std::vector<size_t> from; // nodes
    std::vector<IterDomain*> to;
    std::vector<size_t> to_nodes;
  };
  /// A group of axes that a search has met.
  struct Node {
    int64_t group = 0;
    bool has_steps = false;
    std::vector<Step> steps; // those that read it
    Sources sources = 0;     // of the search that goes on; 0: not reached
  };

  size_t node_of(const IterDomain* id);
  void read_steps(size_t node);
  void add_step(size_t node, const std::vector<IterDomain*>& from, std::vector<IterDomain*> to);
  void follow(const Step& step);
  void record(IterDomain* id, size_t node, Sources sources);
  [[nodiscard]] IterDomain* first_of(Sources sources) const;

  const ValGraph& graph_;
  std::unordered_map<int64_t, size_t> node_of_group_; // only looked up
  std::deque<Node> nodes_;
  std::set<std::vector<int64_t>> searched_; // groups of logical axes

  // The search that goes on.
  std::vector<IterDomain*> axes_;
  Sources all_ = 0;
  std::vector<size_t> reached_;
  std::deque<size_t> queue_; // nodes whose steps have to be taken
  std::optional<AmbiguousAxis> result_;
};

} // namespace nvfuser
