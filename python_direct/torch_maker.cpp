#include "torch_maker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "gil.h"

namespace nvfuser::python {
namespace {

constexpr std::array<const char*, 2> kTorchFp4Names = {"float4_e2m1fn_x2", "uint8"};

/// Functions of (sizes, strides, dtype), which allocate on the current device; empty where PyTorch
/// has none.
struct Makers {
  nb::handle cpu;
  nb::handle cuda;

  /// Never destroyed: Python may be gone before. No initialization of C++, during which a thread
  /// that holds the GIL would wait for one that imports: two threads may do it both.
  static const Makers& get() {
    static const Makers* makers = nullptr;
    if (makers == nullptr) {
      makers = new Makers(find());
    }
    return *makers;
  }

 private:
  static Makers find() {
    const nb::object guards = nb::steal(PyImport_ImportModule("torch._C._dynamo.guards"));
    if (!guards.is_valid()) { // an older PyTorch
      PyErr_Clear();
      return {};
    }
    return {
        nb::getattr(guards, "_empty_strided_cpu", nb::object()).release(),
        nb::getattr(guards, "_empty_strided_cuda", nb::object()).release()};
  }
};

nb::object tuple_of(std::span<const int64_t> values) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    PyTuple_SetItem(
        tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i])); // steals it
  }
  return tuple;
}

nb::object make_arguments(
    DataType dtype, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  std::vector<int64_t> row_major;
  if (strides.empty()) {
    row_major.resize(sizes.size());
    row_major_strides(sizes, row_major);
    strides = row_major;
  }
  return nb::make_tuple(tuple_of(sizes), tuple_of(strides), torch_dtype(dtype));
}

/// Arguments of the functions, made once for layouts that come again. Needs the GIL.
class KnownArguments {
 public:
  nb::object get(DataType dtype, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    uint64_t hash = static_cast<uint64_t>(dtype);
    for (const auto& numbers : {sizes, strides}) {
      for (const int64_t number : numbers) {
        hash = std::rotl(hash, 7) ^ static_cast<uint64_t>(number) * 0x9e3779b97f4a7c15;
      }
    }
    Entry& entry = entries_[(hash ^ hash >> 32) % entries_.size()];
    if (!entry.is_for(dtype, sizes, strides)) {
      nb::object arguments = make_arguments(dtype, sizes, strides);
      // Only now: another thread may have had the GIL meanwhile.
      entry.dtype = dtype;
      entry.rank = sizes.size();
      entry.layout.assign(sizes.begin(), sizes.end());
      entry.layout.insert(entry.layout.end(), strides.begin(), strides.end());
      entry.arguments = std::move(arguments);
    }
    return entry.arguments;
  }

 private:
  struct Entry {
    DataType dtype = DataType::Null;
    size_t rank = 0;
    std::vector<int64_t> layout; // sizes, then strides
    nb::object arguments;

    [[nodiscard]] bool is_for(
        DataType other, std::span<const int64_t> sizes, std::span<const int64_t> strides) const {
      const std::span<const int64_t> known = layout;
      return dtype == other && rank == sizes.size() &&
             known.size() == sizes.size() + strides.size() &&
             std::ranges::equal(known.first(sizes.size()), sizes) &&
             std::ranges::equal(known.last(strides.size()), strides);
    }
  };
  static constexpr size_t kEntries = 256;
  std::array<Entry, kEntries> entries_;
};

KnownArguments& known_arguments() {
  static auto& known = *new KnownArguments(); // never destroyed: Python may be gone before
  return known;
}

struct MadeTensor {
  DLManagedTensorVersioned managed{}; // as the exchange table describes it
  nb::object tensor;
};

void delete_made(DLManagedTensorVersioned* managed) {
  const GilAcquire gil;
  delete static_cast<MadeTensor*>(managed->manager_ctx);
}

} // namespace

nb::object torch_dtype(DataType dtype) {
  const nb::module_ torch = nb::module_::import_("torch");
  const char* name = nullptr;
  switch (dtype) {
    case DataType::Double: name = "float64"; break;
    case DataType::Float: name = "float32"; break;
    case DataType::Half: name = "float16"; break;
    case DataType::BFloat16: name = "bfloat16"; break;
    case DataType::Int:
    case DataType::Index: name = "int64"; break;
    case DataType::Int32: name = "int32"; break;
    case DataType::Short: name = "int16"; break;
    case DataType::Char: name = "int8"; break;
    case DataType::Byte: name = "uint8"; break;
    case DataType::UInt16: name = "uint16"; break;
    case DataType::UInt32: name = "uint32"; break;
    case DataType::UInt64: name = "uint64"; break;
    case DataType::Bool: name = "bool"; break;
    case DataType::ComplexFloat: name = "complex64"; break;
    case DataType::ComplexDouble: name = "complex128"; break;
    case DataType::Float8_e4m3fn: name = "float8_e4m3fn"; break;
    case DataType::Float8_e5m2: name = "float8_e5m2"; break;
    case DataType::Float8_e8m0fnu: name = "float8_e8m0fnu"; break;
    default: name = kTorchFp4Names[nb::hasattr(torch, kTorchFp4Names[0]) ? 0 : 1];
  }
  return torch.attr(name);
}

std::optional<DlpackHandle> make_torch_tensor(
    const DLPackExchangeAPI& api,
    DataType dtype,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    Device device) {
  const nb::handle maker = device.is_cpu() ? Makers::get().cpu : Makers::get().cuda;
  if (!maker.is_valid()) {
    return std::nullopt;
  }
  const nb::object arguments = known_arguments().get(dtype, sizes, strides);
  auto made = std::make_unique<MadeTensor>();
  made->tensor = nb::steal(PyObject_Call(maker.ptr(), arguments.ptr(), nullptr));
  DLManagedTensorVersioned& managed = made->managed;
  if (!made->tensor.is_valid() ||
      api.dltensor_from_py_object_no_sync(made->tensor.ptr(), &managed.dl_tensor) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  if (from_dlpack(managed.dl_tensor.device) != device) {
    return std::nullopt;
  }
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.manager_ctx = made.get();
  managed.deleter = delete_made;
  return DlpackHandle(&made.release()->managed);
}

nb::object take_torch_tensor(DlpackHandle& handle) {
  if (handle->deleter != delete_made) {
    return {};
  }
  const std::unique_ptr<MadeTensor> made(static_cast<MadeTensor*>(handle.release()->manager_ctx));
  return std::move(made->tensor);
}

} // namespace nvfuser::python
