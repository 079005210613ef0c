// Effects: what the statements of a node of the kernel's tree do, and which nodes may change
// places.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "lower/kernel.h"

namespace nvfuser {

struct Effects {
  std::unordered_set<const TensorView*> reads;
  std::unordered_set<const TensorView*> writes; // or allocates
  bool reads_memory = false;                    // other than registers
  bool writes_memory = false;
  bool waits = false; // for other threads, or for copies: it stays between what it stands between
  bool declares = false; // scalars that what follows knows
  bool loops = false;

  void add(const Effects& other);
  /// Whether it leaves something behind in registers only.
  [[nodiscard]] bool stays_in_registers() const {
    return !writes_memory && !waits && !declares;
  }
};

/// Whether it makes no difference which of two nodes stands first. Tensors in memory may lie in the
/// same place: an output in that of an input.
[[nodiscard]] bool may_change_places(const Effects& a, const Effects& b);

/// Remembers the effects of nodes. A node that gets more statements is told so by `add`.
class EffectsOfNodes {
 public:
  [[nodiscard]] const Effects& of(const Expr* node) {
    return known(node);
  }
  void add(const Expr* node, const Effects& more) {
    known(node).add(more);
  }

 private:
  Effects& known(const Expr* node);
  std::unordered_map<const Expr*, Effects> known_;
};

} // namespace nvfuser
