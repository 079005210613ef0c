#include "ops/matmul.h"

#include <algorithm>

#include "ir/matmul_exprs.h"
#include "ops/operands.h"
#include "ops/reduce.h"

namespace nvfuser::ops {

namespace {

IterDomain* last(const IterDomains& axes, size_t from_end = 1) {
  return axes.at(axes.size() - from_end);
}

/// The axes of the result: `shape`, and the reduction over K unless K has one element.
TensorView* new_product(IterDomains shape, const IterDomain* k, DataType dtype) {
  if (!k->is_broadcast()) {
    shape.push_back(reduction_axis(k));
  }
  return new_tensor(shape, dtype);
}

/// Leading dimensions of a and b, broadcast together from the right.
IterDomains batch_axes(const IterDomains& a, const IterDomains& b) {
  const size_t num_a = a.size() < 2 ? 0 : a.size() - 2;
  const size_t num_b = b.size() < 2 ? 0 : b.size() - 2;
  const size_t rank = std::max(num_a, num_b);
  IterDomains batch;
  for (size_t i = 0; i < rank; ++i) {
    IterDomains together;
    if (i + num_a >= rank) {
      together.push_back(a[i + num_a - rank]);
    }
    if (i + num_b >= rank) {
      together.push_back(b[i + num_b - rank]);
    }
    batch.push_back(result_axis(together));
  }
  return batch;
}

void check_same_dtype(const char* what, const TensorView* a, const TensorView* b) {
  NVF_NODE_CHECK(
      a->dtype() == b->dtype(), b, "Expected ", what, " to have the same dtype, got: ", a->dtype(),
      " and ", b->dtype());
}

/// Tensor cores multiply one kind of fp8 by the other one.
void check_factors(const TensorView* a, const TensorView* b) {
  const auto is_fp8 = [](DataType type) {
    return type == DataType::Float8_e4m3fn || type == DataType::Float8_e5m2;
  };
  if (!is_fp8(a->dtype()) || !is_fp8(b->dtype())) {
    check_same_dtype("A and B dtypes", a, b);
  }
}

void check_k(const char* both, const IterDomain* k_a, const IterDomain* k_b) {
  NVF_NODE_CHECK(
      k_a->is_broadcast() == k_b->is_broadcast(), k_b, "K should be broadcast in both ", both,
      ", or neither.");
  static_cast<void>(agreed_extent(k_a->maybe_expanded_extent(), k_b->maybe_expanded_extent(), k_b));
}

/// Shape of a product of matrices of ranks 1 or more.
struct ProductShape {
  IterDomains axes;
  IterDomain* k = nullptr;
};

ProductShape product_shape(const IterDomains& a, const IterDomains& b) {
  IterDomain* k_a = last(a);
  IterDomain* k_b = last(b, b.size() == 1 ? 1 : 2);
  check_k("A and B", k_a, k_b);
  ProductShape shape{batch_axes(a, b), k_a};
  if (a.size() > 1) {
    shape.axes.push_back(copy_axis(last(a, 2)));
  }
  if (b.size() > 1) {
    shape.axes.push_back(copy_axis(last(b)));
  }
  return shape;
}

/// Results beside the product that an epilogue asks for.
ScaledResult new_scaled_result(const ProductShape& shape, const Epilogue& epilogue) {
  ScaledResult result;
  result.out = new_product(shape.axes, shape.k, epilogue.dtype);
  if (epilogue.block_scale_size > 0) {
    IterDomains blocks = copy_axes(shape.axes);
    blocks.back() = block_axis(blocks.back(), epilogue.block_scale_size);
    result.block_scale = new_tensor(blocks, epilogue.block_scale_dtype);
  }
  if (epilogue.has_gamma) {
    NVF_USER_CHECK(
        epilogue.block_scale_size > 0,
        "output_block_scale_size must be greater than 0 when output_gamma is true");
    result.gamma = new_tensor(IterDomains{}, DataType::Float);
  }
  return result;
}

/// Shape of the result, [g, m, n] or [m, n], without K.
ProductShape grouped_shape(TensorView* mat1, TensorView* mat2, TensorView* offsets) {
  const IterDomains a = shape_axes(mat1);
  const IterDomains b = shape_axes(mat2);
  const IterDomains groups = shape_axes(offsets);
  NVF_NODE_CHECK(
      groups.size() == 1, offsets, "offsets needs to be 1-D for grouped mm, but it has ",
      groups.size(), " dimensions");
  const bool are_matrices = a.size() == 2 && b.size() == 2;
  const bool has_one_stack = (a.size() == 3 && b.size() == 2) || (a.size() == 2 && b.size() == 3);
  NVF_NODE_CHECK(
      are_matrices || has_one_stack, mat2,
      "Unexpected operand ranks. If two 3D tensors, you should use bmm/matmul instead of "
      "grouped_mm. Got ranks ",
      a.size(), " and ", b.size());
  ProductShape shape;
  shape.k = last(a);
  if (are_matrices) {
    shape.axes.push_back(copy_axis(groups.front()));
  }
  shape.axes.push_back(copy_axis(last(a, 2)));
  shape.axes.push_back(copy_axis(last(b)));
  return shape;
}

void check_scale_rank(
    const char* name, const TensorView* scale, const TensorView* mat, const ProductShape& out) {
  const int64_t rank = std::max(mat->rank(), static_cast<int64_t>(out.axes.size()));
  NVF_NODE_CHECK(
      scale->rank() == rank, scale, name, " must have the rank of its matrix or of the result, ",
      rank, ", but has ", scale->rank());
}

} // namespace

TensorView* matmul(TensorView* a, TensorView* b) {
  Fusion& fusion = fusion_for({a, b});
  NVF_NODE_CHECK(
      a->rank() > 0 && b->rank() > 0, b, "Expected inputs to be atleast 1D, got: ", a->rank(),
      " and ", b->rank());
  check_same_dtype("A and B dtypes", a, b);
  const ProductShape shape = product_shape(shape_axes(a), shape_axes(b));
  TensorView* out = new_product(shape.axes, shape.k, a->dtype());
  fusion.make<MatmulOp>({.out = out, .a = a, .b = b});
  return out;
}

TensorView* linear(TensorView* a, TensorView* b, TensorView* bias) {
  Fusion& fusion = fusion_for({a, b});
  NVF_NODE_CHECK(a->rank() > 0, a, "Input A must be at least 1D.");
  NVF_NODE_CHECK(
      b->rank() >= 2, b,
      "Input B must be at least 2D. The last two dimensions represent out features and in "
      "features; those before them are for devices.");
  check_same_dtype("input and weight dtypes", a, b);
  const IterDomains in = shape_axes(a);
  const IterDomains weight = shape_axes(b);
  check_k("inputs and weights", last(in), last(weight));
  if (bias != nullptr) {
    fusion_for({bias});
    NVF_NODE_CHECK(
        bias->rank() > 0, bias,
        "Input bias must be at least 1D. The last dimension represents out features.");
    NVF_NODE_CHECK(
        bias->dtype() == a->dtype(), bias,
        "Expected bias to have the same dtype as A and B, got: ", bias->dtype(), " and ",
        a->dtype());
    static_cast<void>(
        agreed_extent(last(weight, 2)->extent(), last(shape_axes(bias))->extent(), bias));
  }
  IterDomains axes;
  for (size_t i = 0; i + 2 < weight.size(); ++i) {
    axes.push_back(copy_axis(weight[i]));
  }
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    axes.push_back(copy_axis(in[i]));
  }
  axes.push_back(copy_axis(last(weight, 2)));
  TensorView* out = new_product(axes, last(in), a->dtype());
  fusion.make<LinearOp>({.out = out, .a = a, .b = b, .bias = bias});
  return out;
}

