// Fewer elements than were read.
//
// The functions, their bindings and their names in translated Python derive from one table of
// X(python_name, BinaryOpType, "documentation").
#pragma once

#include "ir/fusion.h"

// clang-format off
#define NVF_FOR_EACH_REDUCTION_FUNCTION(X)                                    \
  X(sum, Add, "Sum of the elements; integers and Bool are added as Int.")     \
  X(prod, Mul, "Product of the elements; integers and Bool multiply as Int.") \
  X(max, Max, "Greatest element; NaN if there is one.")                       \
  X(min, Min, "Smallest element; NaN if there is one.")                       \
  X(fmax, FMax, "Greatest element that is not NaN; NaN if all are.")          \
  X(fmin, FMin, "Smallest element that is not NaN; NaN if all are.")
// clang-format on

namespace nvfuser::ops {

/// Reduce `dims` of `arg` with `op`. Dimensions of size one are removed instead of reduced; an
/// expanded one enters the result as often as it is repeated.
/// `dtype`: what to reduce in, for sums and products only; Null: as the table above says.
TensorView* make_reduction(
    BinaryOpType op,
    TensorView* arg,
    const std::vector<int64_t>& dims,
    bool keepdim = false,
    DataType dtype = DataType::Null);

#define NVF_DECLARE_REDUCTION(name, op, doc)                                   \
  TensorView* name(                                                            \
      TensorView* arg, const std::vector<int64_t>& dims, bool keepdim = false, \
      DataType dtype = DataType::Null);                                        \
  /* Over every dimension. */                                                  \
  TensorView* name(TensorView* arg, DataType dtype = DataType::Null);
NVF_FOR_EACH_REDUCTION_FUNCTION(NVF_DECLARE_REDUCTION)
#undef NVF_DECLARE_REDUCTION

/// The sum that undoes a broadcast to the shape of `arg`: leading dimensions that `shape` lacks are
/// removed, dimensions that have size 1 there keep it. All others have the sizes of `arg`.
TensorView* sum_to(TensorView* arg, const std::vector<Val*>& shape);

/// The nodes of a reduction of `axes` (sorted, unique) without casts: a squeeze of the dimensions
/// of size one, the raw node, and what makes up for elements that an expanded dimension repeats.
/// `init`: the value of an empty reduction.
TensorView* reduce_axes(
    BinaryOpType op, TensorView* arg, const std::vector<int64_t>& axes, bool keepdim, Val* init);

/// The raw node: `dims` (sorted, unique) become reduction axes of the result. `init` is the value
/// of an empty reduction.
TensorView* new_reduction(
    BinaryOpType op, TensorView* arg, const std::vector<int64_t>& dims, Val* init);

/// The value of an empty reduction: x op init == x. That of FMax and FMin is NaN, which they ignore
/// beside a number: of NaN alone the smallest number would make a number.
[[nodiscard]] ScalarValue reduction_identity(BinaryOpType op, DataType dtype);
[[nodiscard]] bool is_reduction_identity(BinaryOpType op, const ScalarValue& value, DataType dtype);

/// How many elements of `arg` are reduced to one by `dims`, a Double.
[[nodiscard]] Val* reduced_count(const TensorView* arg, const std::vector<int64_t>& dims);

/// A new tensor with the axes of `arg`, those of `dims` (sorted, unique) being reductions.
[[nodiscard]] TensorView* new_reduced_tensor(
    TensorView* arg, const std::vector<int64_t>& dims, DataType dtype);

/// Per dimension of a tensor of rank `rank` whether it is one of `dims`.
[[nodiscard]] std::vector<bool> flags_of(const std::vector<int64_t>& dims, int64_t rank);

/// The parts of a reduction of `dims`: dimensions of size one go first, by a squeeze.
struct ReductionPlan {
  std::vector<int64_t> squeezed; // dimensions of the operand
  std::vector<int64_t> reduced;  // dimensions of what the squeeze leaves
  int64_t squeezed_rank = 0;     // rank of what the squeeze leaves
  std::vector<Val*> repeats;     // expanded extents of squeezed dimensions
};
/// `dims` sorted and unique. `squeeze_expanded`: expanded dimensions are squeezed as well.
[[nodiscard]] ReductionPlan plan_reduction(
    const TensorView* arg, const std::vector<int64_t>& dims, bool squeeze_expanded);

} // namespace nvfuser::ops
