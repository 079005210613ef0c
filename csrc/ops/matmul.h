// Products of matrices. They are evaluated: a kernel with tensor cores is a scheduler's work.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// PyTorch's `matmul`: operands of one dimension are vectors, leading dimensions are broadcast
/// together. No promotion.
TensorView* matmul(TensorView* a, TensorView* b);

/// a [*_i, K] times the transpose of b [*_w, N, K], plus bias [*_w, N] (nullptr: none).
TensorView* linear(TensorView* a, TensorView* b, TensorView* bias = nullptr);

/// sum(a * b) over `dims`; a and b have the same shape.
TensorView* fused_multiply_sum(TensorView* a, TensorView* b, const std::vector<int64_t>& dims);

/// The results of scaled products.
struct ScaledResult {
  TensorView* out = nullptr;
  TensorView* block_scale = nullptr; // nullptr: not asked for
  TensorView* gamma = nullptr;
};

/// The operands of a scaled product beside its factors; nullptr: absent.
struct Epilogue {
  TensorView* alpha = nullptr;
  TensorView* bias = nullptr;
  TensorView* beta = nullptr;
  DataType dtype = DataType::BFloat16;
  int64_t block_scale_size = 0; // 0: no scales for the result's blocks
  DataType block_scale_dtype = DataType::BFloat16;
  bool has_gamma = false;
};

/// One product for each group; `offsets` [g] says where each ends. Ranks (2, 2): [g, m, n], the
/// groups divide K; (3, 2): they divide the columns of the result; (2, 3): its rows.
TensorView* grouped_mm(TensorView* mat1, TensorView* mat2, TensorView* offsets);
ScaledResult grouped_mm(
    TensorView* mat1,
    TensorView* mat2,
    TensorView* offsets,
    TensorView* scale1,
    TensorView* scale2,
    const Epilogue& epilogue);

/// A product of quantized factors with a scale for each block.
ScaledResult scaled_mm(
    TensorView* mat1,
    TensorView* mat2,
    TensorView* scale1,
    TensorView* scale2,
    const Epilogue& epilogue);

/// Operands of a grouped product of fp4 factors; all are required.
struct Nvfp4Groups {
  TensorView* mat1 = nullptr;
  TensorView* mat2 = nullptr;
  TensorView* scale1 = nullptr;
  TensorView* scale2 = nullptr;
  TensorView* alpha = nullptr;
  TensorView* problem_sizes = nullptr;
  TensorView* expert_offsets = nullptr;
  TensorView* sf_offsets = nullptr;
};
TensorView* cutlass_nvfp4_grouped_mm(const Nvfp4Groups& groups, DataType dtype);

} // namespace nvfuser::ops
