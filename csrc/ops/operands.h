// The steps that every operation takes with its operands: check them, bring tensors to one rank,
// make the result's domain from theirs.
#pragma once

#include <vector>

#include "ir/fusion.h"
#include "ir/node_check.h"

namespace nvfuser::ops {

/// The fusion that new nodes go to. Every operand must be there and belong to it.
Fusion& fusion_for(const std::vector<Val*>& operands);

/// A Double constant.
[[nodiscard]] Val* number(double value);

/// Refuse a complex operand of an operation that needs an order, or is defined on real numbers
/// only.
void check_not_complex(const char* op, const Val* operand);

/// The axes of a tensor that its readers see: logical, without reductions.
[[nodiscard]] IterDomains shape_axes(const TensorView* tv);

/// The spec of an axis of the same size and kind, for a tensor made from the tensor of `axis`.
[[nodiscard]] IterDomainSpec copied_spec(const IterDomain* axis);
/// A new axis of that kind.
/// `as_rfactor`: the axis will be read by a root-to-logical transform; an expanded one is then an
/// ordinary axis of its expanded size.
[[nodiscard]] IterDomain* copy_axis(const IterDomain* axis, bool as_rfactor = false);
[[nodiscard]] IterDomains copy_axes(const IterDomains& axes);
/// A new axis of size one.
[[nodiscard]] IterDomain* new_broadcast_axis();

/// A new tensor of these axes, contiguous.
[[nodiscard]] TensorView* new_tensor(const IterDomains& logical, DataType dtype);
/// The same with a root or an allocation domain. The contiguity of `spec` is not read.
[[nodiscard]] TensorView* new_tensor(TensorDomainSpec spec, DataType dtype);
/// A new tensor with the axes of `tv`.
[[nodiscard]] TensorView* new_tensor_like(const TensorView* tv, DataType dtype);

/// Tensors of lower rank than the highest get leading broadcast dimensions. Scalars are unchanged.
[[nodiscard]] std::vector<Val*> broadcast_together(const std::vector<Val*>& operands);

/// The result of an element-wise operation on operands of one rank: a scalar if all are scalars.
[[nodiscard]] Val* new_result(const std::vector<Val*>& operands, DataType dtype);

/// The axis of the result where operands have `axes`: the one that is no broadcast, its size
/// agreed.
[[nodiscard]] IterDomain* result_axis(const IterDomains& axes);
/// A copy of `axis` that is summed over, for the end of a product's logical domain.
[[nodiscard]] IterDomain* reduction_axis(const IterDomain* axis);

/// A copy of `axis` with one element for each block of `block_size`, which divides it.
[[nodiscard]] IterDomain* block_axis(const IterDomain* axis, int64_t block_size);

/// The constant one of two sizes that must agree, else `a`. nullptr stands for nothing known. An
/// error names `node`, whose size `b` is.
[[nodiscard]] Val* agreed_extent(Val* a, Val* b, const Statement* node = nullptr);

/// A dimension of `tv`, counted from the start; an error if it is out of range.
[[nodiscard]] int64_t wrap_dim(const TensorView* tv, int64_t dim);
/// Dimensions of `tv` wrapped, sorted, without repeats; an error if one is out of range.
[[nodiscard]] std::vector<int64_t> unique_dims(
    const TensorView* tv, const std::vector<int64_t>& dims);

} // namespace nvfuser::ops
