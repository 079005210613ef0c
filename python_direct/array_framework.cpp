#include "array_framework.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/errors.h"
#include "bindings.h"
#include "gil.h"
#include "runtime/cuda_driver.h"

namespace nvfuser::python {
namespace {

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kLegacy = "dltensor"; // of the first DLPack, which had no version field

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

struct GuardedTensor {
  DLManagedTensorVersioned managed{};
  DlpackHandle inner;
};

void delete_guarded(DLManagedTensorVersioned* managed) {
  const GilAcquire gil;
  delete static_cast<GuardedTensor*>(managed->manager_ctx);
}

void check_version(const DLManagedTensorVersioned& managed) {
  // A tensor of another major version may be laid out otherwise behind its deleter.
  NVF_USER_CHECK(
      managed.version.major == DLPACK_MAJOR_VERSION, "Cannot read a tensor of DLPack ",
      managed.version.major, ".", managed.version.minor, ", only of version ",
      DLPACK_MAJOR_VERSION);
  const bool is_padded = (managed.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0;
  NVF_USER_CHECK(
      !is_padded || managed.dl_tensor.dtype.bits % 8 == 0,
      "Elements of less than a byte have to be packed; this tensor has one in each byte.");
}

// ---- Export -------------------------------------------------------------------------------------

/// Let `consumer` wait for what was written on `producer`; nullptr is the default stream.
void wait_for(CUstream consumer, CUstream producer, int device) {
  const CudaDriver& driver = CudaDriver::get();
  const CudaContextGuard guard(driver, device);
  CUevent event = nullptr;
  constexpr unsigned kWithoutTimes = 2;
  driver.check(driver.event_create(&event, kWithoutTimes), "cuEventCreate");
  driver.check(driver.event_record(event, producer), "cuEventRecord");
  driver.check(driver.stream_wait_event(consumer, event, 0), "cuStreamWaitEvent");
  driver.check(driver.event_destroy(event), "cuEventDestroy");
}

/// The stream argument of `__dlpack__`: None and 1 are the default stream, 2 that of the thread,
/// -1 asks for no synchronization, all else is a handle.
void synchronize_export(const DlpackTensor& self, const std::optional<int64_t>& stream) {
  const Device device = from_dlpack(self.tensor->dl_tensor.device);
  constexpr int64_t kNoSynchronization = -1;
  constexpr int64_t kDefaultStream = 1;
  if (!device.is_cuda() || stream == kNoSynchronization) {
    return;
  }
  NVF_USER_CHECK(
      stream != 0, "0 is ambiguous as a stream: 1 is the default stream, 2 that of the thread");
  const int64_t wanted = stream.value_or(kDefaultStream);
  const auto own = std::max<int64_t>(reinterpret_cast<intptr_t>(self.stream), kDefaultStream);
  if (wanted != own) {
    wait_for(reinterpret_cast<CUstream>(wanted), reinterpret_cast<CUstream>(own), device.index);
  }
}

/// One export: keeps the tensor until its consumer is done with it.
template <typename Managed>
struct Export {
  Managed managed{};
  std::shared_ptr<DLManagedTensorVersioned> tensor;
};

template <typename Managed>
nb::object make_capsule(const DlpackTensor& self, const char* name) {
  auto* result = new Export<Managed>();
  result->tensor = self.tensor;
  result->managed.dl_tensor = self.tensor->dl_tensor;
  result->managed.manager_ctx = result;
  result->managed.deleter = [](Managed* managed) {
    delete static_cast<Export<Managed>*>(managed->manager_ctx);
  };
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    result->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  }
  return nb::steal(PyCapsule_New(&result->managed, name, [](PyObject* capsule) {
    const char* own_name = std::is_same_v<Managed, DLManagedTensorVersioned> ? kVersioned : kLegacy;
    if (PyCapsule_IsValid(capsule, own_name) != 0) { // it was not taken
      auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, own_name));
      managed->deleter(managed);
    }
  }));
}

nb::object export_tensor(
    const DlpackTensor& self,
    const std::optional<int64_t>& stream,
    const std::optional<std::pair<int64_t, int64_t>>& max_version,
    const std::optional<std::pair<int64_t, int64_t>>& dl_device,
    const std::optional<bool>& copy) {
  const DLDevice device = self.tensor->dl_tensor.device;
  const std::pair<int64_t, int64_t> own_device(device.device_type, device.device_id);
  if (copy.value_or(false) || dl_device.value_or(own_device) != own_device) {
    throw nb::buffer_error("this tensor is exported in place only");
  }
  synchronize_export(self, stream);
  const bool is_versioned = max_version && max_version->first >= DLPACK_MAJOR_VERSION;
  return is_versioned ? make_capsule<DLManagedTensorVersioned>(self, kVersioned)
                      : make_capsule<DLManagedTensor>(self, kLegacy);
}

// ---- Frameworks ---------------------------------------------------------------------------------

constexpr const char* kNumpy = "numpy";
constexpr const char* kCupy = "cupy";

/// Where a package keeps its `from_dlpack`.
std::string module_name(const std::string& package) {
  return package == "jax" ? "jax.numpy" : package;
}

} // namespace

