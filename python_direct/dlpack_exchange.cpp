#include "dlpack_exchange.h"

#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <unordered_map>

#include "base/errors.h"

namespace nvfuser::python {
namespace {

/// The exchange table of a tensor type; nullptr if it has none. Needs the GIL.
const DLPackExchangeAPI* find_exchange_api(PyTypeObject* type) {
  // Holds its keys, so that their addresses stay theirs. Never destroyed: Python may be gone before
  // it.
  static auto& known = *new std::unordered_map<PyTypeObject*, const DLPackExchangeAPI*>;
  if (const auto found = known.find(type); found != known.end()) {
    return found->second;
  }
  const DLPackExchangeAPI* api = nullptr;
  const nb::object capsule = nb::steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"));
  if (capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") != 0) {
    const auto* header = static_cast<const DLPackExchangeAPIHeader*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (header != nullptr && header->version.major != DLPACK_MAJOR_VERSION) {
      header = header->prev_api;
    }
    api = reinterpret_cast<const DLPackExchangeAPI*>(header);
  }
  PyErr_Clear();
  Py_INCREF(type);
  known.emplace(type, api);
  return api;
}

nb::object torch_module() {
  try {
    return nb::module_::import_("torch");
  } catch (nb::python_error&) {
    throw UserError({
        .headline = {"PyTorch, whose tensors hold the results, cannot be imported."},
        .node = Part::none(),
        .expected = {"the package torch"},
        .found = Part::none(),
        .fix = {"pip install torch"},
    });
  }
}

/// The exchange table of PyTorch; nullptr for versions without. Needs the GIL.
const DLPackExchangeAPI* torch_exchange_api() {
  static const DLPackExchangeAPI* const api = find_exchange_api(
      reinterpret_cast<PyTypeObject*>(nb::object(torch_module().attr("Tensor")).ptr()));
  return api;
}

[[noreturn]] void throw_unsupported(nb::handle item) {
  throw UserError({
      .headline = {"Cannot convert provided py::handle to a PolymorphicValue."},
      .node = Part::none(),
      .expected =
          {"a tensor (torch.Tensor, or anything with __dlpack__), bool, int, float or complex"},
      .found = {nb::type_name(item.type()).c_str()},
      .fix = Part::none(),
  });
}

/// Wraps a tensor of the first DLPack version, which had no version field.
struct LegacyTensor {
  DLManagedTensorVersioned managed{};
  DLManagedTensor* legacy = nullptr;
};

void delete_legacy(DLManagedTensorVersioned* managed) {
  auto* wrapper = static_cast<LegacyTensor*>(managed->manager_ctx);
  if (wrapper->legacy->deleter != nullptr) {
    wrapper->legacy->deleter(wrapper->legacy);
  }
  delete wrapper;
}

/// Take the tensor out of what `__dlpack__` returned.
DlpackHandle take_capsule(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    return DlpackHandle(managed);
  }
  auto* legacy = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (legacy == nullptr) {
    throw nb::python_error();
  }
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  auto* wrapper = new LegacyTensor();
  wrapper->legacy = legacy;
  wrapper->managed.dl_tensor = legacy->dl_tensor;
  wrapper->managed.manager_ctx = wrapper;
  wrapper->managed.deleter = delete_legacy;
  return DlpackHandle(&wrapper->managed);
}

/// `item.__dlpack__(...)` with what this producer understands.
nb::object call_dlpack(nb::handle item) {
  nb::dict stream;
  const nb::tuple device = nb::cast<nb::tuple>(item.attr("__dlpack_device__")());
  if (nb::cast<int>(device[0]) == kDLCUDA) {
    PythonAllocator allocator;
    void* current = allocator.current_stream(Device::cuda(nb::cast<int32_t>(device[1])));
    // 1 names the default stream of the whole device.
    stream["stream"] = current == nullptr ? 1 : reinterpret_cast<intptr_t>(current);
  }
  try {
    return item.attr("__dlpack__")(
        **stream,
        nb::arg("max_version") = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) {
      throw;
    }
    return item.attr("__dlpack__")(**stream); // older than versions
  }
}

/// A deleter that may be called without the GIL, for tensors whose own deleter needs it.
struct GuardedTensor {
  DLManagedTensorVersioned managed{};
  DlpackHandle inner;
};

void delete_guarded(DLManagedTensorVersioned* managed) {
  const nb::gil_scoped_acquire gil;
  delete static_cast<GuardedTensor*>(managed->manager_ctx);
}

DlpackHandle guard_deleter(DlpackHandle inner) {
  auto* guarded = new GuardedTensor();
  guarded->managed = *inner;
  guarded->managed.manager_ctx = guarded;
  guarded->managed.deleter = delete_guarded;
  guarded->inner = std::move(inner);
  return DlpackHandle(&guarded->managed);
}

constexpr std::array<const char*, 2> kTorchFp4Names = {"float4_e2m1fn_x2", "uint8"};

/// torch.float32 and the like.
nb::object torch_dtype(const nb::object& torch, DataType dtype) {
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

DlpackHandle allocate_through_python(
    DataType dtype, std::span<const int64_t> sizes, Device device) {
  const nb::gil_scoped_acquire gil;
  const nb::object torch = torch_module();
  nb::list shape;
  for (const int64_t size : sizes) {
    shape.append(size);
  }
  const nb::object tensor = torch.attr("empty")(
      shape, nb::arg("dtype") = torch_dtype(torch, dtype), nb::arg("device") = device.str());
  return guard_deleter(take_capsule(tensor.attr("__dlpack__")()));
}

/// Collects the text of a failure in an exchange function.
void collect_error(void* context, const char* kind, const char* message) {
  *static_cast<std::string*>(context) = std::string(kind) + ": " + message;
}

} // namespace

PythonArguments::PythonArguments(nb::handle inputs) {
  for (const nb::handle item : nb::iter(inputs)) {
    if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
      for (const nb::handle inner : nb::iter(item)) {
        add(inner);
      }
    } else {
      add(item);
    }
  }
}

