#include "ops/define.h"

#include <algorithm>
#include <sstream>

#include "base/errors.h"

namespace nvfuser {
namespace {

std::string list_text(const std::vector<int64_t>& list) {
  std::ostringstream out;
  for (size_t i = 0; i < list.size(); ++i) {
    out << (i == 0 ? "" : ", ") << list[i];
  }
  return out.str();
}

/// Entries counted from 0, checked; empty for row-major order.
std::vector<int64_t> normalized_stride_order(std::vector<int64_t> order, size_t rank) {
  if (order.empty()) {
    return order;
  }
  NVF_USER_CHECK(
      order.size() == rank, "Length of stride_order argument (", order.size(),
      ") must be zero or match that of shape argument (", rank, ")");
  const auto count = static_cast<int64_t>(rank);
  std::vector<bool> seen(rank, false);
  const std::string printed = list_text(order);
  for (int64_t& entry : order) {
    NVF_USER_CHECK(
        entry >= -count, "defineTensor stride_order argument is out of range, expects >= ", -count,
        ", but got: ", entry);
    NVF_USER_CHECK(
        entry < count, "defineTensor stride_order argument is out of range, expects < ", count,
        ", but got: ", entry);
    entry += entry < 0 ? count : 0;
    NVF_USER_CHECK(!seen[entry], "defineTensor got duplicated stride_order entries: ", printed);
    seen[entry] = true;
  }
  if (std::is_sorted(order.rbegin(), order.rend())) {
    order.clear();
  }
  return order;
}

/// fp4 comes in pairs: the dimension that varies fastest has twice the elements. Returns the type
/// of one element.
DataType unpack(
    std::vector<int64_t>& shape, DataType dtype, const std::vector<int64_t>& stride_order) {
  if (dtype != DataType::Float4_e2m1fn_x2) {
    return dtype;
  }
  NVF_USER_CHECK(
      !shape.empty(), "A packed tensor needs a dimension: a single fp4 has half a byte.");
  size_t innermost = shape.size() - 1;
  for (size_t i = 0; i < stride_order.size(); ++i) {
    if (stride_order[i] == 0) {
      innermost = i;
    }
  }
  if (shape[innermost] < 0) {
    throw UserError({
        .headline = {"Invalid extent value. A packed type needs a known size innermost."},
        .node = Part::none(),
        .expected = {"a size >= 0 in dimension ", innermost},
        .found = {"size ", shape[innermost]},
        .fix = {"give the size, or define the tensor by sizes and strides"},
    });
  }
  shape[innermost] *= 2;
  return DataType::Float4_e2m1fn;
}

/// The size of a dimension, symbolic for -1.
Val* new_size(Fusion& fusion, int64_t size) {
  if (size == 1) {
    return fusion.one();
  }
  return size < 0 ? fusion.new_scalar(DataType::Index) : fusion.new_index(size);
}

IterDomain* new_axis(Fusion& fusion, Val* size, std::optional<bool> contiguity) {
  IterDomainSpec spec{.extent = size};
  if (size->is_const_int(1)) {
    spec.iter_type = IterType::Broadcast;
  } else if (!contiguity.has_value()) { // one element in memory, seen `size` times
    spec = {.extent = fusion.one(), .expanded_extent = size, .iter_type = IterType::Broadcast};
  }
  return fusion.new_iter_domain(spec);
}

void check_contiguity(
    const std::vector<int64_t>& shape,
    const Contiguity& contiguity,
    const std::vector<size_t>& entry_of_dim) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1 && contiguity[entry_of_dim[dim]].has_value()) {
      throw UserError({
          .headline = {"The contiguity of a broadcast/reduction dimension must be None. The "
                       "contiguity of a "
                       "non-broadcast/reduction dimension must be true/false."},
          .node = Part::none(),
          .expected = {"None at position ", entry_of_dim[dim], " of contiguity"},
          .found = {*contiguity[entry_of_dim[dim]], " for dimension ", dim, " of size 1"},
          .fix = {"pass None there, or one bool for all dimensions"},
      });
    }
  }
}

