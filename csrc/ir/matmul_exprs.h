// Products of matrices, and attention. They have no kernel form yet: they are evaluated.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct MmaOp final : ExprNode<MmaOp> {
  static constexpr ExprKind kKind = ExprKind::MmaOp;
  static constexpr const char* kName = "MmaOp";
  static constexpr const char* kDoc =
      "Sum over products: out = sum(a * b) over the reduction axes of out, in the precision of "
      "out.";
  Val* out = nullptr;
  Val* a = nullptr;
  Val* b = nullptr;
  Val* init = nullptr;
  int64_t macro = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "out", &MmaOp::out, "Result; the summed axes are reduction axes of its domain."),
        nvfuser::input("a", &MmaOp::a, "First factor."),
        nvfuser::input("b", &MmaOp::b, "Second factor, of the shape of a."),
        nvfuser::attr("init", &MmaOp::init, "Where the sum starts: 0."),
        nvfuser::attr("macro", &MmaOp::macro, "Encoded instruction of the tensor core; 0: none."),
    };
  }
};

struct MatmulOp final : ExprNode<MatmulOp> {
  static constexpr ExprKind kKind = ExprKind::MatmulOp;
  static constexpr const char* kName = "MatmulOp";
  static constexpr const char* kDoc =
      "[.., M, K] times [.., K, N] is [.., M, N]; operands of one dimension are vectors, leading "
      "dimensions are broadcast together.";
  TensorView* out = nullptr;
  TensorView* a = nullptr;
  TensorView* b = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "out", &MatmulOp::out,
            "Result; its last logical axis is the reduction over K, unless K is a broadcast."),
        nvfuser::input("a", &MatmulOp::a, "[.., M, K] or [K]."),
        nvfuser::input("b", &MatmulOp::b, "[.., K, N] or [K]."),
    };
  }
};

struct LinearOp final : ExprNode<LinearOp> {
  static constexpr ExprKind kKind = ExprKind::LinearOp;
  static constexpr const char* kName = "LinearOp";
  static constexpr const char* kDoc = "a times the transpose of b, plus bias.";
  TensorView* out = nullptr;
  TensorView* a = nullptr;
  TensorView* b = nullptr;
  TensorView* bias = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &LinearOp::out, "[*_w, *_i, N] and the reduction over K."),
        nvfuser::input("a", &LinearOp::a, "[*_i, K]."),
        nvfuser::input("b", &LinearOp::b, "[*_w, N, K]."),
        nvfuser::input("bias", &LinearOp::bias, "[*_w, N], or None."),
    };
  }
};

struct GroupedMmaOp final : ExprNode<GroupedMmaOp> {
  static constexpr ExprKind kKind = ExprKind::GroupedMmaOp;
  static constexpr const char* kName = "GroupedMmaOp";
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
        nvfuser::output("out", &GroupedMmaOp::out, "[g, m, n] or [m, n] and the reduction over K."),
        nvfuser::output(
            "out_block_scale", &GroupedMmaOp::out_block_scale,
            "Scales of the result's blocks, or None."),
        nvfuser::output("out_gamma", &GroupedMmaOp::out_gamma, "Scale of the result, or None."),
        nvfuser::input("mat1", &GroupedMmaOp::mat1, "First factor, 2-D or 3-D."),
        nvfuser::input("mat2", &GroupedMmaOp::mat2, "Second factor, 2-D or 3-D."),
        nvfuser::input("offsets", &GroupedMmaOp::offsets, "[g]: where each group ends."),
        nvfuser::input("scale1", &GroupedMmaOp::scale1, "Block scales of mat1, or None."),
        nvfuser::input("scale2", &GroupedMmaOp::scale2, "Block scales of mat2, or None."),
        nvfuser::input(
            "alpha", &GroupedMmaOp::alpha, "Factor of the product for each group, or None."),
        nvfuser::input("bias", &GroupedMmaOp::bias, "Addend, or None."),
        nvfuser::input(
            "beta", &GroupedMmaOp::beta, "Factor of the addend for each group, or None."),
    };
  }
};

struct ScaledMmaOp final : ExprNode<ScaledMmaOp> {
  static constexpr ExprKind kKind = ExprKind::ScaledMmaOp;
  static constexpr const char* kName = "ScaledMmaOp";
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
        nvfuser::output("out", &ScaledMmaOp::out, "[m, n] and the reduction over K."),
        nvfuser::output(
            "out_block_scale", &ScaledMmaOp::out_block_scale,
            "Scales of the result's blocks, or None."),
        nvfuser::output("out_gamma", &ScaledMmaOp::out_gamma, "Scale of the result, or None."),
        nvfuser::input("mat1", &ScaledMmaOp::mat1, "[m, k]."),
        nvfuser::input("mat2", &ScaledMmaOp::mat2, "[k, n]."),
        nvfuser::input("scale1", &ScaledMmaOp::scale1, "Block scales of mat1."),
        nvfuser::input("scale2", &ScaledMmaOp::scale2, "Block scales of mat2."),
        nvfuser::input("alpha", &ScaledMmaOp::alpha, "Factor of the product, or None."),
        nvfuser::input("bias", &ScaledMmaOp::bias, "Addend, or None."),
        nvfuser::input("beta", &ScaledMmaOp::beta, "Factor of the addend, or None."),
    };
  }
};

