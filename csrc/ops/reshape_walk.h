// How one shape becomes another: which dimensions of size one go, what is merged and split, which
// dimensions of size one come. Only sizes, no IR.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvfuser::ops {

/// A size as the product of a constant and unknown sizes, which the maker of products numbers. Two
/// products with the same factors are equal whatever the unknowns are.
struct SizeProduct {
  int64_t constant = 1;
  std::vector<int> unknowns; // sorted, repeated for powers

  [[nodiscard]] bool is_constant() const {
    return unknowns.empty();
  }
  [[nodiscard]] bool is_constant(int64_t value) const {
    return unknowns.empty() && constant == value;
  }
  bool operator==(const SizeProduct&) const = default;
};

/// An error if the constant exceeds 64 bits.
[[nodiscard]] SizeProduct operator*(const SizeProduct& a, const SizeProduct& b);
[[nodiscard]] SizeProduct product_of(const std::vector<SizeProduct>& sizes);
/// a / b if it is exact for all values of the unknowns.
[[nodiscard]] std::optional<SizeProduct> divide(const SizeProduct& a, const SizeProduct& b);

/// A dimension of the operand. A removable one of size 1 may be squeezed.
struct WalkDim {
  SizeProduct size;
  bool is_removable = false;
};

/// One transform of the working domain, which is the operand's after the squeezes.
struct ReshapeStep {
  enum class Kind : uint8_t { Merge, OuterSplit, InnerSplit };
  Kind kind = Kind::Merge;
  int64_t position = 0; // of the dimension that is split, or of the outer one of two merged
  int64_t factor = 0;   // of a split
  bool operator==(const ReshapeStep&) const = default;
};

struct ReshapeWalk {
  std::vector<int64_t> squeezes;       // dimensions of the operand, ascending
  std::vector<ReshapeStep> transforms; // in this order
  std::vector<int64_t> broadcasts;     // dimensions of the result, ascending
  bool operator==(const ReshapeWalk&) const = default;
};

/// The walk from `old_dims` to `new_sizes`, whose products are equal and not 0. Empty if unknown
/// sizes leave it open; with constant sizes only there always is one.
/// The order in which the rows are tried is a contract: the key of compiled fusions is made of it.
[[nodiscard]] std::optional<ReshapeWalk> walk_reshape(
    const std::vector<WalkDim>& old_dims, const std::vector<SizeProduct>& new_sizes);

} // namespace nvfuser::ops