/// For functions, Null is a type that is not given; a value has one.
void check_dtype(DataType dtype) {
  NVF_USER_CHECK(dtype != DataType::Null, "An input cannot have the data type ", dtype);
}

void check_shape(const std::vector<int64_t>& shape, bool is_cpu) {
  for (size_t i = 0; i < shape.size(); ++i) {
    NVF_USER_CHECK(
        shape[i] >= -1, "The value ", shape[i], " at index ", i,
        " was neither symbolic(-1), zero_element(0), broadcast(1), or static(>1).");
  }
  NVF_USER_CHECK(!is_cpu || shape.empty(), "CPU non-scalar tensor is not supported!");
}

/// `shape` counts elements, `stride_order` is normalized.
TensorView* make_tensor(
    const std::vector<int64_t>& shape,
    const Contiguity& contiguity,
    DataType dtype,
    bool is_cpu,
    const std::vector<int64_t>& stride_order) {
  check_dtype(dtype);
  check_shape(shape, is_cpu);
  const size_t rank = shape.size();
  NVF_USER_CHECK(
      contiguity.size() == rank, "Length of contiguity argument (", contiguity.size(),
      ") must match that of shape argument (", rank, ")");
  std::vector<size_t> entry_of_dim(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    entry_of_dim[dim] =
        stride_order.empty() ? dim : rank - 1 - static_cast<size_t>(stride_order[dim]);
  }
  check_contiguity(shape, contiguity, entry_of_dim);

  Fusion& fusion = Fusion::active();
  TensorDomainSpec spec;
  spec.contiguity = contiguity;
  std::vector<Val*> sizes; // all before the first axis, so that their numbers follow each other
  for (const int64_t size : shape) {
    sizes.push_back(new_size(fusion, size));
  }
  for (size_t dim = 0; dim < rank; ++dim) {
    spec.logical.push_back(new_axis(fusion, sizes[dim], contiguity[entry_of_dim[dim]]));
  }
  if (!stride_order.empty()) {
    spec.allocation.resize(rank);
    for (size_t dim = 0; dim < rank; ++dim) {
      spec.allocation[entry_of_dim[dim]] = spec.logical[dim];
    }
  }
  TensorView* tensor = fusion.new_tensor(fusion.new_tensor_domain(std::move(spec)), dtype);
  tensor->assign_cpu_scalar(is_cpu);
  return tensor;
}

} // namespace

TensorDescriptor compute_tensor_descriptor(
    const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  NVF_USER_CHECK(
      sizes.size() == strides.size(),
      "compute_tensor_descriptor: Sizes and strides must have the same number of dimensions");
  const size_t rank = sizes.size();
  std::vector<size_t> order; // dimensions, outermost stride first
  for (size_t dim = 0; dim < rank; ++dim) {
    NVF_USER_CHECK(
        strides[dim] >= 0, "negative stride on tensor is not supported: strides[", dim,
        "]=", strides[dim]);
    if (strides[dim] != 0) {
      order.push_back(dim);
    }
  }
  std::stable_sort(
      order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  for (size_t dim = 0; dim < rank; ++dim) {
    if (strides[dim] == 0) { // keeps its place: no stride says where it belongs
      order.insert(order.begin() + static_cast<int64_t>(dim), dim);
    }
  }

  TensorDescriptor descriptor;
  descriptor.contiguity.resize(rank);
  descriptor.stride_order.resize(rank);
  int64_t packed_stride = 1; // of the next dimension, if everything inside it is packed
  for (size_t position = rank; position-- > 0;) {
    const size_t dim = order[position];
    descriptor.stride_order[dim] = static_cast<int64_t>(rank - 1 - position);
    if (sizes[dim] == 1 || strides[dim] == 0) {
      continue;
    }
    descriptor.contiguity[position] = strides[dim] == packed_stride;
    packed_stride = strides[dim] * sizes[dim];
  }
  return descriptor;
}

TensorView* define_tensor(
    const std::vector<int64_t>& shape,
    const Contiguity& contiguity,
    DataType dtype,
    bool is_cpu,
    const std::vector<int64_t>& stride_order) {
  std::vector<int64_t> elements = shape;
  check_shape(shape, is_cpu);
  const auto order = normalized_stride_order(stride_order, shape.size());
  dtype = unpack(elements, dtype, order);
  return make_tensor(elements, contiguity, dtype, is_cpu, order);
}

TensorView* define_tensor(
    const std::vector<int64_t>& shape,
    bool contiguity,
    DataType dtype,
    bool is_cpu,
    const std::vector<int64_t>& stride_order) {
  std::vector<int64_t> elements = shape;
  check_shape(shape, is_cpu);
  const size_t rank = shape.size();
  const auto order = normalized_stride_order(stride_order, rank);
  dtype = unpack(elements, dtype, order);
  Contiguity flags(rank, contiguity);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (elements[dim] == 1) {
      flags[order.empty() ? dim : rank - 1 - static_cast<size_t>(order[dim])] = std::nullopt;
    }
  }
  return make_tensor(elements, flags, dtype, is_cpu, order);
}