struct CutlassNvfp4GroupedMmaOp final : ExprNode<CutlassNvfp4GroupedMmaOp> {
  static constexpr ExprKind kKind = ExprKind::CutlassNvfp4GroupedMmaOp;
  static constexpr const char* kName = "CutlassNvfp4GroupedMmaOp";
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
        nvfuser::output("out", &CutlassNvfp4GroupedMmaOp::out, "[m, n] and the reduction over K."),
        nvfuser::input("mat1", &CutlassNvfp4GroupedMmaOp::mat1, "[m, k], packed pairs."),
        nvfuser::input("mat2", &CutlassNvfp4GroupedMmaOp::mat2, "[g, n, k], packed pairs."),
        nvfuser::input("scale1", &CutlassNvfp4GroupedMmaOp::scale1, "Block scales of mat1."),
        nvfuser::input("scale2", &CutlassNvfp4GroupedMmaOp::scale2, "Block scales of mat2."),
        nvfuser::input("alpha", &CutlassNvfp4GroupedMmaOp::alpha, "[g]: factor of the product."),
        nvfuser::input(
            "problem_sizes", &CutlassNvfp4GroupedMmaOp::problem_sizes,
            "[g, 3]: m, n, k of each group."),
        nvfuser::input(
            "expert_offsets", &CutlassNvfp4GroupedMmaOp::expert_offsets,
            "[g]: first row of each group."),
        nvfuser::input(
            "sf_offsets", &CutlassNvfp4GroupedMmaOp::sf_offsets,
            "[g]: first row of each group's scales."),
    };
  }
};

struct SdpaFwdOp final : ExprNode<SdpaFwdOp> {
  static constexpr ExprKind kKind = ExprKind::SdpaFwdOp;
  static constexpr const char* kName = "SdpaFwdOp";
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
        nvfuser::output("out", &SdpaFwdOp::out, "[N.., H, L, Ev]."),
        nvfuser::output(
            "logsumexp", &SdpaFwdOp::logsumexp,
            "[N.., H, L]: log of the sum of exponentials, Float."),
        nvfuser::output("philox_seed", &SdpaFwdOp::philox_seed, "[2], UInt64."),
        nvfuser::output("philox_offset", &SdpaFwdOp::philox_offset, "UInt64."),
        nvfuser::input("query", &SdpaFwdOp::query, "[N.., H, L, E]."),
        nvfuser::input("key", &SdpaFwdOp::key, "[N.., H, S, E]."),
        nvfuser::input("value", &SdpaFwdOp::value, "[N.., H, S, Ev]."),
        nvfuser::input("dropout_p", &SdpaFwdOp::dropout_p, "Probability that a weight is dropped."),
        nvfuser::input(
            "is_causal", &SdpaFwdOp::is_causal, "Whether row i sees columns up to i only."),
        nvfuser::input("scale", &SdpaFwdOp::scale, "Factor of the products; None: 1 / sqrt(E)."),
        nvfuser::input("bias", &SdpaFwdOp::bias, "Added to the products, or None."),
        nvfuser::input("mask", &SdpaFwdOp::mask, "False where a product has no part, or None."),
    };
  }
};

struct SdpaBwdOp final : ExprNode<SdpaBwdOp> {
  static constexpr ExprKind kKind = ExprKind::SdpaBwdOp;
  static constexpr const char* kName = "SdpaBwdOp";
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
        nvfuser::output("grad_query", &SdpaBwdOp::grad_query, "Shape of query."),
        nvfuser::output("grad_key", &SdpaBwdOp::grad_key, "Shape of key."),
        nvfuser::output("grad_value", &SdpaBwdOp::grad_value, "Shape of value."),
        nvfuser::input("grad_output", &SdpaBwdOp::grad_output, "[N.., H, L, Ev]."),
        nvfuser::input("query", &SdpaBwdOp::query, "[N.., H, L, E]."),
        nvfuser::input("key", &SdpaBwdOp::key, "[N.., H, S, E]."),
        nvfuser::input("value", &SdpaBwdOp::value, "[N.., H, S, Ev]."),
        nvfuser::input("out", &SdpaBwdOp::out, "Of the forward pass."),
        nvfuser::input("logsumexp", &SdpaBwdOp::logsumexp, "Of the forward pass."),
        nvfuser::input("dropout_p", &SdpaBwdOp::dropout_p, "Of the forward pass."),
        nvfuser::input("is_causal", &SdpaBwdOp::is_causal, "Of the forward pass."),
        nvfuser::input("philox_seed", &SdpaBwdOp::philox_seed, "Of the forward pass."),
        nvfuser::input("philox_offset", &SdpaBwdOp::philox_offset, "Of the forward pass."),
        nvfuser::input("scale", &SdpaBwdOp::scale, "Of the forward pass."),
    };
  }
};

} // namespace nvfuser
