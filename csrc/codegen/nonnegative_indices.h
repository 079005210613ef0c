// Indices that are not negative, as their text shows: sums, products, quotients and remainders of
// sizes, positions of threads and blocks, and loop indices. Compilers know this of positions, but
// of no size, and divide by a size with steps for its sign, for each element again. A CUDA kernel
// divides such indices as unsigned numbers:
//
//   block_x % i6      ->   index_remainder(block_x, i6)
//   (i9 * i6) / 143   ->   index_quotient(i9 * i6, 143)
#pragma once

#include <unordered_map>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

class NonnegativeIndices {
 public:
  explicit NonnegativeIndices(const Kernel& kernel);

  /// Whether the operands are not negative, and a compiler would not know that of both.
  /// Cost: constant, on average over all divisions of a kernel.
  [[nodiscard]] bool divides_unsigned(const BinaryOp& division);

 private:
  struct Range {
    bool is_nonnegative = false;
    bool is_known = false; // to compilers, as no size is a part of it
  };

  Range range(const Val* val);
  Range find_range(const Val* val);
  Range range_of_leaf(const Val* val);
  Range range_of(const BinaryOp& op);

  const Kernel& kernel_;
  bool has_loading_threads_ = false;                               // their positions are negative
  std::unordered_map<const Val*, std::vector<const Val*>> starts_; // by loop index; looked up only
  std::unordered_map<const Val*, Range> ranges_;                   // looked up only
};

} // namespace nvfuser
