// Other symbols in scalar expressions, and in the sizes of tensors.
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

/// Rebuilds scalar expressions with other leaves, by the constructors of ir/scalar.h: constants are
/// computed. A value without any of the leaves stays itself.
class ScalarSubstitution {
 public:
  /// Returns what stands for a value that was rebuilt; both may be the same.
  using Finish = std::function<Val*(Val* val, Val* rebuilt)>;

  explicit ScalarSubstitution(Fusion& fusion, Finish finish = {})
      : fusion_(fusion), finish_(std::move(finish)) {}

  void replace(Val* leaf, Val* with) {
    if (map_.insert_or_assign(leaf, with).second) {
      leaves_.push_back(leaf);
    }
  }

  /// `root` with the new leaves. No recursion: sums of many sizes are deep.
  Val* operator()(Val* root);

  /// Give the axes of `tensors` and their resizes the new sizes, and let whatever reads a leaf read
  /// what stands for it.
  void apply(const std::vector<TensorView*>& tensors);

 private:
  Val* rebuild(Val* val);
  Val* rebuild_other(Val* val);

  Fusion& fusion_;
  Finish finish_;
  std::unordered_map<Val*, Val*> map_; // only looked up
  std::vector<Val*> leaves_;
};

} // namespace nvfuser
