// Tensors and scalars that come from outside: what a fusion's inputs are made with. Nothing here
// registers an input.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace nvfuser {

/// How a tensor lies in memory, from its sizes and strides.
struct TensorDescriptor {
  Contiguity contiguity;             // in allocation order
  std::vector<int64_t> stride_order; // per dimension: rank of its stride, 0 varies fastest
};

/// Strides count elements and are not negative.
[[nodiscard]] TensorDescriptor compute_tensor_descriptor(
    const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);

/// A tensor of the active fusion.
///   shape         -1: symbolic, 1: broadcast, n: constant
///   contiguity    one entry per dimension, in allocation order; empty entries are broadcasts, and
///                 expanded ones where the size is not 1
///   stride_order  rank of every dimension's stride, 0 varies fastest; empty: row-major
[[nodiscard]] TensorView* define_tensor(
    const std::vector<int64_t>& shape,
    const Contiguity& contiguity,
    DataType dtype = DataType::Float,
    bool is_cpu = false,
    const std::vector<int64_t>& stride_order = {});

/// The same flag for every dimension that has a stride.
[[nodiscard]] TensorView* define_tensor(
    const std::vector<int64_t>& shape,
    bool contiguity,
    DataType dtype = DataType::Float,
    bool is_cpu = false,
    const std::vector<int64_t>& stride_order = {});

/// From real sizes and strides; sizes become symbolic unless `static_sizes`, 1 stays a broadcast.
[[nodiscard]] TensorView* define_tensor_like(
    const std::vector<int64_t>& sizes,
    const std::vector<int64_t>& strides,
    DataType dtype = DataType::Float,
    bool static_sizes = false,
    bool is_cpu = false);

/// The form of older programs: sizes are -1 or 1, and a flag given for a size of 1 is ignored.
[[nodiscard]] TensorView* define_symbolic_tensor(
    const std::vector<int64_t>& symbolic_sizes,
    Contiguity contiguous,
    DataType dtype = DataType::Float,
    bool is_cpu = false);

/// `ndims` symbolic dimensions of any stride.
[[nodiscard]] TensorView* define_symbolic_tensor(
    int64_t ndims, DataType dtype = DataType::Float, bool is_cpu = false);

/// A symbolic scalar of the active fusion.
[[nodiscard]] Val* define_scalar(DataType dtype = DataType::Double);

} // namespace nvfuser