TensorView* fused_multiply_sum(TensorView* a, TensorView* b, const std::vector<int64_t>& dims) {
  Fusion& fusion = fusion_for({a, b});
  NVF_NODE_CHECK(
      a->rank() == b->rank(), b, "Expected operands of one rank, got: ", a->rank(), " and ",
      b->rank());
  check_factors(a, b);
  NVF_NODE_CHECK(!dims.empty(), a, "No reduction axis specified");
  const std::vector<int64_t> reduced = unique_dims(a, dims);
  const IterDomains a_axes = shape_axes(a);
  const IterDomains b_axes = shape_axes(b);
  IterDomains axes;
  for (size_t i = 0; i < a_axes.size(); ++i) {
    IterDomain* axis = result_axis({a_axes[i], b_axes[i]});
    const bool is_reduced =
        std::binary_search(reduced.begin(), reduced.end(), static_cast<int64_t>(i));
    NVF_NODE_CHECK(
        !is_reduced || !axis->is_broadcast(), a,
        "Cannot reduce an axis that is marked as broadcasted as it has an undetermined size. ",
        "Axis ", i);
    axes.push_back(is_reduced ? reduction_axis(axis) : axis);
  }
  const DataType dtype = is_low_precision(a->dtype())   ? DataType::Float
                         : a->dtype() == DataType::Char ? DataType::Int32
                                                        : a->dtype();
  TensorView* out = new_tensor(axes, dtype);
  fusion.make<MmaOp>(
      {.out = out,
       .a = a,
       .b = b,
       .init = fusion.new_constant(int64_t{0}, dtype),
       .macro = int64_t{0}});
  return out;
}

