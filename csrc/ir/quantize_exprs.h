// Block quantization: numbers of few bits with a scale for each block of the innermost dimension.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct BlockQuantizationOp final : ExprNode<BlockQuantizationOp> {
  static constexpr ExprKind kKind = ExprKind::BlockQuantizationOp;
  static constexpr const char* kName = "BlockQuantizationOp";
  static constexpr const char* kDoc =
      "Quantize blocks of neighbours with a scale each: quantized = arg / scale.";
  TensorView* quantized = nullptr;
  TensorView* block_scales = nullptr;
  TensorView* arg = nullptr;
  TensorView* global_scale = nullptr;
  int64_t block_size = 0;
  bool swizzled = false;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("quantized", &BlockQuantizationOp::quantized, "Shape of arg, fp4 or fp8."),
        nvfuser::output(
            "block_scales", &BlockQuantizationOp::block_scales, "One scale for each block."),
        nvfuser::input("arg", &BlockQuantizationOp::arg, "Operand."),
        nvfuser::input(
            "global_scale", &BlockQuantizationOp::global_scale,
            "Scale of the whole tensor, or None."),
        nvfuser::attr("block_size", &BlockQuantizationOp::block_size, "Elements of a block."),
        nvfuser::attr(
            "swizzled", &BlockQuantizationOp::swizzled,
            "Whether the scales lie in blocks of 128 x 4."),
    };
  }
};

struct GroupedBlockQuantizationOp final : ExprNode<GroupedBlockQuantizationOp> {
  static constexpr ExprKind kKind = ExprKind::GroupedBlockQuantizationOp;
  static constexpr const char* kName = "GroupedBlockQuantizationOp";
  static constexpr const char* kDoc =
      "BlockQuantizationOp for groups of rows; the scales of each group lie padded and swizzled in "
      "blocks of 128 x 4.";
  TensorView* quantized = nullptr;
  TensorView* block_scales = nullptr;
  TensorView* arg = nullptr;
  TensorView* input_offsets = nullptr;
  TensorView* output_offsets = nullptr;
  Val* k = nullptr;
  Val* num_groups = nullptr;
  TensorView* global_scale = nullptr;
  int64_t block_size = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "quantized", &GroupedBlockQuantizationOp::quantized, "Shape of arg, fp4 or fp8."),
        nvfuser::output(
            "block_scales", &GroupedBlockQuantizationOp::block_scales, "One scale for each block."),
        nvfuser::input("arg", &GroupedBlockQuantizationOp::arg, "[rows, columns]."),
        nvfuser::input(
            "input_offsets", &GroupedBlockQuantizationOp::input_offsets,
            "[g]: first row of each group."),
        nvfuser::input(
            "output_offsets", &GroupedBlockQuantizationOp::output_offsets,
            "[g]: first row of each group's scales."),
        nvfuser::input("k", &GroupedBlockQuantizationOp::k, "Columns of scales."),
        nvfuser::input("num_groups", &GroupedBlockQuantizationOp::num_groups, "g."),
        nvfuser::input(
            "global_scale", &GroupedBlockQuantizationOp::global_scale,
            "Scale of the whole tensor, or None."),
        nvfuser::attr(
            "block_size", &GroupedBlockQuantizationOp::block_size, "Elements of a block."),
    };
  }
};

struct PreprocessGroupedMatmulInputSf final : ExprNode<PreprocessGroupedMatmulInputSf> {
  static constexpr ExprKind kKind = ExprKind::PreprocessGroupedMatmulInputSf;
  static constexpr const char* kName = "PreprocessGroupedMatmulInputSf";
  static constexpr const char* kDoc = "Scales of groups, padded and swizzled in blocks of 128 x 4.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* input_offsets = nullptr;
  TensorView* output_offsets = nullptr;
  Val* k = nullptr;
  Val* num_groups = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &PreprocessGroupedMatmulInputSf::out, "Result."),
        nvfuser::input("arg", &PreprocessGroupedMatmulInputSf::arg, "[rows, columns]."),
        nvfuser::input(
            "input_offsets", &PreprocessGroupedMatmulInputSf::input_offsets,
            "[g]: first row of each group."),
        nvfuser::input(
            "output_offsets", &PreprocessGroupedMatmulInputSf::output_offsets,
            "[g]: first row of each group in the result."),
        nvfuser::input("k", &PreprocessGroupedMatmulInputSf::k, "Columns of scales."),
        nvfuser::input("num_groups", &PreprocessGroupedMatmulInputSf::num_groups, "g."),
    };
  }
};

} // namespace nvfuser
