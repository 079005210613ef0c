#include "lower/analysis/kernel_parameters.h"

#include <algorithm>

#include "lower/analysis/bulk_copies.h"

namespace nvfuser {
namespace {

constexpr int64_t kPointerBytes = 8;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The size of an element in registers: fp4 has a byte there.
int64_t scalar_bytes(DataType dtype, DataType index_type) {
  return std::max<int64_t>(1, size_bytes(dtype == DataType::Index ? index_type : dtype));
}

} // namespace

size_t KernelParameter::num_strides() const {
  return TensorDomain::no_reductions(tensor()->maybe_allocation()).size();
}

std::string name_of_random_offset(int64_t stream) {
  return stream == 0 ? "rng_offset" : "rng_offset_" + std::to_string(stream);
}

std::string name_of_tensor_map(const std::string& tensor, int64_t position) {
  return tensor + "_map" + std::to_string(position);
}

std::vector<KernelParameter> kernel_parameters(const Kernel& kernel) {
  using Kind = KernelParameter::Kind;
  std::vector<KernelParameter> list;
  for (const Val* input : kernel.inputs()) {
    const bool is_scalar =
        !input->is_tensor() || static_cast<const TensorView*>(input)->is_cpu_scalar();
    list.push_back({is_scalar ? Kind::Scalar : Kind::Tensor, input, input->dtype()});
  }
  for (const GlobalBuffer& buffer : kernel.launch.buffers) {
    list.push_back({Kind::Tensor, buffer.tensor, buffer.tensor->dtype()});
  }
  int64_t position = 0;
  for (const BoxedTensor& boxed : boxed_tensors(kernel)) {
    list.push_back(
        {.kind = Kind::TensorMap,
         .val = boxed.tensor,
         .dtype = boxed.tensor->dtype(),
         .position = position++});
  }
  if (kernel.launch.random_streams > 0) {
    list.push_back({Kind::RandomSeed, nullptr, DataType::UInt64});
    for (int64_t i = 0; i < kernel.launch.random_streams; ++i) {
      list.push_back({Kind::RandomOffset, nullptr, DataType::UInt64, i});
    }
  }
  return list;
}

int64_t parameter_bytes(const Kernel& kernel) {
  const int64_t index_bytes = size_bytes(kernel.index_type());
  int64_t bytes = 0;
  for (const KernelParameter& parameter : kernel_parameters(kernel)) {
    int64_t size = 0;
    int64_t alignment = kPointerBytes;
    if (parameter.kind == KernelParameter::Kind::Tensor) {
      const auto numbers =
          static_cast<int64_t>(parameter.num_strides()) + parameter.tensor()->rank();
      size = round_up(kPointerBytes + numbers * index_bytes, kPointerBytes);
    } else if (parameter.kind == KernelParameter::Kind::TensorMap) {
      size = KernelParameter::kTensorMapBytes;
      alignment = KernelParameter::kTensorMapAlignment;
    } else if (parameter.kind == KernelParameter::Kind::RandomSeed) {
      size = KernelParameter::kRandomSeedBytes;
    } else {
      size = scalar_bytes(parameter.dtype, kernel.index_type());
      alignment = std::min(size, kPointerBytes); // of the parts of a complex number
    }
    bytes = round_up(bytes, alignment) + size;
  }
  return bytes;
}

} // namespace nvfuser