TensorView* grouped_mm(TensorView* mat1, TensorView* mat2, TensorView* offsets) {
  Fusion& fusion = fusion_for({mat1, mat2, offsets});
  const ProductShape shape = grouped_shape(mat1, mat2, offsets);
  TensorView* out = new_product(shape.axes, shape.k, mat1->dtype());
  TensorView* none = nullptr;
  fusion.make<GroupedMmaOp>(
      {.out = out,
       .out_block_scale = none,
       .out_gamma = none,
       .mat1 = mat1,
       .mat2 = mat2,
       .offsets = offsets,
       .scale1 = none,
       .scale2 = none,
       .alpha = none,
       .bias = none,
       .beta = none});
  return out;
}

ScaledResult grouped_mm(
    TensorView* mat1,
    TensorView* mat2,
    TensorView* offsets,
    TensorView* scale1,
    TensorView* scale2,
    const Epilogue& epilogue) {
  Fusion& fusion = fusion_for({mat1, mat2, offsets});
  const ProductShape shape = grouped_shape(mat1, mat2, offsets);
  NVF_USER_CHECK(
      (scale1 == nullptr) == (scale2 == nullptr),
      "scale1 and scale2 must be given together or not at all");
  if (scale1 != nullptr) {
    fusion_for({scale1, scale2});
    check_scale_rank("scale1", scale1, mat1, shape);
    check_scale_rank("scale2", scale2, mat2, shape);
  }
  NVF_USER_CHECK(
      (epilogue.bias == nullptr) == (epilogue.beta == nullptr),
      "bias and beta must be given together or not at all");
  const ScaledResult result = new_scaled_result(shape, epilogue);
  fusion.make<GroupedMmaOp>(
      {.out = result.out,
       .out_block_scale = result.block_scale,
       .out_gamma = result.gamma,
       .mat1 = mat1,
       .mat2 = mat2,
       .offsets = offsets,
       .scale1 = scale1,
       .scale2 = scale2,
       .alpha = epilogue.alpha,
       .bias = epilogue.bias,
       .beta = epilogue.beta});
  return result;
}

ScaledResult scaled_mm(
    TensorView* mat1,
    TensorView* mat2,
    TensorView* scale1,
    TensorView* scale2,
    const Epilogue& epilogue) {
  Fusion& fusion = fusion_for({mat1, mat2, scale1, scale2});
  NVF_USER_CHECK(
      epilogue.beta == nullptr || epilogue.bias != nullptr,
      "beta argument requires bias to be present.");
  NVF_USER_CHECK(epilogue.block_scale_size == 0, "output_block_scale is not yet supported");
  NVF_USER_CHECK(!epilogue.has_gamma, "output_gamma is not yet supported");
  NVF_NODE_CHECK(
      mat1->rank() > 0 && mat2->rank() > 0, mat2,
      "Expected inputs to be atleast 1D, got: ", mat1->rank(), " and ", mat2->rank());
  const ProductShape shape = product_shape(shape_axes(mat1), shape_axes(mat2));
  const ScaledResult result = new_scaled_result(shape, epilogue);
  fusion.make<ScaledMmaOp>(
      {.out = result.out,
       .out_block_scale = result.block_scale,
       .out_gamma = result.gamma,
       .mat1 = mat1,
       .mat2 = mat2,
       .scale1 = scale1,
       .scale2 = scale2,
       .alpha = epilogue.alpha,
       .bias = epilogue.bias,
       .beta = epilogue.beta});
  return result;
}

TensorView* cutlass_nvfp4_grouped_mm(const Nvfp4Groups& groups, DataType dtype) {
  const struct {
    const char* name;
    TensorView* tensor;
    int64_t rank;
  } operands[] = {
      {"mat1", groups.mat1, 2},
      {"mat2", groups.mat2, 3},
      {"scale1", groups.scale1, 2},
      {"scale2", groups.scale2, 3},
      {"alpha", groups.alpha, 1},
      {"problem_sizes", groups.problem_sizes, 2},
      {"expert_offsets", groups.expert_offsets, 1},
      {"sf_offsets", groups.sf_offsets, 1},
  };
  for (const auto& operand : operands) {
    NVF_USER_CHECK(operand.tensor != nullptr, operand.name, " cannot be null");
    fusion_for({operand.tensor});
    NVF_NODE_CHECK(
        operand.tensor->rank() == operand.rank, operand.tensor, operand.name, " must have rank ",
        operand.rank, ", but has ", operand.tensor->rank());
  }
  Fusion& fusion = Fusion::active();
  const IterDomains a = shape_axes(groups.mat1);
  const IterDomains b = shape_axes(groups.mat2);
  TensorView* out = new_product({copy_axis(a[0]), copy_axis(b[2])}, a[1], dtype);
  fusion.make<CutlassNvfp4GroupedMmaOp>(
      {.out = out,
       .mat1 = groups.mat1,
       .mat2 = groups.mat2,
       .scale1 = groups.scale1,
       .scale2 = groups.scale2,
       .alpha = groups.alpha,
       .problem_sizes = groups.problem_sizes,
       .expert_offsets = groups.expert_offsets,
       .sf_offsets = groups.sf_offsets});
  return out;
}

} // namespace nvfuser::ops
