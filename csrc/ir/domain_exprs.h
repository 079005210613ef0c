// Expressions on iteration domains.
#pragma once

#include <optional>
#include <utility>

#include "ir/expr.h"
#include "ir/iter_domain.h"
#include "ir/tensor_domain.h"

namespace nvfuser {

struct SplitFields {
  static constexpr const char* kDoc =
      "One axis in two. With inner_split: outer = ceilDiv(in, factor), inner = factor; without: "
      "outer = factor, inner = ceilDiv(in, factor). Index: in = outer * inner_extent + inner.";
  IterDomain* outer = nullptr;
  IterDomain* inner = nullptr;
  IterDomain* in = nullptr;
  Val* factor = nullptr;
  bool inner_split = true;
  static constexpr auto fields() {
    return std::tuple{
        output("outer", &SplitFields::outer, "Slower part."),
        output("inner", &SplitFields::inner, "Faster part."),
        input("in", &SplitFields::in, "The axis that is split."),
        attr("factor", &SplitFields::factor, "Extent of the constant part (elements)."),
        attr("inner_split", &SplitFields::inner_split, "Whether `factor` is the inner extent."),
    };
  }
};
struct Split final : ExprNode<Split, SplitFields> {};

struct MergeFields {
  static constexpr const char* kDoc =
      "Two axes into one of their product. Index: out = outer * inner_extent + inner.";
  IterDomain* out = nullptr;
  IterDomain* outer = nullptr;
  IterDomain* inner = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &MergeFields::out, "The product."),
        input("outer", &MergeFields::outer, "Varies slower."),
        input("inner", &MergeFields::inner, "Varies faster."),
    };
  }
};
struct Merge final : ExprNode<Merge, MergeFields> {};

struct SwizzleFields {
  static constexpr const char* kDoc =
      "Permute the positions of a square of two axes. XOR: out_x = x, out_y = x ^ y; CyclicShift: "
      "out_y = (x + y) mod extent.";
  IterDomain* out_x = nullptr;
  IterDomain* out_y = nullptr;
  IterDomain* in_x = nullptr;
  IterDomain* in_y = nullptr;
  SwizzleType swizzle_type = SwizzleType::NoSwizzle;
  static constexpr auto fields() {
    return std::tuple{
        output("out_x", &SwizzleFields::out_x, "First axis after the swizzle."),
        output("out_y", &SwizzleFields::out_y, "Second axis after the swizzle."),
        input("in_x", &SwizzleFields::in_x, "First axis; passes through."),
        input("in_y", &SwizzleFields::in_y, "Second axis; is permuted."),
        attr("swizzle_type", &SwizzleFields::swizzle_type, "The permutation."),
    };
  }
};
struct Swizzle final : ExprNode<Swizzle, SwizzleFields> {};

struct Swizzle1DFields {
  static constexpr const char* kDoc = "Rotate an axis by the index of a device dimension.";
  IterDomain* out = nullptr;
  IterDomain* in = nullptr;
  ParallelType parallel_type = ParallelType::DIDx;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &Swizzle1DFields::out, "The rotated axis."),
        input("in", &Swizzle1DFields::in, "The axis."),
        attr("parallel_type", &Swizzle1DFields::parallel_type, "Device dimension to rotate by."),
    };
  }
};
struct Swizzle1D final : ExprNode<Swizzle1D, Swizzle1DFields> {};

struct ResizeFields {
  static constexpr const char* kDoc =
      "Grow (positive) or crop (negative) an axis at both ends. Index: out = in + left.";
  IterDomain* out = nullptr;
  IterDomain* in = nullptr;
  Val* left = nullptr;
  Val* right = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ResizeFields::out, "The resized axis."),
        input("in", &ResizeFields::in, "The axis."),
        attr("left", &ResizeFields::left, "Elements added before the first."),
        attr("right", &ResizeFields::right, "Elements added after the last."),
    };
  }
};
struct Resize final : ExprNode<Resize, ResizeFields> {};

// ---- Making them. The new ids belong to the fusion of their operands. ---------------------------

/// {outer, inner}; types and expanded extents follow the input; the ceilDiv side has the expanded
/// one.
[[nodiscard]] std::pair<IterDomain*, IterDomain*> split_id(
    IterDomain* in, Val* factor, bool inner_split = true, bool is_rfactor = false);
[[nodiscard]] IterDomain* merge_ids(IterDomain* outer, IterDomain* inner, bool is_rfactor = false);
/// {out_x, out_y}
[[nodiscard]] std::pair<IterDomain*, IterDomain*> swizzle_ids(
    SwizzleType type, IterDomain* in_x, IterDomain* in_y);
/// The rotated axis. Throws UserError unless `type` is a device dimension.
[[nodiscard]] IterDomain* swizzle1d_id(IterDomain* in, ParallelType type);
/// `iter_type`: empty: from the result's extent. `extent`: the sum of that of `in` and of what is
/// added; nullptr: it is summed up.
[[nodiscard]] IterDomain* resize_id(
    IterDomain* in,
    Val* left,
    Val* right,
    std::optional<IterType> iter_type,
    bool is_rfactor,
    Val* extent = nullptr);
/// The outputs of the same transform applied to `inputs`. Used by every replay. When the expression
/// is a split or merge of unlike types, the types follow the inputs.
[[nodiscard]] IterDomains replay_id_expr(const Expr* expr, const IterDomains& inputs);

} // namespace nvfuser
