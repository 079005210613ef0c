#include "dlpack_exchange.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "base/errors.h"
#include "evaluator.h"
#include "python_number.h"
#include "runtime/host_memory.h"
#include "torch_maker.h"
#include "torch_tensor.h"

namespace nvfuser::python {
namespace {

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
  static const DLPackExchangeAPI* const api =
      tensor_class(reinterpret_cast<PyTypeObject*>(nb::object(torch_module().attr("Tensor")).ptr()))
          .api;
  return api;
}

/// The advice for an object that is no input.
const char* replacement_of(nb::handle item) {
  if (item.is_none()) {
    return "pass a tensor or a number for every input, in the order of Fusion.inputs()";
  }
  if (nb::isinstance<Val>(item)) {
    return "pass the data of the run; a value of the definition only says where it goes";
  }
  if (PyDict_Check(item.ptr()) || PyUnicode_Check(item.ptr())) {
    return "inputs have no names: pass tensors and numbers in the order of Fusion.inputs()";
  }
  return "pass torch.as_tensor(x), or float(x) or int(x) for a scalar input";
}

[[noreturn]] void throw_unsupported(nb::handle item) {
  if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
    throw UserError(
        {.headline =
             {"Cannot convert provided py::handle to a PolymorphicValue. Expected tensors, numbers "
              "and lists of these as inputs, but got ",
              nb::repr(item).c_str()},
         .node = Part::none(),
         .expected = "one level of lists at most",
         .found = "a list in a list",
         .fix = "pass its items one by one"},
        ErrorKind::Type);
  }
  throw UserError({
      .headline = {"Cannot convert provided py::handle to a PolymorphicValue."},
      .node = Part::none(),
      .expected =
          {"a tensor (torch.Tensor, or anything with __dlpack__), bool, int, float or complex"},
      .found = {nb::type_name(item.type()).c_str()},
      .fix = {replacement_of(item)},
  });
}

} // namespace

void check_is_list_of_inputs(nb::handle inputs) {
  if (PyList_Check(inputs.ptr()) || PyTuple_Check(inputs.ptr())) {
    return;
  }
  const bool is_single = nb::hasattr(inputs, "__dlpack__") || PyDict_Check(inputs.ptr()) ||
                         PyUnicode_Check(inputs.ptr()) || !nb::hasattr(inputs, "__iter__");
  if (is_single) {
    throw UserError(
        {
            .headline = {"Inputs are passed as a list"},
            .node = Part::none(),
            .expected = {"a list with a tensor or a number for every input of the fusion"},
            .found = {nb::type_name(inputs.type()).c_str()},
            .fix = {"pass [x], also where there is one input"},
        },
        ErrorKind::Type);
  }
}

