// Work that all threads of a block, or all blocks of the grid, do alike.
//
// A register whose values are all computed from what every thread has is the same in each of them:
//
//   FOR i: T4[0] = T4[0] + T1[i]     common: T1 lies in global memory, and no index has threadIdx
//   T2[tx] = T3[tx] * T4[0]          not common
//
// Where threads are loops, one of them can do it for all. That is worth a region of its own if the
// work has a loop, which every thread would run through.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// The levels at which a kernel without hardware threads is cut: threads of a block, blocks of a
/// cluster, blocks (or clusters, if there are any) of the grid.
enum class Level : uint8_t { Threads, Cluster, Blocks };

/// The indices of a level.
[[nodiscard]] std::span<const ParallelType> indices_of(Level level);
/// Whether each thread (block) has storage of its own for a tensor. Blocks of a cluster have shared
/// memory side by side, where it is allocated once.
[[nodiscard]] bool is_private(const TensorView* tensor, Level level);
/// Points that need all threads (all blocks of the cluster, of the grid).
[[nodiscard]] bool is_cut(const Expr* expr, Level level);

class CommonWork {
 public:
  /// Requires: conditions placed; no loops bound to hardware.
  /// Cost:     O(statements * tensors that look common and are not).
  CommonWork(Kernel& kernel, Level level);

  /// Whether one does `expr`, and all in it, for all others.
  [[nodiscard]] bool is_done_once(const Expr* expr) const {
    return done_once_.contains(expr);
  }
  /// Whether one does something in the loop or condition `expr` for all others, while each does the
  /// rest: then it stands outside of both.
  [[nodiscard]] bool is_opened(const Expr* expr) const {
    return opened_.contains(expr);
  }
  /// Whether `tensor` has one element for all.
  [[nodiscard]] bool is_shared(const TensorView* tensor) const {
    return shared_.contains(tensor);
  }

 private:
  /// The effects of a statement; those of a loop or a condition are without its body's.
  struct Facts {
    std::vector<const TensorView*> reads = {};  // private ones
    std::vector<const TensorView*> writes = {}; // private ones
    /// It depends on the index, leaves something where others see it, or needs all.
    bool is_own = false;
  };

  [[nodiscard]] Facts facts_of(const Expr& node) const;
  [[nodiscard]] bool depends_on_index(const Val* val) const;
  /// Sort the nodes of `scope` by what is known so far. Whether a tensor turned out not to be
  /// common.
  bool sort(const Scope& scope);
  [[nodiscard]] bool is_common(const Expr& expr) const;
  [[nodiscard]] bool is_worth_it(const Expr& expr) const;
  [[nodiscard]] bool has_common_loop(const Expr& expr) const;
  [[nodiscard]] bool may_be_opened(const Expr& expr) const;
  /// Keep of what is common only what is worth it, and what that needs.
  void choose();

  Kernel& kernel_;
  Level level_;
  std::unordered_map<const Expr*, Facts> facts_;
  std::unordered_set<const Val*> declared_;      // scalars that statements declare
  std::unordered_set<const TensorView*> common_; // private tensors, as far as known
  std::unordered_set<const Expr*> done_once_;
  std::unordered_set<const Expr*> opened_;
  std::unordered_set<const TensorView*> shared_;
};

} // namespace nvfuser
