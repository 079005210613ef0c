// A tensor in global memory, as the host passes it.
//
// provides: Tensor
// requires: types
#pragma once

/// Elements in memory, by their index. Types that are stored otherwise specialize it.
template <typename T>
struct TensorMemory {
  T* data;

  NVF_FUNCTION T& operator[](nvfuser_index_t index) const {
    return data[index];
  }
};

/// `kRank` sizes of the logical domain and `kStrides` strides (elements) of the allocation domain,
/// both without reductions. An array without elements is left out.
template <typename T, int kRank, int kStrides>
struct Tensor : TensorMemory<T> {
  nvfuser_index_t logical_size[kRank];
  nvfuser_index_t alloc_stride[kStrides];
};

template <typename T, int kStrides>
struct Tensor<T, 0, kStrides> : TensorMemory<T> {
  nvfuser_index_t alloc_stride[kStrides];
};

template <typename T, int kRank>
struct Tensor<T, kRank, 0> : TensorMemory<T> {
  nvfuser_index_t logical_size[kRank];
};

template <typename T>
struct Tensor<T, 0, 0> : TensorMemory<T> {};
