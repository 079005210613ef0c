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

/// "squeeze(3), merge(0), split(1, 2), broadcast(1)"; "identity".
[[nodiscard]] std::string to_string(const ReshapeWalk& walk);

/// Each step as "split(1, 2)".
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<ReshapeStep>& steps);
/// "split(1, 2)" as a step. Throws UserError for a text that `to_string` does not write.
[[nodiscard]] ReshapeStep read_step(const std::string& text);

/// Number of dimensions after `steps` on `rank` of them; none: a step names one that is not there,
/// or splits into parts of no element.
[[nodiscard]] std::optional<int64_t> rank_after(
    int64_t rank, const std::vector<ReshapeStep>& steps);

/// The rules of the walk, in the order in which they are tried.
enum class WalkRule : uint8_t {
  Absorb,   // the next dimension is an ordinary one, which no dimension of the result takes
  Close,    // the dimension of the result is finished
  NewOne,   // a dimension of size one that the operand has not
  Drop,     // the dimension in hand has size one and may go
  DropNext, // the next dimension may go
  Split,    // what is in hand is a multiple of what is wanted
  Merge,    // everything else
  Leftover, // the result is finished, and dimensions of size one remain
};

/// The effect of one rule, and where the walk stood before it.
struct WalkRow {
  WalkRule rule = WalkRule::Close;
  int64_t old_dim = 0;  // dimension of the operand that is consumed
  int64_t position = 0; // in the working domain
  int64_t new_dim = 0;  // dimension of the result that is produced
  SizeProduct in_hand;  // number of elements; 0: the operand is used up
  std::string effect;   // "split(2, 4)"; empty for a dimension that is closed
};

/// The walk from `old_dims` to `new_sizes`, whose products are equal and not 0. Empty if unknown
/// sizes leave it open; with constant sizes only there always is one.
/// The order in which the rules are tried is a contract: the key of compiled fusions is made of it.
/// `rows`: where to write down every step, for people.
[[nodiscard]] std::optional<ReshapeWalk> walk_reshape(
    const std::vector<WalkDim>& old_dims,
    const std::vector<SizeProduct>& new_sizes,
    std::vector<WalkRow>* rows = nullptr);

/// A walk between two lists of numbers, with all its steps.
struct ExplainedWalk {
  ReshapeWalk walk;
  std::vector<WalkRow> rows;
  /// A table: one line for each row, then the walk.
  [[nodiscard]] std::string to_string() const;
};

/// How a tensor of sizes `old_shape` gets the sizes `new_shape`, of which one may be -1.
/// `is_removable`: for each dimension of the operand, whether it may be squeezed if its size is 1.
/// Throws UserError where the shapes have no walk: other numbers of elements, or none at all.
[[nodiscard]] ExplainedWalk explain_walk(
    const std::vector<int64_t>& old_shape,
    const std::vector<int64_t>& new_shape,
    const std::vector<bool>& is_removable);

} // namespace nvfuser::ops
