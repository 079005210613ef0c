// Expressions on iteration domains.
#pragma once

#include <optional>
#include <utility>

#include "ir/expr.h"
#include "ir/iter_domain.h"
#include "ir/tensor_domain.h"

namespace nvfuser {

struct Split final : ExprNode<Split> {
  static constexpr ExprKind kKind = ExprKind::Split;
  static constexpr const char* kName = "Split";
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
        nvfuser::output("outer", &Split::outer, "Slower part."),
        nvfuser::output("inner", &Split::inner, "Faster part."),
        nvfuser::input("in", &Split::in, "The axis that is split."),
        nvfuser::attr("factor", &Split::factor, "Extent of the constant part (elements)."),
        nvfuser::attr("inner_split", &Split::inner_split, "Whether `factor` is the inner extent."),
    };
  }
};

struct Merge final : ExprNode<Merge> {
  static constexpr ExprKind kKind = ExprKind::Merge;
  static constexpr const char* kName = "Merge";
  static constexpr const char* kDoc =
      "Two axes into one of their product. Index: out = outer * inner_extent + inner.";
  IterDomain* out = nullptr;
  IterDomain* outer = nullptr;
  IterDomain* inner = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &Merge::out, "The product."),
        nvfuser::input("outer", &Merge::outer, "Varies slower."),
        nvfuser::input("inner", &Merge::inner, "Varies faster."),
    };
  }
};

struct Swizzle final : ExprNode<Swizzle> {
  static constexpr ExprKind kKind = ExprKind::Swizzle;
  static constexpr const char* kName = "Swizzle";
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
        nvfuser::output("out_x", &Swizzle::out_x, "First axis after the swizzle."),
        nvfuser::output("out_y", &Swizzle::out_y, "Second axis after the swizzle."),
        nvfuser::input("in_x", &Swizzle::in_x, "First axis; passes through."),
        nvfuser::input("in_y", &Swizzle::in_y, "Second axis; is permuted."),
        nvfuser::attr("swizzle_type", &Swizzle::swizzle_type, "The permutation."),
    };
  }
};

struct Swizzle1D final : ExprNode<Swizzle1D> {
  static constexpr ExprKind kKind = ExprKind::Swizzle1D;
  static constexpr const char* kName = "Swizzle1D";
  static constexpr const char* kDoc = "Rotate an axis by the index of a device dimension.";
  IterDomain* out = nullptr;
  IterDomain* in = nullptr;
  ParallelType parallel_type = ParallelType::DIDx;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &Swizzle1D::out, "The rotated axis."),
        nvfuser::input("in", &Swizzle1D::in, "The axis."),
        nvfuser::attr("parallel_type", &Swizzle1D::parallel_type, "Device dimension to rotate by."),
    };
  }
};

struct Resize final : ExprNode<Resize> {
  static constexpr ExprKind kKind = ExprKind::Resize;
  static constexpr const char* kName = "Resize";
  static constexpr const char* kDoc =
      "Grow (positive) or crop (negative) an axis at both ends. Index: out = in + left.";
  IterDomain* out = nullptr;
  IterDomain* in = nullptr;
  Val* left = nullptr;
  Val* right = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &Resize::out, "The resized axis."),
        nvfuser::input("in", &Resize::in, "The axis."),
        nvfuser::attr("left", &Resize::left, "Elements added before the first."),
        nvfuser::attr("right", &Resize::right, "Elements added after the last."),
    };
  }
};

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
