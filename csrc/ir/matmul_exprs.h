// Products of matrices, and attention. They have no kernel form yet: they are evaluated.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct MmaOpFields {
  static constexpr const char* kDoc =
      "Sum over products: out = sum(a * b) over the reduction axes of out, in the precision of "
      "out. With scales, sum((a * a_scale) * (b * b_scale)).";
  Val* out = nullptr;
  Val* a = nullptr;
  Val* b = nullptr;
  Val* a_scale = nullptr;
  Val* b_scale = nullptr;
  Val* init = nullptr;
  int64_t macro = 0;
  static constexpr auto fields() {
    return std::tuple{
        output(
            "out", &MmaOpFields::out, "Result; the summed axes are reduction axes of its domain."),
        input("a", &MmaOpFields::a, "First factor."),
        input("b", &MmaOpFields::b, "Second factor, of the shape of a."),
        input(
            "a_scale", &MmaOpFields::a_scale,
            "Scales of the first factor, one for each block of the innermost summed axis, or None.")
            .or_none(),
        input("b_scale", &MmaOpFields::b_scale, "Scales of the second factor, or None.").or_none(),
        attr("init", &MmaOpFields::init, "Where the sum starts: 0."),
        attr("macro", &MmaOpFields::macro, "Encoded instruction of the tensor core; 0: none."),
    };
  }
};
struct MmaOp final : ExprNode<MmaOp, MmaOpFields> {};

struct MatmulOpFields {
  static constexpr const char* kDoc =
      "[.., M, K] times [.., K, N] is [.., M, N]; operands of one dimension are vectors, leading "
      "dimensions are broadcast together.";
  TensorView* out = nullptr;
  TensorView* a = nullptr;
  TensorView* b = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output(
            "out", &MatmulOpFields::out,
            "Result; its last logical axis is the reduction over K, unless K is a broadcast."),
        input("a", &MatmulOpFields::a, "[.., M, K] or [K]."),
        input("b", &MatmulOpFields::b, "[.., K, N] or [K]."),
    };
  }
};
struct MatmulOp final : ExprNode<MatmulOp, MatmulOpFields> {};

struct LinearOpFields {
  static constexpr const char* kDoc = "a times the transpose of b, plus bias.";
  TensorView* out = nullptr;
  TensorView* a = nullptr;
  TensorView* b = nullptr;
  TensorView* bias = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &LinearOpFields::out, "[*_w, *_i, N] and the reduction over K."),
        input("a", &LinearOpFields::a, "[*_i, K]."),
        input("b", &LinearOpFields::b, "[*_w, N, K]."),
        input("bias", &LinearOpFields::bias, "[*_w, N], or None.").or_none(),
    };
  }
};
struct LinearOp final : ExprNode<LinearOp, LinearOpFields> {};

struct GroupedMmaOpFields {
  static constexpr const char* kDoc =
      "A matmul for each group, whose rows (or columns) are given by offsets, with optional scales "
      "and epilogue.";
  TensorView* out = nullptr;
  TensorView* out_block_scale = nullptr;
  TensorView* out_gamma = nullptr;
  TensorView* mat1 = nullptr;
  TensorView* mat2 = nullptr;
  TensorView* offsets = nullptr;
  TensorView* scale1 = nullptr;
  TensorView* scale2 = nullptr;
  TensorView* alpha = nullptr;
  TensorView* bias = nullptr;
  TensorView* beta = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &GroupedMmaOpFields::out, "[g, m, n] or [m, n] and the reduction over K."),
        output(
            "out_block_scale", &GroupedMmaOpFields::out_block_scale,
            "Scales of the result's blocks, or None.")
            .or_none(),
        output("out_gamma", &GroupedMmaOpFields::out_gamma, "Scale of the result, or None.")
            .or_none(),
        input("mat1", &GroupedMmaOpFields::mat1, "First factor, 2-D or 3-D."),
        input("mat2", &GroupedMmaOpFields::mat2, "Second factor, 2-D or 3-D."),
        input("offsets", &GroupedMmaOpFields::offsets, "[g]: where each group ends."),
        input("scale1", &GroupedMmaOpFields::scale1, "Block scales of mat1, or None.").or_none(),
        input("scale2", &GroupedMmaOpFields::scale2, "Block scales of mat2, or None.").or_none(),
        input("alpha", &GroupedMmaOpFields::alpha, "Factor of the product for each group, or None.")
            .or_none(),
        input("bias", &GroupedMmaOpFields::bias, "Addend, or None.").or_none(),
        input("beta", &GroupedMmaOpFields::beta, "Factor of the addend for each group, or None.")
            .or_none(),
    };
  }
};
struct GroupedMmaOp final : ExprNode<GroupedMmaOp, GroupedMmaOpFields> {};

