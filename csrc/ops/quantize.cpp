#include "ops/quantize.h"

#include "ir/quantize_exprs.h"
#include "ir/scalar.h"
#include "ops/operands.h"

namespace nvfuser::ops {

namespace {

constexpr int64_t kTileRows = 128;
constexpr int64_t kTileColumns = 4;

DataType checked_scale_dtype(DataType dtype, int64_t block_size) {
  NVF_USER_CHECK(
      dtype == DataType::Float4_e2m1fn || dtype == DataType::Float8_e4m3fn,
      "Currently only output data type of Float4_e2m1fn or Float8_e4m3fn is supported, but got ",
      dtype);
  const bool is_fp4 = dtype == DataType::Float4_e2m1fn;
  NVF_USER_CHECK(
      block_size == (is_fp4 ? 16 : 32), "Block size must be ",
      is_fp4 ? "16 for Float4_e2m1fn" : "32 for Float8_e4m3fn", ", got ", block_size);
  return is_fp4 ? DataType::Float8_e4m3fn : DataType::Float8_e8m0fnu;
}

void check_input(const TensorView* input, const TensorView* global_scale, DataType dtype) {
  const DataType type = input->dtype();
  NVF_NODE_CHECK(
      type == DataType::Float || type == DataType::BFloat16 || type == DataType::Half, input,
      "Block quantization expects floating point input but got ", type);
  NVF_NODE_CHECK(
      input->rank() > 0, input, "Block quantization does not support zero-dimensional tensors");
  if (global_scale != nullptr) {
    Fusion::active().check_contains(global_scale);
    NVF_NODE_CHECK(
        dtype == DataType::Float4_e2m1fn, global_scale,
        "global_scale must be absent for Float8_e4m3fn: its scales are powers of two");
    NVF_NODE_CHECK(
        global_scale->rank() == 0 && global_scale->dtype() == DataType::Float, global_scale,
        "global_scale must be a Float of no dimensions");
  }
}

void check_offsets(const char* name, const TensorView* offsets) {
  NVF_NODE_CHECK(
      offsets->rank() == 1 && is_integral(offsets->dtype()), offsets, name,
      " must be integers of one dimension, one for each group");
}

IterDomains scale_axes(const TensorView* input, int64_t block_size) {
  IterDomains axes;
  const IterDomains shape = shape_axes(input);
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back(i + 1 == shape.size() ? block_axis(shape[i], block_size) : copy_axis(shape[i]));
  }
  return axes;
}

Val* rounded_up(Val* extent, int64_t multiple) {
  Val* unit = Fusion::active().new_index(multiple);
  return scalar::mul(scalar::ceil_div(extent, unit), unit);
}

/// A tensor of `logical` axes whose storage has whole tiles: `extra_rows` more rows, all rounded
/// up.
TensorView* new_tiled(const IterDomains& logical, Val* extra_rows, DataType dtype) {
  Fusion& fusion = Fusion::active();
  TensorDomainSpec spec;
  spec.logical = logical;
  spec.allocation = logical;
  if (logical.size() >= 2) {
    Val* rows = logical[logical.size() - 2]->extent();
    Val* columns = logical.back()->extent();
    Val* all_rows =
        extra_rows == nullptr ? rounded_up(rows, kTileRows) : scalar::add(rows, extra_rows);
    spec.allocation[logical.size() - 2] = fusion.new_iter_domain({.extent = all_rows});
    spec.allocation.back() = fusion.new_iter_domain({.extent = rounded_up(columns, kTileColumns)});
  }
  return new_tensor(std::move(spec), dtype);
}

/// Rows that g groups may add when each is padded to whole tiles.
Val* padding_rows(Val* num_groups) {
  return scalar::mul(num_groups, Fusion::active().new_index(kTileRows - 1));
}

} // namespace

Quantized nv_block_quantize(
    TensorView* input,
    TensorView* global_scale,
    bool swizzle_block_scales,
    int64_t block_size,
    DataType dtype) {
  Fusion& fusion = fusion_for({input});
  const DataType scale_dtype = checked_scale_dtype(dtype, block_size);
  check_input(input, global_scale, dtype);
  NVF_USER_CHECK(
      !swizzle_block_scales || dtype == DataType::Float4_e2m1fn,
      "swizzle_block_scales must be False for Float8_e4m3fn");
  const IterDomains axes = scale_axes(input, block_size);
  const Quantized result{
      .quantized = new_tensor_like(input, dtype),
      .block_scales = swizzle_block_scales ? new_tiled(axes, nullptr, scale_dtype)
                                           : new_tensor(axes, scale_dtype),
  };
  fusion.make<BlockQuantizationOp>(
      {.quantized = result.quantized,
       .block_scales = result.block_scales,
       .arg = input,
       .global_scale = global_scale,
       .block_size = block_size,
       .swizzled = swizzle_block_scales});
  return result;
}

Quantized nv_grouped_block_quantize(
    TensorView* input,
    TensorView* input_offsets,
    TensorView* output_offsets,
    TensorView* global_scale,
    int64_t block_size,
    DataType dtype) {
  Fusion& fusion = fusion_for({input, input_offsets, output_offsets});
  const DataType scale_dtype = checked_scale_dtype(dtype, block_size);
  check_input(input, global_scale, dtype);
  NVF_NODE_CHECK(input->rank() == 2, input, "Grouped block quantization expects a matrix");
  check_offsets("input_offsets", input_offsets);
  check_offsets("output_offsets", output_offsets);
  const IterDomains axes = scale_axes(input, block_size);
  Val* num_groups = shape_axes(input_offsets).front()->extent();
  const Quantized result{
      .quantized = new_tensor_like(input, dtype),
      .block_scales = new_tiled(axes, padding_rows(num_groups), scale_dtype),
  };
  fusion.make<GroupedBlockQuantizationOp>(
      {.quantized = result.quantized,
       .block_scales = result.block_scales,
       .arg = input,
       .input_offsets = input_offsets,
       .output_offsets = output_offsets,
       .k = axes.back()->extent(),
       .num_groups = num_groups,
       .global_scale = global_scale,
       .block_size = block_size});
  return result;
}

TensorView* preprocess_grouped_matmul_input_sf(
    TensorView* input, TensorView* input_offsets, TensorView* output_offsets) {
  Fusion& fusion = fusion_for({input, input_offsets, output_offsets});
  NVF_NODE_CHECK(input->rank() == 2, input, "Scales of groups are a matrix, [rows, columns]");
  check_offsets("input_offsets", input_offsets);
  check_offsets("output_offsets", output_offsets);
  const IterDomains axes = copy_axes(shape_axes(input));
  Val* num_groups = shape_axes(input_offsets).front()->extent();
  TensorView* out = new_tiled(axes, padding_rows(num_groups), input->dtype());
  fusion.make<PreprocessGroupedMatmulInputSf>(
      {.out = out,
       .arg = input,
       .input_offsets = input_offsets,
       .output_offsets = output_offsets,
       .k = axes.back()->extent(),
       .num_groups = num_groups});
  return out;
}

} // namespace nvfuser::ops