DlpackHandle take_capsule(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kVersioned) != 0) {
    auto* managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersioned));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    DlpackHandle handle(managed); // deletes it whatever its version is
    check_version(*handle);
    return handle;
  }
  NVF_USER_CHECK(
      PyCapsule_IsValid(capsule.ptr(), kLegacy) != 0,
      "`__dlpack__` has to return a new capsule with a tensor, but returned ",
      nb::repr(capsule).c_str());
  auto* legacy = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kLegacy));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  auto* wrapper = new LegacyTensor();
  wrapper->legacy = legacy;
  wrapper->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  wrapper->managed.dl_tensor = legacy->dl_tensor;
  wrapper->managed.manager_ctx = wrapper;
  wrapper->managed.deleter = delete_legacy;
  return DlpackHandle(&wrapper->managed);
}

DlpackHandle guard_deleter(DlpackHandle handle) {
  auto* guarded = new GuardedTensor();
  guarded->managed = *handle;
  guarded->managed.manager_ctx = guarded;
  guarded->managed.deleter = delete_guarded;
  guarded->inner = std::move(handle);
  return DlpackHandle(&guarded->managed);
}

nb::object make_exporter(DlpackHandle handle, void* stream) {
  return nb::cast(
      DlpackTensor{std::shared_ptr<DLManagedTensorVersioned>(std::move(handle)), stream});
}

std::optional<ArrayFramework> ArrayFramework::of(nb::handle array) {
  const std::string module = nb::cast<std::string>(array.type().attr("__module__"));
  std::string package = module.substr(0, module.find('.'));
  if (package == "jaxlib") {
    package = "jax";
  }
  if (package == "torch") {
    return std::nullopt;
  }
  // A framework that has an object in this process is imported already.
  const nb::dict modules = nb::module_::import_("sys").attr("modules");
  const nb::str name(module_name(package).c_str());
  if (!modules.contains(name) || !nb::hasattr(modules[name], "from_dlpack")) {
    return std::nullopt;
  }
  return ArrayFramework(std::move(package));
}

bool ArrayFramework::owns_memory() const {
  return package_ == kNumpy || package_ == kCupy;
}

bool ArrayFramework::is_immutable() const {
  return package_ == "jax";
}

DlpackHandle ArrayFramework::allocate(
    DataType dtype, std::span<const int64_t> sizes, Device device) const {
  // As bytes: the framework need not have the element type.
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    elements *= size;
  }
  const int64_t bytes = storage_bytes(dtype, elements);
  const nb::module_ module = nb::module_::import_(device.is_cuda() ? kCupy : kNumpy);
  nb::object array;
  if (device.is_cuda()) {
    const nb::object current = module.attr("cuda").attr("Device")(device.index);
    current.attr("__enter__")();
    try {
      array = module.attr("empty")(bytes, "uint8");
    } catch (...) {
      current.attr("__exit__")();
      throw;
    }
    current.attr("__exit__")();
  } else {
    array = module.attr("empty")(bytes, "uint8");
  }
  // Allocation orders itself by the stream it happened on: there is nothing to wait for.
  nb::dict options;
  if (device.is_cuda()) {
    options["stream"] = -1;
  }
  std::vector<int64_t> strides(sizes.size());
  row_major_strides(sizes, strides);
  DlpackHandle handle =
      restride(guard_deleter(take_capsule(array.attr("__dlpack__")(**options))), sizes, strides);
  handle->dl_tensor.dtype = to_dlpack(dtype);
  return handle;
}

void* ArrayFramework::current_stream(Device device) const {
  if (!device.is_cuda()) {
    return nullptr;
  }
  const nb::object cuda = nb::module_::import_(kCupy).attr("cuda");
  const nb::object stream = cuda.attr("get_current_stream")(device.index);
  return reinterpret_cast<void*>(nb::cast<intptr_t>(stream.attr("ptr")));
}

nb::object ArrayFramework::from_dlpack(const nb::object& exporter) const {
  const nb::object convert =
      nb::module_::import_(module_name(package_).c_str()).attr("from_dlpack");
  try {
    return convert(exporter);
  } catch (nb::python_error& error) {
    const bool is_type_unknown = error.matches(PyExc_BufferError) ||
                                 error.matches(PyExc_TypeError) ||
                                 error.matches(PyExc_RuntimeError);
    if (!is_type_unknown) {
      throw;
    }
    return exporter;
  }
}

void bind_array_framework(nb::module_& m) {
  nb::class_<DlpackTensor>(
      m, "DlpackTensor",
      "A tensor that any ``from_dlpack`` takes: an output whose element type the framework of the\n"
      "inputs does not have.")
      .def(
          "__dlpack__", &export_tensor, nb::kw_only(), "stream"_a = nb::none(),
          "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none(),
          nb::sig(
              "def __dlpack__(self, *, stream: int | None = None, "
              "max_version: tuple[int, int] | None = None, "
              "dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object"),
          "A capsule, as the array API standard has it.")
      .def(
          "__dlpack_device__",
          [](const DlpackTensor& self) {
            const DLDevice device = self.tensor->dl_tensor.device;
            return std::pair<int64_t, int64_t>(device.device_type, device.device_id);
          },
          "Kind and number of the device.")
      .def_prop_ro(
          "shape",
          [](const DlpackTensor& self) {
            const DLTensor& tensor = self.tensor->dl_tensor;
            return std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim);
          },
          "Sizes.")
      .def_prop_ro(
          "dtype",
          [](const DlpackTensor& self) {
            return from_dlpack(self.tensor->dl_tensor.dtype).value_or(DataType::Null);
          },
          "Element type.");
}

} // namespace nvfuser::python