void PythonArguments::add(nb::handle item) {
  objects_.push_back(nb::borrow(item));
  if (!add_tensor(item) && !add_number(item)) {
    throw_unsupported(item);
  }
}

bool PythonArguments::add_number(nb::handle item) {
  PyObject* object = item.ptr();
  ScalarValue value;
  if (PyBool_Check(object)) {
    value = object == Py_True;
  } else if (PyLong_Check(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    NVF_USER_CHECK(overflow == 0, "An integer argument does not fit into 64 bits.");
    value = static_cast<int64_t>(number);
  } else if (PyFloat_Check(object)) {
    value = PyFloat_AS_DOUBLE(object);
  } else if (PyComplex_Check(object)) {
    value = std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
  } else {
    return false;
  }
  args_.emplace_back(value);
  return true;
}

bool PythonArguments::add_tensor(nb::handle item) {
  const DLPackExchangeAPI* api = find_exchange_api(Py_TYPE(item.ptr()));
  if (api != nullptr && api->dltensor_from_py_object_no_sync != nullptr) {
    DLTensor tensor{};
    if (api->dltensor_from_py_object_no_sync(item.ptr(), &tensor) != 0) {
      throw nb::python_error();
    }
    add_view(tensor);
    return true;
  }
  if (!nb::hasattr(item, "__dlpack__")) {
    return false;
  }
  add_capsule_tensor(item);
  return true;
}

void PythonArguments::add_capsule_tensor(nb::handle item) {
  owned_.push_back(take_capsule(call_dlpack(item)));
  add_view(owned_.back()->dl_tensor);
}

void PythonArguments::add_view(DLTensor tensor) {
  if (tensor.strides == nullptr && tensor.ndim > 0) {
    const auto rank = static_cast<size_t>(tensor.ndim);
    std::vector<int64_t>& strides = strides_.emplace_back(rank);
    row_major_strides({tensor.shape, rank}, strides);
    tensor.strides = strides.data();
  }
  args_.emplace_back(view_of(tensor));
}

PythonAllocator::PythonAllocator() : api_(torch_exchange_api()) {}

DlpackHandle PythonAllocator::allocate(
    DataType dtype, std::span<const int64_t> sizes, Device device) {
  if (api_ == nullptr) {
    return allocate_through_python(dtype, sizes, device);
  }
  DLTensor prototype{};
  prototype.device = to_dlpack(device);
  prototype.dtype = to_dlpack(dtype);
  prototype.ndim = static_cast<int32_t>(sizes.size());
  prototype.shape = const_cast<int64_t*>(sizes.data());
  DLManagedTensorVersioned* result = nullptr;
  std::string error;
  if (api_->managed_tensor_allocator(&prototype, &result, &error, collect_error) != 0) {
    throw UserError(Part("Cannot allocate an output. ", error));
  }
  return DlpackHandle(result);
}

void* PythonAllocator::current_stream(Device device) {
  if (!device.is_cuda()) {
    return nullptr;
  }
  if (api_ != nullptr) {
    void* stream = nullptr;
    NVF_USER_CHECK(
        api_->current_work_stream(kDLCUDA, device.index, &stream) == 0,
        "PyTorch does not tell its current stream on ", device.str());
    return stream;
  }
  const nb::gil_scoped_acquire gil;
  const nb::object stream =
      torch_module().attr("cuda").attr("current_stream")(device.index).attr("cuda_stream");
  return reinterpret_cast<void*>(nb::cast<intptr_t>(stream));
}

nb::object PythonAllocator::to_python(DlpackHandle handle) const {
  if (api_ != nullptr) {
    void* object = nullptr;
    if (api_->managed_tensor_to_py_object_no_sync(handle.release(), &object) != 0) {
      throw nb::python_error();
    }
    return nb::steal(static_cast<PyObject*>(object));
  }
  // An older PyTorch takes tensors of the first DLPack version.
  auto* legacy = new DLManagedTensor();
  legacy->dl_tensor = handle->dl_tensor;
  legacy->manager_ctx = handle.release();
  legacy->deleter = [](DLManagedTensor* self) {
    DlpackDeleter()(static_cast<DLManagedTensorVersioned*>(self->manager_ctx));
    delete self;
  };
  const nb::object capsule = nb::steal(PyCapsule_New(legacy, "dltensor", nullptr));
  return torch_module().attr("utils").attr("dlpack").attr("from_dlpack")(capsule);
}

nb::list to_python(
    std::vector<RunOutput> outputs, const PythonArguments& args, const PythonAllocator& allocator) {
  std::vector<nb::object> results(outputs.size());
  nb::list list;
  for (size_t i = 0; i < outputs.size(); ++i) {
    RunOutput& output = outputs[i];
    if (output.input != RunOutput::kNone) {
      results[i] = args.object(static_cast<size_t>(output.input));
    } else if (output.same_as != RunOutput::kNone) {
      results[i] = results[static_cast<size_t>(output.same_as)];
    } else {
      results[i] = allocator.to_python(std::move(output.tensor));
    }
    list.append(results[i]);
  }
  return list;
}

} // namespace nvfuser::python