struct ScaledMmaOpFields {
  static constexpr const char* kDoc = "A matmul of quantized factors with a scale for each block.";
  TensorView* out = nullptr;
  TensorView* out_block_scale = nullptr;
  TensorView* out_gamma = nullptr;
  TensorView* mat1 = nullptr;
  TensorView* mat2 = nullptr;
  TensorView* scale1 = nullptr;
  TensorView* scale2 = nullptr;
  TensorView* alpha = nullptr;
  TensorView* bias = nullptr;
  TensorView* beta = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ScaledMmaOpFields::out, "[m, n] and the reduction over K."),
        output(
            "out_block_scale", &ScaledMmaOpFields::out_block_scale,
            "Scales of the result's blocks, or None.")
            .or_none(),
        output("out_gamma", &ScaledMmaOpFields::out_gamma, "Scale of the result, or None.")
            .or_none(),
        input("mat1", &ScaledMmaOpFields::mat1, "[m, k]."),
        input("mat2", &ScaledMmaOpFields::mat2, "[k, n]."),
        input("scale1", &ScaledMmaOpFields::scale1, "Block scales of mat1."),
        input("scale2", &ScaledMmaOpFields::scale2, "Block scales of mat2."),
        input("alpha", &ScaledMmaOpFields::alpha, "Factor of the product, or None.").or_none(),
        input("bias", &ScaledMmaOpFields::bias, "Addend, or None.").or_none(),
        input("beta", &ScaledMmaOpFields::beta, "Factor of the addend, or None.").or_none(),
    };
  }
};
struct ScaledMmaOp final : ExprNode<ScaledMmaOp, ScaledMmaOpFields> {};

struct CutlassNvfp4GroupedMmaOpFields {
  static constexpr const char* kDoc =
      "A matmul of fp4 factors for each group, with e4m3 scales for blocks of 16.";
  TensorView* out = nullptr;
  TensorView* mat1 = nullptr;
  TensorView* mat2 = nullptr;
  TensorView* scale1 = nullptr;
  TensorView* scale2 = nullptr;
  TensorView* alpha = nullptr;
  TensorView* problem_sizes = nullptr;
  TensorView* expert_offsets = nullptr;
  TensorView* sf_offsets = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &CutlassNvfp4GroupedMmaOpFields::out, "[m, n] and the reduction over K."),
        input("mat1", &CutlassNvfp4GroupedMmaOpFields::mat1, "[m, k], packed pairs."),
        input("mat2", &CutlassNvfp4GroupedMmaOpFields::mat2, "[g, n, k], packed pairs."),
        input("scale1", &CutlassNvfp4GroupedMmaOpFields::scale1, "Block scales of mat1."),
        input("scale2", &CutlassNvfp4GroupedMmaOpFields::scale2, "Block scales of mat2."),
        input("alpha", &CutlassNvfp4GroupedMmaOpFields::alpha, "[g]: factor of the product."),
        input(
            "problem_sizes", &CutlassNvfp4GroupedMmaOpFields::problem_sizes,
            "[g, 3]: m, n, k of each group."),
        input(
            "expert_offsets", &CutlassNvfp4GroupedMmaOpFields::expert_offsets,
            "[g]: first row of each group."),
        input(
            "sf_offsets", &CutlassNvfp4GroupedMmaOpFields::sf_offsets,
            "[g]: first row of each group's scales."),
    };
  }
};
struct CutlassNvfp4GroupedMmaOp final
    : ExprNode<CutlassNvfp4GroupedMmaOp, CutlassNvfp4GroupedMmaOpFields> {};

