// Tensors from outside, seen through DLPack. The core knows no framework: its caller reads
// its tensors into TensorArgs and brings an OutputAllocator that makes new ones.
#pragma once

#include <dlpack.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "base/device.h"
#include "base/types.h"

namespace nvfuser {

/// A tensor that the caller owns: valid as long as its owner keeps it, at least for one call.
struct TensorArg {
  void* data = nullptr;
  const int64_t* size_data = nullptr;   // [rank]
  const int64_t* stride_data = nullptr; // [rank], elements
  int32_t rank = 0;
  DataType dtype = DataType::Float;
  Device device;
  bool is_read_only = false;

  [[nodiscard]] std::span<const int64_t> sizes() const {
    return {size_data, static_cast<size_t>(rank)};
  }
  [[nodiscard]] std::span<const int64_t> strides() const {
    return {stride_data, static_cast<size_t>(rank)};
  }
  /// Elements a user counts: the product of the sizes.
  [[nodiscard]] int64_t num_elements() const;
  /// Is there none?
  [[nodiscard]] bool is_empty() const;
  /// "float[4, 8] on cuda:0"
  [[nodiscard]] std::string str() const;
};

/// A number that the caller passes.
struct ScalarArg {
  ScalarValue value;
  /// Whether it is an integer above the range of int64: `value` holds the bits of a UInt64.
  bool is_large_unsigned = false;
};

/// One input of a run.
using Argument = std::variant<ScalarArg, TensorArg>;

struct DlpackDeleter {
  void operator()(DLManagedTensorVersioned* tensor) const {
    if (tensor->deleter != nullptr) {
      tensor->deleter(tensor);
    }
  }
};
/// A tensor this process part owns. Its deleter needs no lock of the caller's language.
using DlpackHandle = std::unique_ptr<DLManagedTensorVersioned, DlpackDeleter>;

/// Makes tensors in the caller's framework.
///
/// A run begins with the lock of the caller's language, if it has one, and lets go of it (`unlock`)
/// before it compiles, launches, or waits for another thread. Functions that need the lock take it
/// again, and keep it until the next `unlock`.
class OutputAllocator {
 public:
  virtual ~OutputAllocator() = default;
  /// An uninitialised row-major tensor, at least 16-byte aligned.
  [[nodiscard]] virtual DlpackHandle allocate(
      DataType dtype, std::span<const int64_t> sizes, Device device) = 0;
  /// The same with other strides, in memory of so many elements.
  [[nodiscard]] virtual DlpackHandle allocate_strided(
      DataType dtype,
      std::span<const int64_t> sizes,
      std::span<const int64_t> strides,
      int64_t elements,
      Device device);
  /// Memory for the run itself, which takes no lock of the caller's language where it can do
  /// without.
  [[nodiscard]] virtual DlpackHandle allocate_workspace(int64_t bytes, Device device);
  /// The stream the caller's framework works on; nullptr is the default stream.
  [[nodiscard]] virtual void* current_stream(Device device) = 0;
  /// Let go of the lock of the caller's language, so that its other threads can run.
  virtual void unlock() {}
};

/// The type of DLPack's element type; empty if there is none.
[[nodiscard]] std::optional<DataType> from_dlpack(DLDataType type);
[[nodiscard]] DLDataType to_dlpack(DataType type);
[[nodiscard]] Device from_dlpack(DLDevice device);
[[nodiscard]] DLDevice to_dlpack(Device device);

/// A view of `tensor`. Throws UserError for element types and devices without a counterpart.
/// Requires: strides are given, unless the rank is 0 (see row_major_strides).
[[nodiscard]] TensorArg view_of(const DLTensor& tensor);

/// Strides of a compact row-major tensor.
void row_major_strides(std::span<const int64_t> sizes, std::span<int64_t> strides);
/// Elements of the smallest storage that has all elements: 1 + sum of (size - 1) * stride, 0 if any
/// size is 0. Strides are not negative.
[[nodiscard]] int64_t storage_elements(
    std::span<const int64_t> sizes, std::span<const int64_t> strides);
/// Bytes of that many elements; a last one of less than a byte counts whole.
[[nodiscard]] int64_t storage_bytes(DataType dtype, int64_t elements);

/// The storage of `base` seen with other sizes and strides. `base` lives as long as the result.
[[nodiscard]] DlpackHandle restride(
    DlpackHandle base, std::span<const int64_t> sizes, std::span<const int64_t> strides);

} // namespace nvfuser
