// A tensor in global memory, as the host passes it.
//
// provides: Tensor
// requires: types
#pragma once

/// `kRank` sizes of the logical domain and `kStrides` strides (elements) of the allocation domain,
/// both without reductions. An array without elements is left out.
template <typename T, int kRank, int kStrides>
struct Tensor {
  T* data;
  nvfuser_index_t logical_size[kRank];
  nvfuser_index_t alloc_stride[kStrides];

  NVF_FUNCTION T& operator[](nvfuser_index_t index) const {
    return data[index];
  }
};

template <typename T, int kStrides>
struct Tensor<T, 0, kStrides> {
  T* data;
  nvfuser_index_t alloc_stride[kStrides];

  NVF_FUNCTION T& operator[](nvfuser_index_t index) const {
    return data[index];
  }
};

template <typename T, int kRank>
struct Tensor<T, kRank, 0> {
  T* data;
  nvfuser_index_t logical_size[kRank];

  NVF_FUNCTION T& operator[](nvfuser_index_t index) const {
    return data[index];
  }
};

template <typename T>
struct Tensor<T, 0, 0> {
  T* data;

  NVF_FUNCTION T& operator[](nvfuser_index_t index) const {
    return data[index];
  }
};
