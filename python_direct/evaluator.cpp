#include "evaluator.h"

#include <memory>
#include <utility>

#include "base/errors.h"
#include "bindings.h"
#include "gil.h"

namespace nvfuser::python {
namespace {

nb::module_ evaluating_module() {
  return nb::module_::import_("nvfuser_direct.evaluator.steps");
}

/// The evaluator's object for a fusion, made when it is first evaluated. Needs the GIL, which
/// guards the notes; another thread may have made one while this one did.
nb::object prepared(const host::EvaluatedFusion& evaluated) {
  std::shared_ptr<void>& kept = evaluated.notes->kept;
  if (kept != nullptr) {
    return nb::borrow(static_cast<PyObject*>(kept.get()));
  }
  nb::object made = evaluating_module().attr("EvaluatedFusion")(evaluated.fusion);
  if (kept == nullptr) {
    kept = std::shared_ptr<void>(nb::object(made).release().ptr(), [](void* object) {
      const GilAcquire gil;
      Py_DECREF(static_cast<PyObject*>(object));
    });
  }
  return made;
}

/// A tensor that others own, on its way to PyTorch.
struct BorrowedTensor {
  DLManagedTensorVersioned managed{};
  host::SharedTensor memory; // one of the two keeps it
  nb::object argument;
  std::vector<int64_t> layout; // sizes, then strides
};

void delete_borrowed(DLManagedTensorVersioned* managed) {
  const GilAcquire gil;
  delete static_cast<BorrowedTensor*>(managed->manager_ctx);
}

DlpackHandle borrow_tensor(
    const TensorArg& tensor, host::SharedTensor memory, nb::object argument) {
  auto borrowed = std::make_unique<BorrowedTensor>();
  borrowed->memory = std::move(memory);
  borrowed->argument = std::move(argument);
  borrowed->layout.assign(tensor.sizes().begin(), tensor.sizes().end());
  borrowed->layout.insert(borrowed->layout.end(), tensor.strides().begin(), tensor.strides().end());
  DLManagedTensorVersioned& managed = borrowed->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.dl_tensor.data = tensor.data;
  managed.dl_tensor.device = to_dlpack(tensor.device);
  managed.dl_tensor.ndim = tensor.rank;
  managed.dl_tensor.dtype = to_dlpack(tensor.dtype);
  managed.dl_tensor.shape = borrowed->layout.data();
  managed.dl_tensor.strides = borrowed->layout.data() + tensor.rank;
  managed.manager_ctx = borrowed.get();
  managed.deleter = delete_borrowed;
  return DlpackHandle(&borrowed.release()->managed);
}

/// A result on its way into a run. Its tensor may have more memory than its elements, and is what
/// the caller gets.
struct EvaluatedTensor {
  DLManagedTensorVersioned managed{};
  DlpackHandle inner;
  nb::object tensor;
};

void delete_evaluated(DLManagedTensorVersioned* managed) {
  const GilAcquire gil;
  delete static_cast<EvaluatedTensor*>(managed->manager_ctx);
}

} // namespace

nb::object evaluated_object(const DLManagedTensorVersioned& tensor) {
  NVF_INVARIANT(tensor.deleter == delete_evaluated, "what is evaluated comes from this evaluator");
  return static_cast<const EvaluatedTensor*>(tensor.manager_ctx)->tensor;
}

nb::object PythonEvaluator::object_of(const host::EvaluatorInput& input, Device device) {
  nb::object argument;
  if (input.argument != host::EvaluatorInput::kNone) {
    argument = arguments_.object(static_cast<size_t>(input.argument));
    if (input.is_whole) {
      return argument;
    }
  }
  DlpackHandle tensor =
      borrow_tensor(std::get<TensorArg>(input.value), input.memory, std::move(argument));
  if (allocator_.is_on_stream_of_pytorch()) {
    return allocator_.to_torch(std::move(tensor));
  }
  // PyTorch waits for the stream that wrote it.
  return nb::module_::import_("torch").attr("from_dlpack")(
      make_exporter(std::move(tensor), allocator_.current_stream(device)));
}

DlpackHandle PythonEvaluator::read_result(nb::handle result, Device device) {
  if (allocator_.is_on_stream_of_pytorch()) {
    return allocator_.from_torch(result);
  }
  nb::dict stream;
  if (device.is_cuda()) {
    void* current = allocator_.current_stream(device); // which waits for PyTorch's
    stream["stream"] = current == nullptr ? 1 : reinterpret_cast<intptr_t>(current);
  }
  return take_capsule(result.attr("__dlpack__")(**stream));
}

DlpackHandle PythonEvaluator::tensor_of(nb::handle result, Device device) {
  auto evaluated = std::make_unique<EvaluatedTensor>();
  evaluated->inner = read_result(result, device);
  evaluated->tensor = nb::borrow(result);
  evaluated->managed = *evaluated->inner;
  evaluated->managed.manager_ctx = evaluated.get();
  evaluated->managed.deleter = delete_evaluated;
  return DlpackHandle(&evaluated.release()->managed);
}

std::optional<Refusal> PythonEvaluator::find_unavailable() {
  const GilAcquire gil;
  const nb::module_ pytorch = nb::module_::import_("nvfuser_direct._pytorch");
  if (nb::cast<bool>(pytorch.attr("has_pytorch")())) {
    return std::nullopt;
  }
  return refuse_headline(
      Part(
          "Evaluating the fusion instead needs PyTorch, which is not installed: ",
          nb::cast<std::string>(pytorch.attr("HOW_TO_INSTALL")), "."),
      ErrorKind::NotImplemented);
}

std::vector<DlpackHandle> PythonEvaluator::evaluate(
    const host::EvaluatedFusion& evaluated,
    std::span<const host::EvaluatorInput> inputs,
    Device device,
    const RandomShare& random) {
  const GilAcquire gil;
  nb::list values;
  for (const host::EvaluatorInput& input : inputs) {
    values.append(object_of(input, device));
  }
  nb::list offsets;
  for (size_t i = 0; i < random.numbers.size(); ++i) {
    offsets.append(random.offset_of(i));
  }
  const nb::object outputs =
      prepared(evaluated).attr("evaluate")(values, device.str(), random.state.seed, offsets);
  std::vector<DlpackHandle> results;
  for (const nb::handle output : nb::iter(outputs)) {
    results.push_back(output.is_none() ? nullptr : tensor_of(output, device));
  }
  return results;
}

void PythonEvaluator::copy(const host::EvaluatorInput& from, const host::EvaluatorInput& to) {
  const GilAcquire gil;
  const Device device = std::get<TensorArg>(to.value).device;
  evaluating_module().attr("copy")(object_of(from, device), object_of(to, device));
}

} // namespace nvfuser::python
