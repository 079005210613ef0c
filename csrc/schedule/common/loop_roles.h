// The loops of a tensor, each with the role that a recipe gave it: recipes speak of "the threads of
// a row" and not of "axis 5".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "ir/tensor_view.h"

namespace nvfuser::schedule {

/// Roles in a problem of reductions. The axes that are kept are the iteration side, the rest the
/// reduced one.
enum class LoopRole : uint8_t {
  Turns,   // of the whole grid, one after another, where Blocks are those of one turn
  Blocks,  // iterations that blocks (or tasks) are dealt
  Rows,    // those of one block: bound to threads, or serial in a task
  Groups,  // of the threads of a block, each with a row, where Rows are their steps
  Columns, // lanes of the iteration side: neighbours in memory
  Grid,    // parts of the reduced side that blocks are dealt
  Serial,  // steps of a thread
  Chain,   // steps that one accumulator takes between two of the outer steps
  Unroll,  // steps that are written out, or accumulators of their own
  Threads, // elements of the threads of one block
  Warp,    // those of the threads of one warp, where a recipe tells them apart
  Lanes,   // neighbours in memory
  Ones,    // broadcasts of the reference: innermost, so that tensors without them share the others
};

class LoopRoles {
 public:
  /// `roles`: one for each loop of `tensor`.
  LoopRoles(TensorView* tensor, std::vector<LoopRole> roles);

  [[nodiscard]] TensorView* tensor() const {
    return tensor_;
  }
  [[nodiscard]] bool has(LoopRole role) const;
  [[nodiscard]] int64_t position(LoopRole role) const;
  [[nodiscard]] IterDomain* axis(LoopRole role) const {
    return tensor_->axis(position(role));
  }

  /// Split `factor` iterations off the loop, which stays the outer one; the inner one gets the role
  /// `inner`. Nothing is done if the loop is not there.
  void split(LoopRole role, int64_t factor, LoopRole inner);
  /// Cut the loop into `factor` long runs: it becomes the loop over the elements of one, and a new
  /// one with the role `outer` runs over them.
  void cut(LoopRole role, int64_t factor, LoopRole outer);
  void rename(LoopRole role, LoopRole other);
  /// Bring the loops into this order; roles that are not there are passed over.
  void arrange(std::initializer_list<LoopRole> order);
  void bind(LoopRole role, ParallelType type);

  /// Factor these loops out of `results`, which have the same loops: the partial results. Empty if
  /// none of the loops is there. The roles are then those that are left.
  std::vector<TensorView*> factor(
      std::initializer_list<LoopRole> roles, const std::vector<TensorView*>& results);
  /// The same loops of another tensor.
  [[nodiscard]] LoopRoles of(TensorView* other) const;

 private:
  TensorView* tensor_;
  std::vector<LoopRole> roles_;
};

} // namespace nvfuser::schedule
