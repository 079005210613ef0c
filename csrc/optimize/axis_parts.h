// The parts of axes: what merges and splits make of them, over all tensors of a fusion.
//
//   T1[a b] = merge(T0[a, b])   T2[c, d] = split(T1[a b]), with a = 64, b = 320, c = 2048:
//   the parts are 64, 32 and 10: a is 64, b is 32 and 10, c is 64 and 32, d is 10.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/val_graph.h"
#include "ir/fusion.h"

namespace nvfuser::optimize {

class AxisParts {
 public:
  /// `exact`: says which axes are the same.
  explicit AxisParts(const ValGraph& exact) : exact_(exact) {}

  /// Add the equalities of axes that follow from this merge or split. False if the axes have no
  /// common parts, or `expr` is neither of both.
  bool add(const Expr* expr);

  /// A broadcast that meets this axis has as many parts. False if it meets another one already,
  /// with other parts. Behind all calls of `add`.
  bool add_broadcast(const IterDomain* broadcast, const IterDomain* resolved);

  /// Extents of the parts of an axis, outermost first; its own if it is not divided.
  [[nodiscard]] std::vector<Val*> extents(const IterDomain* axis);
  [[nodiscard]] bool is_divided(const IterDomain* axis) {
    return extents(axis).size() > 1;
  }

 private:
  using Part = size_t; // position in `parts_`
  struct Node {
    Val* extent = nullptr;
    Part same_as = 0;         // itself: it stands for itself
    std::vector<Part> inside; // outermost first; empty: it is not divided
  };

  Part new_part(Val* extent);
  Part part_of(const IterDomain* axis);
  Part root(Part part) const;
  void append_leaves(Part part, std::vector<Part>& leaves) const;
  [[nodiscard]] std::vector<Part> leaves_of(const std::vector<Part>& parts) const;
  bool equate(const std::vector<Part>& a, const std::vector<Part>& b);
  bool match_innermost(std::vector<Part>& a, std::vector<Part>& b);
  void divide(Part part, int64_t inner);

  const ValGraph& exact_;
  std::vector<Node> parts_;
  std::unordered_map<int64_t, Part> of_class_;       // only looked up
  std::unordered_map<int64_t, size_t> of_broadcast_; // how many parts, only looked up
};

} // namespace nvfuser::optimize