TensorView* define_tensor_like(
    const std::vector<int64_t>& sizes,
    const std::vector<int64_t>& strides,
    DataType dtype,
    bool static_sizes,
    bool is_cpu) {
  NVF_USER_CHECK(
      sizes.size() == strides.size(), "The number of sizes does not match the number of strides.",
      sizes.size(), strides.size());
  for (const int64_t size : sizes) {
    NVF_USER_CHECK(
        size >= 0, "Size of ", size, " is not supported in nvFuser. Expected size >= 0.");
  }
  const TensorDescriptor descriptor = compute_tensor_descriptor(sizes, strides);
  std::vector<int64_t> shape = sizes;
  dtype = unpack(shape, dtype, descriptor.stride_order);
  if (!static_sizes) {
    for (int64_t& size : shape) {
      size = size == 1 ? 1 : -1;
    }
  }
  Contiguity contiguity = descriptor.contiguity;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    // A packed dimension of size one has two elements, next to each other.
    if (shape[dim] != 1 && sizes[dim] == 1) {
      contiguity[shape.size() - 1 - static_cast<size_t>(descriptor.stride_order[dim])] = true;
    }
  }
  return make_tensor(
      shape, contiguity, dtype, is_cpu,
      normalized_stride_order(descriptor.stride_order, shape.size()));
}

TensorView* define_symbolic_tensor(
    const std::vector<int64_t>& symbolic_sizes,
    Contiguity contiguous,
    DataType dtype,
    bool is_cpu) {
  for (size_t i = 0; i < symbolic_sizes.size(); ++i) {
    NVF_USER_CHECK(
        symbolic_sizes[i] == -1 || symbolic_sizes[i] == 1, "The value ", symbolic_sizes[i],
        " at index ", i, " was neither broadcast(1) or symbolic(-1).");
    if (symbolic_sizes[i] == 1 && i < contiguous.size()) {
      contiguous[i] = std::nullopt;
    }
  }
  return define_tensor(symbolic_sizes, contiguous, dtype, is_cpu);
}

TensorView* define_symbolic_tensor(int64_t ndims, DataType dtype, bool is_cpu) {
  constexpr int64_t kMaxRank = 64; // far above what any framework has
  NVF_USER_CHECK(
      ndims >= 0 && ndims <= kMaxRank, "Number of dimensions must be in [0, ", kMaxRank,
      "], but got: ", ndims);
  return define_tensor(std::vector<int64_t>(static_cast<size_t>(ndims), -1), false, dtype, is_cpu);
}

Val* define_scalar(DataType dtype) {
  check_dtype(dtype);
  return Fusion::active().new_scalar(dtype);
}

} // namespace nvfuser
