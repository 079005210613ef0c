// Other symbols in scalar expressions, and in the sizes of tensors.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>
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

  /// `with` may be computed from `leaf`; values on the way from one to the other stay themselves.
  void replace(Val* leaf, Val* with);

  /// `root` with the new leaves. No recursion: sums of many sizes are deep.
  Val* operator()(Val* root);

  /// Give the axes of `tensors` and their resizes the new sizes, and let whatever reads a leaf read
  /// what stands for it.
  void apply(const std::vector<TensorView*>& tensors);

 private:
  void keep_between(const Val* leaf, Val* with);
  Val* rebuild(Val* val);
  Val* rebuild_other(Val* val);

  Fusion& fusion_;
  Finish finish_;
  std::unordered_map<Val*, Val*> map_; // only looked up
  std::vector<Val*> leaves_;
  std::unordered_set<const Expr*> kept_; // compute a replacement from the leaf that it replaces
};

} // namespace nvfuser
