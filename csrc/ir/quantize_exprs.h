// Block quantization: numbers of few bits with a scale for each block of the innermost dimension.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct BlockQuantizationOpFields {
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
        output("quantized", &BlockQuantizationOpFields::quantized, "Shape of arg, fp4 or fp8."),
        output(
            "block_scales", &BlockQuantizationOpFields::block_scales, "One scale for each block."),
        input("arg", &BlockQuantizationOpFields::arg, "Operand."),
        input(
            "global_scale", &BlockQuantizationOpFields::global_scale,
            "Scale of the whole tensor, or None.")
            .or_none(),
        attr("block_size", &BlockQuantizationOpFields::block_size, "Elements of a block."),
        attr(
            "swizzled", &BlockQuantizationOpFields::swizzled,
            "Whether the scales lie in blocks of 128 x 4."),
    };
  }
};
struct BlockQuantizationOp final : ExprNode<BlockQuantizationOp, BlockQuantizationOpFields> {};

struct GroupedBlockQuantizationOpFields {
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
        output(
            "quantized", &GroupedBlockQuantizationOpFields::quantized, "Shape of arg, fp4 or fp8."),
        output(
            "block_scales", &GroupedBlockQuantizationOpFields::block_scales,
            "One scale for each block."),
        input("arg", &GroupedBlockQuantizationOpFields::arg, "[rows, columns]."),
        input(
            "input_offsets", &GroupedBlockQuantizationOpFields::input_offsets,
            "[g]: first row of each group."),
        input(
            "output_offsets", &GroupedBlockQuantizationOpFields::output_offsets,
            "[g]: first row of each group's scales."),
        input("k", &GroupedBlockQuantizationOpFields::k, "Columns of scales."),
        input("num_groups", &GroupedBlockQuantizationOpFields::num_groups, "g."),
        input(
            "global_scale", &GroupedBlockQuantizationOpFields::global_scale,
            "Scale of the whole tensor, or None.")
            .or_none(),
        attr("block_size", &GroupedBlockQuantizationOpFields::block_size, "Elements of a block."),
    };
  }
};
struct GroupedBlockQuantizationOp final
    : ExprNode<GroupedBlockQuantizationOp, GroupedBlockQuantizationOpFields> {};

struct PreprocessGroupedMatmulInputSfFields {
  static constexpr const char* kDoc = "Scales of groups, padded and swizzled in blocks of 128 x 4.";
  TensorView* out = nullptr;
  TensorView* arg = nullptr;
  TensorView* input_offsets = nullptr;
  TensorView* output_offsets = nullptr;
  Val* k = nullptr;
  Val* num_groups = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &PreprocessGroupedMatmulInputSfFields::out, "Result."),
        input("arg", &PreprocessGroupedMatmulInputSfFields::arg, "[rows, columns]."),
        input(
            "input_offsets", &PreprocessGroupedMatmulInputSfFields::input_offsets,
            "[g]: first row of each group."),
        input(
            "output_offsets", &PreprocessGroupedMatmulInputSfFields::output_offsets,
            "[g]: first row of each group in the result."),
        input("k", &PreprocessGroupedMatmulInputSfFields::k, "Columns of scales."),
        input("num_groups", &PreprocessGroupedMatmulInputSfFields::num_groups, "g."),
    };
  }
};
struct PreprocessGroupedMatmulInputSf final
    : ExprNode<PreprocessGroupedMatmulInputSf, PreprocessGroupedMatmulInputSfFields> {};

} // namespace nvfuser
