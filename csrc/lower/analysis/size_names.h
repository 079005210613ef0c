// Names for sums of many sizes.
//
// A `cat` of n tensors has n partial sums of sizes, and the indices and conditions of its operands
// are made of them. As expressions they would have up to n terms each: a kernel of n * n terms. So
// a sum of more than eight sizes is a value of its own, computed once at the start of the kernel:
//   i20 = i0 + i2 + .. + i18      i40 = i20 + i22 + .. + i38
// Its definition is a copy, which no analysis looks through; a launch evaluates it like any other.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lower/kernel.h"

namespace nvfuser {

/// Gives names while sizes are rebuilt, operands before sums (replace_sizes).
class SizeNamer {
 public:
  /// Knows the extents of the kernel's axes: integers >= 0.
  explicit SizeNamer(Kernel& kernel);

  /// `rebuilt` stands for `original` from now on; returns what stands for both: a name, if they are
  /// a sum of many sizes.
  [[nodiscard]] Val* shortened(const Val* original, Val* rebuilt);

 private:
  /// How many sizes `val` is the sum of; 0: it is no sum of sizes.
  [[nodiscard]] int num_terms(const Val* val) const;

  Kernel& kernel_;
  std::unordered_set<const Val*> extents_;
  std::unordered_map<const Val*, int> num_terms_; // of sums
  std::map<std::pair<const Val*, const Val*>, Val*>
      sums_; // what stands for them, by operands; looked up
};

/// Declare the names that the statements of `kernel.body` use, at its start.
void declare_size_names(Kernel& kernel);

} // namespace nvfuser