namespace {

/// `item.__dlpack__(...)` with what this producer understands; it waits for `allocator`'s stream.
nb::object call_dlpack(nb::handle item, PythonAllocator& allocator) {
  nb::dict stream;
  const nb::object place = item.attr("__dlpack_device__")();
  std::pair<int, int32_t> kind_and_index;
  NVF_USER_CHECK(
      nb::try_cast(place, kind_and_index),
      "`__dlpack_device__` has to return the kind of a device and its index, but returned ",
      nb::repr(place).c_str());
  const Device device =
      from_dlpack(DLDevice{static_cast<DLDeviceType>(kind_and_index.first), kind_and_index.second});
  if (device.is_cuda()) {
    void* current = allocator.current_stream(device);
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

DlpackHandle allocate_through_python(
    DataType dtype, std::span<const int64_t> sizes, Device device) {
  const GilAcquire gil;
  const nb::object torch = torch_module();
  nb::list shape;
  for (const int64_t size : sizes) {
    shape.append(size);
  }
  const nb::object tensor = torch.attr("empty")(
      shape, nb::arg("dtype") = torch_dtype(dtype), nb::arg("device") = device.str());
  return guard_deleter(take_capsule(tensor.attr("__dlpack__")()));
}

/// Collects the text of a failure in an exchange function.
void collect_error(void* context, const char* kind, const char* message) {
  *static_cast<std::string*>(context) = std::string(kind) + ": " + message;
}

} // namespace

namespace {

/// Call `take(item)` for each item. Python code that runs meanwhile may change a list.
template <typename Take>
void for_each_item(nb::handle items, const Take& take) {
  if (PyList_Check(items.ptr())) { // of most calls
    for (Py_ssize_t i = 0; i < PyList_Size(items.ptr()); ++i) {
      take(nb::borrow(PyList_GetItem(items.ptr(), i)));
    }
  } else {
    for (const nb::handle item : nb::iter(items)) {
      take(nb::borrow(item));
    }
  }
}

} // namespace

PythonArguments::PythonArguments(nb::handle inputs) {
  check_is_list_of_inputs(inputs);
  for_each_item(inputs, [this](nb::object item) {
    if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
      for_each_item(item, [this](nb::object inner) { add(std::move(inner)); });
    } else {
      add(std::move(item));
    }
  });
  if (pending_.empty()) {
    return;
  }
  // Only now it is known on which stream they have to be ready.
  choose_framework();
  PythonAllocator allocator(framework_);
  for (const size_t i : pending_) {
    owned_.push_back(take_capsule(call_dlpack(object(i), allocator)));
    TensorArg tensor = view(owned_.back()->dl_tensor);
    const std::optional<ArrayFramework> owner = ArrayFramework::of(object(i));
    tensor.is_read_only = (owned_.back()->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0 ||
                          (owner && owner->is_immutable());
    (*args_)[i] = tensor;
  }
}

void PythonArguments::add(nb::object object) {
  objects_->push_back(std::move(object));
  const nb::handle item = objects_->back();
  if (!add_tensor(item) && !add_number(item)) {
    throw_unsupported(item);
  }
}

/// That of the first tensor, unless there are tensors of PyTorch.
void PythonArguments::choose_framework() {
  for (size_t k = 0; k < pending_.size() && !has_torch_tensor_ && !framework_; ++k) {
    framework_ = ArrayFramework::of(object(pending_[k]));
  }
}

bool PythonArguments::add_number(nb::handle item) {
  const std::optional<PythonNumber> number = read_number(item);
  if (!number) {
    return false;
  }
  NVF_USER_CHECK(!number->is_too_large, "An integer argument does not fit into 64 bits.");
  args_->emplace_back(ScalarArg{number->value, number->type == DataType::UInt64});
  return true;
}

bool PythonArguments::add_tensor(nb::handle item) {
  const auto& [api, is_opaque] = tensor_class(Py_TYPE(item.ptr()));
  if (api != nullptr && api->dltensor_from_py_object_no_sync != nullptr) {
    if (is_opaque) {
      throw_unreadable(item, "");
    }
    DLTensor tensor{};
    if (api->dltensor_from_py_object_no_sync(item.ptr(), &tensor) != 0) {
      const nb::python_error error;
      const std::string text = nb::str(error.value()).c_str();
      throw_unreadable(item, text.substr(0, text.find('\n')));
    }
    check_torch_tensor(*api, item, tensor);
    has_torch_tensor_ = true;
    args_->emplace_back(view(tensor));
    return true;
  }
  if (!nb::hasattr(item, "__dlpack__")) {
    return false;
  }
  pending_.push_back(args_->size());
  args_->emplace_back();
  return true;
}

TensorArg PythonArguments::view(DLTensor tensor) {
  if (tensor.strides == nullptr && tensor.ndim > 0) {
    const auto rank = static_cast<size_t>(tensor.ndim);
    std::vector<int64_t>& strides = strides_.emplace_back(rank);
    row_major_strides({tensor.shape, rank}, strides);
    tensor.strides = strides.data();
  }
  return view_of(tensor);
}

PythonAllocator::PythonAllocator(std::optional<ArrayFramework> framework)
    : framework_(std::move(framework)),
      framework_owns_memory_(framework_ && framework_->owns_memory()),
      api_(framework_owns_memory_ ? nullptr : torch_exchange_api()) {
  if (!framework_owns_memory_) {
    is_watched_ = check_torch_modes();
  }
}

std::optional<DlpackHandle> PythonAllocator::make_unwatched(
    DataType dtype,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    Device device) {
  if (api_ == nullptr || is_watched_) {
    return std::nullopt;
  }
  lock();
  return make_torch_tensor(*api_, dtype, sizes, strides, device);
}

DlpackHandle PythonAllocator::allocate_strided(
    DataType dtype,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    int64_t elements,
    Device device) {
  if (storage_elements(sizes, strides) == elements) {
    if (std::optional<DlpackHandle> made = make_unwatched(dtype, sizes, strides, device)) {
      return *std::move(made);
    }
  }
  return OutputAllocator::allocate_strided(dtype, sizes, strides, elements, device);
}

DlpackHandle PythonAllocator::allocate(
    DataType dtype, std::span<const int64_t> sizes, Device device) {
  return allocate_for(Purpose::Output, dtype, sizes, device);
}

DlpackHandle PythonAllocator::allocate_workspace(int64_t bytes, Device device) {
  const int64_t sizes[] = {bytes};
  return allocate_for(Purpose::Workspace, DataType::Byte, sizes, device);
}

DlpackHandle PythonAllocator::allocate_for(
    Purpose purpose, DataType dtype, std::span<const int64_t> sizes, Device device) {
  if (framework_owns_memory_) {
    const GilAcquire gil;
    return framework_->allocate(dtype, sizes, device);
  }
  if (api_ == nullptr) {
    return allocate_through_python(dtype, sizes, device);
  }
  if (device.is_cpu()) {
    if (std::optional<DlpackHandle> pooled = allocate_pooled(dtype, sizes)) {
      return std::move(*pooled);
    }
  }
  if (purpose == Purpose::Output) {
    if (std::optional<DlpackHandle> made = make_unwatched(dtype, sizes, kRowMajor, device)) {
      return *std::move(made);
    }
  }
  return allocate_by_table(dtype, sizes, device);
}

DlpackHandle PythonAllocator::allocate_by_table(
    DataType dtype, std::span<const int64_t> sizes, Device device) {
  DLTensor prototype{};
  prototype.device = to_dlpack(device);
  prototype.dtype = to_dlpack(dtype);
  prototype.ndim = static_cast<int32_t>(sizes.size());
  prototype.shape = const_cast<int64_t*>(sizes.data());
  DLManagedTensorVersioned* result = nullptr;
  std::string error;
  if (api_->managed_tensor_allocator(&prototype, &result, &error, collect_error) != 0) {
    const GilAcquire gil;
    throw_no_memory(error);
  }
  DlpackHandle handle(result);
  const auto is_zero = [](int64_t size) { return size == 0; };
  if (result->dl_tensor.data == nullptr && std::none_of(sizes.begin(), sizes.end(), is_zero)) {
    const GilAcquire gil;
    throw_no_memory("");
  }
  return handle;
}

void* PythonAllocator::current_stream(Device device) {
  if (!device.is_cuda()) {
    return nullptr;
  }
  if (framework_owns_memory_) {
    const GilAcquire gil;
    last_stream_ = framework_->current_stream(device);
    return last_stream_;
  }
  if (api_ != nullptr) {
    void* stream = nullptr;
    NVF_USER_CHECK(
        api_->current_work_stream(kDLCUDA, device.index, &stream) == 0,
        "PyTorch does not tell its current stream on ", device.str());
    return stream;
  }
  const GilAcquire gil;
  const nb::object stream =
      torch_module().attr("cuda").attr("current_stream")(device.index).attr("cuda_stream");
  return reinterpret_cast<void*>(nb::cast<intptr_t>(stream));
}

nb::object PythonAllocator::to_torch(DlpackHandle handle) const {
  if (nb::object made = take_torch_tensor(handle); made.is_valid()) {
    return made;
  }
  if (api_ == nullptr) {
    constexpr void* kNoStream = nullptr; // PyTorch's own, where it is not told another
    return torch_module().attr("utils").attr("dlpack").attr("from_dlpack")(
        make_exporter(std::move(handle), kNoStream).attr("__dlpack__")(nb::arg("stream") = -1));
  }
  void* object = nullptr;
  if (api_->managed_tensor_to_py_object_no_sync(handle.release(), &object) != 0) {
    throw nb::python_error();
  }
  return nb::steal(static_cast<PyObject*>(object));
}

DlpackHandle PythonAllocator::from_torch(nb::handle tensor) const {
  const TensorClass& facts = tensor_class(Py_TYPE(tensor.ptr()));
  if (facts.is_opaque || facts.api == nullptr ||
      facts.api->managed_tensor_from_py_object_no_sync == nullptr) {
    return take_capsule(tensor.attr("__dlpack__")(nb::arg("stream") = -1));
  }
  DLManagedTensorVersioned* managed = nullptr;
  if (facts.api->managed_tensor_from_py_object_no_sync(tensor.ptr(), &managed) != 0) {
    throw nb::python_error();
  }
  return DlpackHandle(managed);
}

nb::object PythonAllocator::to_python(DlpackHandle handle) const {
  if (!framework_) {
    return to_torch(std::move(handle));
  }
  if (!framework_owns_memory_) {
    return framework_->from_dlpack(to_torch(std::move(handle)));
  }
  return framework_->from_dlpack(make_exporter(std::move(handle), last_stream_));
}

nb::object PythonAllocator::in_framework(const nb::object& tensor) const {
  return framework_ ? framework_->from_dlpack(tensor) : tensor;
}

namespace {

/// A tensor in the memory of `owner`, which it keeps alive.
struct PartOfArgument {
  DLManagedTensorVersioned managed{};
  DlpackHandle inner;
  nb::object owner;
};

DlpackHandle keep_argument(DlpackHandle handle, nb::object owner) {
  auto* part = new PartOfArgument();
  part->managed = *handle;
  part->managed.manager_ctx = part;
  part->managed.deleter = [](DLManagedTensorVersioned* managed) {
    const GilAcquire gil;
    delete static_cast<PartOfArgument*>(managed->manager_ctx);
  };
  part->inner = std::move(handle);
  part->owner = std::move(owner);
  return DlpackHandle(&part->managed);
}

/// An output that is not one of those before it.
nb::object to_python(
    RunOutput& output, const PythonArguments& args, const PythonAllocator& allocator) {
  if (output.evaluated != nullptr) {
    return allocator.in_framework(evaluated_object(*output.evaluated));
  }
  if (output.input == RunOutput::kNone) {
    return allocator.to_python(std::move(output.tensor));
  }
  nb::object argument = args.object(static_cast<size_t>(output.input));
  if (output.tensor == nullptr) {
    return argument;
  }
  return allocator.to_python(keep_argument(std::move(output.tensor), std::move(argument)));
}

} // namespace

nb::list to_python(
    std::vector<RunOutput> outputs, const PythonArguments& args, PythonAllocator& allocator) {
  allocator.lock();
  const auto count = static_cast<Py_ssize_t>(outputs.size());
  auto list = nb::steal<nb::list>(PyList_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    RunOutput& output = outputs[static_cast<size_t>(i)];
    nb::object result = output.same_as != RunOutput::kNone
                            ? nb::borrow(PyList_GetItem(list.ptr(), output.same_as))
                            : to_python(output, args, allocator);
    PyList_SetItem(list.ptr(), i, result.release().ptr()); // steals it
  }
  return list;
}

} // namespace nvfuser::python
