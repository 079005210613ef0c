#include "runtime/dlpack_tensor.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.h"

namespace nvfuser {
namespace {

struct TypePair {
  DataType dtype;
  DLDataTypeCode code;
  uint8_t bits;
  uint16_t lanes;
};

/// Every element type that both sides have. Index is an Int outside of the core.
constexpr TypePair kTypePairs[] = {
    {DataType::Float, kDLFloat, 32, 1},
    {DataType::BFloat16, kDLBfloat, 16, 1},
    {DataType::Half, kDLFloat, 16, 1},
    {DataType::Double, kDLFloat, 64, 1},
    {DataType::Int, kDLInt, 64, 1},
    {DataType::Int32, kDLInt, 32, 1},
    {DataType::Bool, kDLBool, 8, 1},
    {DataType::Char, kDLInt, 8, 1},
    {DataType::Short, kDLInt, 16, 1},
    {DataType::Byte, kDLUInt, 8, 1},
    {DataType::UInt16, kDLUInt, 16, 1},
    {DataType::UInt32, kDLUInt, 32, 1},
    {DataType::UInt64, kDLUInt, 64, 1},
    {DataType::ComplexFloat, kDLComplex, 64, 1},
    {DataType::ComplexDouble, kDLComplex, 128, 1},
    {DataType::Float8_e4m3fn, kDLFloat8_e4m3fn, 8, 1},
    {DataType::Float8_e5m2, kDLFloat8_e5m2, 8, 1},
    {DataType::Float8_e8m0fnu, kDLFloat8_e8m0fnu, 8, 1},
    {DataType::Float4_e2m1fn, kDLFloat4_e2m1fn, 4, 1},
    {DataType::Float4_e2m1fn_x2, kDLFloat4_e2m1fn, 4, 2},
    {DataType::Index, kDLInt, 64, 1},
};

/// A tensor that views the storage of another one, which it owns.
struct RestridedTensor {
  DLManagedTensorVersioned managed{};
  DlpackHandle base;
  std::vector<int64_t> layout; // sizes, then strides
};

void delete_restrided(DLManagedTensorVersioned* managed) {
  delete static_cast<RestridedTensor*>(managed->manager_ctx);
}

} // namespace

int64_t TensorArg::num_elements() const {
  int64_t count = 1;
  for (const int64_t size : sizes()) {
    count *= size;
  }
  return count;
}

bool TensorArg::is_empty() const {
  return std::find(size_data, size_data + rank, 0) != size_data + rank;
}

std::string TensorArg::str() const {
  std::string out = text(dtype);
  const char* separator = "[";
  for (const int64_t size : sizes()) {
    out += separator + std::to_string(size);
    separator = ", ";
  }
  return out + (rank == 0 ? "[]" : "]") + " on " + device.str();
}

DlpackHandle OutputAllocator::allocate_strided(
    DataType dtype,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    int64_t elements,
    Device device) {
  const int64_t storage[] = {elements};
  return restride(allocate(dtype, storage, device), sizes, strides);
}

DlpackHandle OutputAllocator::allocate_workspace(int64_t bytes, Device device) {
  const int64_t sizes[] = {bytes};
  return allocate(DataType::Byte, sizes, device);
}

std::optional<DataType> from_dlpack(DLDataType type) {
  for (const TypePair& pair : kTypePairs) {
    if (pair.code == type.code && pair.bits == type.bits && pair.lanes == type.lanes) {
      return pair.dtype;
    }
  }
  return std::nullopt;
}

DLDataType to_dlpack(DataType type) {
  for (const TypePair& pair : kTypePairs) {
    if (pair.dtype == type) {
      return {static_cast<uint8_t>(pair.code), pair.bits, pair.lanes};
    }
  }
  throw UserError(Part("There are no tensors of dtype ", text(type), " outside of a kernel."));
}

Device from_dlpack(DLDevice device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost: // pinned memory is ordinary memory to a CPU kernel
      return Device::cpu();
    case kDLCUDA:
    case kDLCUDAManaged: return Device::cuda(device.device_id);
    default: return {DeviceKind::Other, device.device_id};
  }
}

DLDevice to_dlpack(Device device) {
  return {device.is_cuda() ? kDLCUDA : kDLCPU, device.index};
}

TensorArg view_of(const DLTensor& tensor) {
  const std::optional<DataType> dtype = from_dlpack(tensor.dtype);
  if (!dtype) {
    throw UserError({
        .headline = {"Tensors of this element type are not supported."},
        .node = Part::none(),
        .expected = {"a dtype of DataType"},
        .found =
            {"DLPack type code ", int{tensor.dtype.code}, ", ", int{tensor.dtype.bits}, " bits, ",
             tensor.dtype.lanes, " lanes"},
        .fix = {"convert the tensor to a supported dtype first"},
    });
  }
  NVF_INVARIANT(tensor.ndim == 0 || tensor.strides != nullptr, "strides were filled in");
  return {
      .data = static_cast<char*>(tensor.data) + tensor.byte_offset,
      .size_data = tensor.shape,
      .stride_data = tensor.strides,
      .rank = tensor.ndim,
      .dtype = *dtype,
      .device = from_dlpack(tensor.device),
      .is_read_only = false, // what a tensor alone does not tell
  };
}

void row_major_strides(std::span<const int64_t> sizes, std::span<int64_t> strides) {
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
}

int64_t storage_elements(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return 0;
    }
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

int64_t storage_bytes(DataType dtype, int64_t elements) {
  return (size_bits(dtype) * elements + 7) / 8;
}

DlpackHandle restride(
    DlpackHandle base, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  auto view = std::make_unique<RestridedTensor>();
  view->layout.assign(sizes.begin(), sizes.end());
  view->layout.insert(view->layout.end(), strides.begin(), strides.end());
  DLManagedTensorVersioned& managed = view->managed;
  managed.version = base->version;
  managed.flags = base->flags;
  managed.dl_tensor = base->dl_tensor;
  managed.dl_tensor.ndim = static_cast<int32_t>(sizes.size());
  managed.dl_tensor.shape = view->layout.data();
  managed.dl_tensor.strides = view->layout.data() + sizes.size();
  managed.manager_ctx = view.get();
  managed.deleter = delete_restrided;
  view->base = std::move(base);
  return DlpackHandle(&view.release()->managed);
}

} // namespace nvfuser
