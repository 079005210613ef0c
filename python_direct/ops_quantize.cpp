// Block quantization.
#include "op_binding.h"
#include "ops/quantize.h"

namespace nvfuser::python {

void bind_quantize_ops(OpModule& m) {
  m.def(
      "nv_block_quantize",
      [](TensorView* input, TensorView* global_scale, bool swizzle_block_scales, int64_t block_size,
         DataType dtype) {
        const ops::Quantized r =
            ops::nv_block_quantize(input, global_scale, swizzle_block_scales, block_size, dtype);
        return std::pair{r.quantized, r.block_scales};
      },
      "input"_a, "global_scale"_a = nb::none(), "swizzle_block_scales"_a = false,
      "block_size"_a = 16, "dtype"_a = DataType::Float4_e2m1fn,
      R"(Quantize blocks of the innermost dimension with a scale each.

NVFP4: Float4_e2m1fn in blocks of 16 with Float8_e4m3fn scales. MXFP8 (OCP Microscaling Formats 1.0):
Float8_e4m3fn in blocks of 32 with Float8_e8m0fnu scales.

Parameters
----------
input : TensorView
    Float, Half or BFloat16; at least one dimension, the innermost a multiple of block_size.
global_scale : TensorView, optional
    Float of no dimensions; for Float4_e2m1fn only. Block scales are multiplied with it.
swizzle_block_scales : bool
    Whether scales lie in tiles of 128 x 4; for Float4_e2m1fn only.
block_size : int
    16 for Float4_e2m1fn, 32 for Float8_e4m3fn.
dtype : DataType
    Float4_e2m1fn or Float8_e4m3fn.

Returns
-------
quantized, block_scales : TensorView
    The shape of input; the innermost extent divided by block_size.
)");
  m.def(
      "nv_grouped_block_quantize",
      [](TensorView* input, TensorView* input_offsets, TensorView* output_offsets,
         TensorView* global_scale, int64_t block_size, DataType dtype) {
        const ops::Quantized r = ops::nv_grouped_block_quantize(
            input, input_offsets, output_offsets, global_scale, block_size, dtype);
        return std::pair{r.quantized, r.block_scales};
      },
      "input"_a, "input_offsets"_a, "output_offsets"_a, "global_scale"_a = nb::none(),
      "block_size"_a = 16, "dtype"_a = DataType::Float4_e2m1fn,
      R"(As `nv_block_quantize` for groups of rows; the scales of each group lie padded to 128 rows and
in tiles of 128 x 4.

Parameters
----------
input : TensorView
    [rows, columns].
input_offsets, output_offsets : TensorView
    [g], integers: first row of each group in `input`, and of its scales.
global_scale, block_size, dtype
    As there.

Returns
-------
quantized, block_scales : TensorView
)");
  m.def(
      "preprocess_grouped_matmul_input_sf", &ops::preprocess_grouped_matmul_input_sf, "input"_a,
      "input_offsets"_a, "output_offsets"_a,
      R"(Scales of groups of rows in the layout that grouped products read: padded to 128 rows, in tiles
of 128 x 4.

Parameters
----------
input : TensorView
    [rows, columns].
input_offsets, output_offsets : TensorView
    [g], integers: first row of each group in `input` and in the result.

Returns
-------
TensorView
    The shape of input; its storage has 127 more rows for each group and columns rounded up to 4.
)");
}

} // namespace nvfuser::python
