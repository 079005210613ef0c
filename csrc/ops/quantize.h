// Block quantization: numbers of few bits with a scale for each block of the innermost dimension.
//
//   dtype           block   scales
//   Float4_e2m1fn   16      Float8_e4m3fn    (NVFP4)
//   Float8_e4m3fn   32      Float8_e8m0fnu   (OCP Microscaling Formats 1.0, MXFP8)
//
// "Swizzled" scales lie in tiles of 128 rows and 4 columns, as tensor cores read them: the scale of
// row r and column c of a tile is element (r % 32) * 16 + (r / 32) * 4 + c.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

struct Quantized {
  TensorView* quantized = nullptr;    // shape of the operand
  TensorView* block_scales = nullptr; // the innermost extent over the block size
};

/// `global_scale`: a Float of no dimensions that scales are multiplied with; nullptr: none.
Quantized nv_block_quantize(
    TensorView* input,
    TensorView* global_scale,
    bool swizzle_block_scales,
    int64_t block_size,
    DataType dtype);

/// The same for groups of rows. `input_offsets` [g]: first row of each group; `output_offsets` [g]:
/// first row of its scales, each group padded to 128 rows. Scales are swizzled.
Quantized nv_grouped_block_quantize(
    TensorView* input,
    TensorView* input_offsets,
    TensorView* output_offsets,
    TensorView* global_scale,
    int64_t block_size,
    DataType dtype);

/// Scales of groups, [rows, columns], in the layout that grouped products read.
TensorView* preprocess_grouped_matmul_input_sf(
    TensorView* input, TensorView* input_offsets, TensorView* output_offsets);

} // namespace nvfuser::ops
