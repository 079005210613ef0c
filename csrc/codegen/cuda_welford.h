// Arrays of Welfords that are merged set by set, where all sets have as many elements: one share
// serves them all, instead of conversions and a division for each.
//
//   for i < 8: welford_merge(T1[i], T2[i], T3[i], {T4[i], T5[i], T6[i]})
//                            ->  welford_merge_alike<8>(T1, T2, T3, T4, T5, T6)
//
// The lanes of a vector are such sets: they are conditioned together.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/kernel_nodes.h"

namespace nvfuser {

class KernelPrinter;

/// Arrays of counts in registers whose elements are all equal, whenever something else is done than
/// writing them. Each is written by loops over all its elements that write constants, elements of
/// other such arrays and sums of those alone, and what is written does not depend on the iteration.
class AlikeCounts {
 public:
  /// Requires: final statements. Cost: O(statements), times the longest chain of arrays.
  explicit AlikeCounts(const Scope& body);

  [[nodiscard]] bool contains(const TensorView* view) const {
    return sizes_.count(view) != 0;
  }
  /// Elements of one that it contains.
  [[nodiscard]] int64_t size_of(const TensorView* view) const {
    return sizes_.at(view);
  }

 private:
  void visit(const Scope& scope, const ForLoop* around);
  void visit_writes(const Expr& expr, const ForLoop* around);
  void remove_those_made_of_others();

  std::unordered_map<const TensorView*, int64_t> sizes_;
  std::unordered_set<const TensorView*> others_; // that are written in other ways
  std::unordered_map<const TensorView*, std::vector<const TensorView*>> made_of_;
};

/// Print a loop that merges such sets, and nothing else, as calls. Returns whether it is that.
bool print_merged_sets(KernelPrinter& printer, const ForLoop& loop, const AlikeCounts& counts);

} // namespace nvfuser
