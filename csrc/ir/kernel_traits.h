// Traits of the statements of a kernel: one table for all kinds. A pass that needs to
// know which statements wait, or must not be skipped, asks here and lists no kinds of its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "ir/expr.h"

namespace nvfuser {

/// The group that waits together: the lanes of a warp, the threads of a block, the blocks of a
/// cluster, those of the grid, or threads and copies that arrive at a barrier in shared memory.
enum class Barrier : uint8_t { Warp, Block, Cluster, Grid, MBarrier };

/// The threads that have to wait, or are known to have waited. It is a set: a thread that waits for
/// a barrier in shared memory does not wait for the block, nor the other way round.
class BarrierSet {
 public:
  constexpr BarrierSet() = default;
  constexpr BarrierSet(std::initializer_list<Barrier> barriers) {
    for (const Barrier barrier : barriers) {
      bits_ |= bit(barrier);
    }
  }
  [[nodiscard]] constexpr bool empty() const {
    return bits_ == 0;
  }
  [[nodiscard]] constexpr bool has(Barrier barrier) const {
    return (bits_ & bit(barrier)) != 0;
  }
  [[nodiscard]] constexpr bool contains(BarrierSet others) const {
    return (others.bits_ & ~bits_) == 0;
  }
  /// The widest group of threads that waits as a whole: a thread that waits for the grid waits for
  /// its block.
  [[nodiscard]] constexpr std::optional<Barrier> widest() const {
    for (const Barrier barrier : {Barrier::Grid, Barrier::Cluster, Barrier::Block, Barrier::Warp}) {
      if (has(barrier)) {
        return barrier;
      }
    }
    return std::nullopt;
  }
  constexpr BarrierSet& operator|=(BarrierSet others) {
    bits_ |= others.bits_;
    return *this;
  }
  friend constexpr BarrierSet operator|(BarrierSet a, BarrierSet b) {
    return a |= b;
  }
  friend constexpr bool operator==(BarrierSet, BarrierSet) = default;

 private:
  static constexpr unsigned bit(Barrier barrier) {
    return 1U << static_cast<unsigned>(barrier);
  }
  unsigned bits_ = 0;
};

struct KernelTraits {
  /// The barriers that the statement is: elements written before it, by threads that wait, are seen
  /// after it. Which threads wait in a collective depends on its dimensions (always_waits).
  BarrierSet barriers{};
  /// Threads of a block compute it together, in scratch of its own in shared memory.
  bool is_collective = false;
  /// Every thread of the block comes to it: it stands under no condition that differs among them.
  bool needs_all_threads = false;
  /// Is about what other threads, or copies under way, have done: accesses to memory stay on their
  /// side of it.
  bool is_ordered = false;
  /// Declares storage and computes nothing.
  bool is_declaration = false;
  /// Code like that of a function, once for each time it stands in the kernel.
  bool is_large = false;
};

/// The traits of a statement; of one on elements that a thread computes alone, all are false.
[[nodiscard]] const KernelTraits& traits_of(const Expr& statement);

} // namespace nvfuser
