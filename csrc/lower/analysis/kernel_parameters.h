// Values that the host passes to a kernel, in the order of the kernel's parameters.
#pragma once

#include <string>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

struct KernelParameter {
  enum class Kind : uint8_t {
    Tensor,      // pointer, sizes and strides
    Scalar,      // a scalar input, or the element of a tensor on the host
    TensorMap,   // of a tensor, for bulk copies
    RandomSeed,  // of the run, as the keys of all rounds
    RandomOffset // of a random tensor in the run, 64 bits
  };
  /// runtime/common/philox.h: PhiloxKeys.
  static constexpr int64_t kRandomSeedBytes = 80;
  /// runtime/cuda/bulk_copy.cuh: TensorMap.
  static constexpr int64_t kTensorMapBytes = 128;
  static constexpr int64_t kTensorMapAlignment = 64;
  Kind kind = Kind::Tensor;
  const Val* val = nullptr; // of a tensor or scalar
  DataType dtype = DataType::Float;
  int64_t stream = 0;   // of RandomOffset: the place of its random tensor in the fusion
  int64_t position = 0; // of TensorMap: among the boxed tensors of the kernel

  [[nodiscard]] const TensorView* tensor() const {
    return static_cast<const TensorView*>(val);
  }
  /// Strides that a tensor is passed with; sizes are as many as it has dimensions.
  [[nodiscard]] size_t num_strides() const;
};

/// The type of a tensor map in kernels, and its name there: "T0_map1".
inline constexpr const char* kTensorMapType = "TensorMap";
[[nodiscard]] std::string name_of_tensor_map(const std::string& tensor, int64_t position);

/// "rng_offset", "rng_offset_1"
[[nodiscard]] std::string name_of_random_offset(int64_t stream);

/// Inputs, then outputs and workspaces, then tensor maps, then the state of the random numbers.
[[nodiscard]] std::vector<KernelParameter> kernel_parameters(const Kernel& kernel);

/// Bytes of all parameters of a CUDA kernel, each aligned as C++ does.
[[nodiscard]] int64_t parameter_bytes(const Kernel& kernel);

} // namespace nvfuser