struct SdpaFwdOpFields {
  static constexpr const char* kDoc =
      "softmax(query key^T * scale + bias) value, with dropout. Dao et al. 2022.";
  TensorView* out = nullptr;
  TensorView* logsumexp = nullptr;
  TensorView* philox_seed = nullptr;
  TensorView* philox_offset = nullptr;
  TensorView* query = nullptr;
  TensorView* key = nullptr;
  TensorView* value = nullptr;
  Val* dropout_p = nullptr;
  Val* is_causal = nullptr;
  Val* scale = nullptr;
  TensorView* bias = nullptr;
  TensorView* mask = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &SdpaFwdOpFields::out, "[N.., H, L, Ev]."),
        output(
            "logsumexp", &SdpaFwdOpFields::logsumexp,
            "[N.., H, L]: log of the sum of exponentials, Float."),
        output("philox_seed", &SdpaFwdOpFields::philox_seed, "[2], UInt64."),
        output("philox_offset", &SdpaFwdOpFields::philox_offset, "UInt64."),
        input("query", &SdpaFwdOpFields::query, "[N.., H, L, E]."),
        input("key", &SdpaFwdOpFields::key, "[N.., H, S, E]."),
        input("value", &SdpaFwdOpFields::value, "[N.., H, S, Ev]."),
        input("dropout_p", &SdpaFwdOpFields::dropout_p, "Probability that a weight is dropped."),
        input("is_causal", &SdpaFwdOpFields::is_causal, "Whether row i sees columns up to i only."),
        input("scale", &SdpaFwdOpFields::scale, "Factor of the products; None: 1 / sqrt(E).")
            .or_none(),
        input("bias", &SdpaFwdOpFields::bias, "Added to the products, or None.").or_none(),
        input("mask", &SdpaFwdOpFields::mask, "False where a product has no part, or None.")
            .or_none(),
    };
  }
};
struct SdpaFwdOp final : ExprNode<SdpaFwdOp, SdpaFwdOpFields> {};

struct SdpaBwdOpFields {
  static constexpr const char* kDoc = "Gradients of SdpaFwdOp.";
  TensorView* grad_query = nullptr;
  TensorView* grad_key = nullptr;
  TensorView* grad_value = nullptr;
  TensorView* grad_output = nullptr;
  TensorView* query = nullptr;
  TensorView* key = nullptr;
  TensorView* value = nullptr;
  TensorView* out = nullptr;
  TensorView* logsumexp = nullptr;
  Val* dropout_p = nullptr;
  Val* is_causal = nullptr;
  TensorView* philox_seed = nullptr;
  TensorView* philox_offset = nullptr;
  Val* scale = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("grad_query", &SdpaBwdOpFields::grad_query, "Shape of query."),
        output("grad_key", &SdpaBwdOpFields::grad_key, "Shape of key."),
        output("grad_value", &SdpaBwdOpFields::grad_value, "Shape of value."),
        input("grad_output", &SdpaBwdOpFields::grad_output, "[N.., H, L, Ev]."),
        input("query", &SdpaBwdOpFields::query, "[N.., H, L, E]."),
        input("key", &SdpaBwdOpFields::key, "[N.., H, S, E]."),
        input("value", &SdpaBwdOpFields::value, "[N.., H, S, Ev]."),
        input("out", &SdpaBwdOpFields::out, "The one of the forward pass."),
        input("logsumexp", &SdpaBwdOpFields::logsumexp, "The one of the forward pass."),
        input("dropout_p", &SdpaBwdOpFields::dropout_p, "The one of the forward pass."),
        input("is_causal", &SdpaBwdOpFields::is_causal, "The one of the forward pass."),
        input("philox_seed", &SdpaBwdOpFields::philox_seed, "The one of the forward pass."),
        input("philox_offset", &SdpaBwdOpFields::philox_offset, "The one of the forward pass."),
        input("scale", &SdpaBwdOpFields::scale, "The one of the forward pass.").or_none(),
    };
  }
};
struct SdpaBwdOp final : ExprNode<SdpaBwdOp, SdpaBwdOpFields> {};

} // namespace nvfuser
