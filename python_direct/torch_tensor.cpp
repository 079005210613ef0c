#include "torch_tensor.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/errors.h"
#include "negative_bit.h"

namespace nvfuser::python {
namespace {

constexpr const char* kGuide =
    " (docs/guide.md, \"Gradients, torch.compile and torch.func\", has an example)";
constexpr const char* kUntraced =
    "run the fusion outside of what is traced or exported, or make an operator of it";
constexpr const char* kDerived =
    "call the fusion in the forward of a torch.autograd.Function with setup_context";

// ---- Classes ------------------------------------------------------------------------------------

/// A class of PyTorch whose tensors have no memory that holds their elements.
struct KnownClass {
  std::string_view name;
  const char* found;
  const char* fix;
  bool is_in_guide = false;
};

constexpr KnownClass kKnownClasses[] = {
    {"FakeTensor", "a fake tensor, which has sizes and no data", kUntraced, true},
    {"FunctionalTensor", "a tensor that records what is done to it", kUntraced, true},
    {"DTensor", "a tensor that is spread over devices",
     "pass tensor.to_local(): a fusion runs on one device"},
    {"NestedTensor", "a nested tensor",
     "pass tensor.values(), or torch.nested.to_padded_tensor(tensor, padding)"},
    {"MaskedTensor", "a masked tensor", "pass tensor.get_data() and tensor.get_mask()"},
    {"UninitializedParameter", "a parameter without a shape",
     "call its module once, which initializes it"},
    {"UninitializedBuffer", "a buffer without a shape",
     "call its module once, which initializes it"},
};

/// The row of the first class of `type`, or of those it is derived from, that has one.
const KnownClass* find_known_class(nb::handle type) {
  for (const nb::handle base : nb::borrow<nb::tuple>(type.attr("__mro__"))) {
    const auto name = nb::cast<std::string>(base.attr("__name__"));
    for (const KnownClass& known : kKnownClasses) {
      if (known.name == name) {
        return &known;
      }
    }
  }
  return nullptr;
}

/// Is it torch.Tensor, or derived from it?
bool is_torch_type(PyTypeObject* type) {
  const nb::handle cls(reinterpret_cast<PyObject*>(type));
  for (const nb::handle base : nb::borrow<nb::tuple>(cls.attr("__mro__"))) {
    const auto module = nb::cast<std::string>(base.attr("__module__"));
    if (module == "torch" || module.starts_with("torch.")) {
      return true;
    }
  }
  return false;
}

const DLPackExchangeAPI* find_exchange_api(PyTypeObject* type) {
  const nb::object capsule = nb::steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"));
  const DLPackExchangeAPIHeader* header = nullptr;
  if (capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") != 0 &&
      is_torch_type(type)) {
    header = static_cast<const DLPackExchangeAPIHeader*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (header != nullptr && header->version.major != DLPACK_MAJOR_VERSION) {
      header = header->prev_api;
    }
  }
  PyErr_Clear();
  return reinterpret_cast<const DLPackExchangeAPI*>(header);
}

bool is_opaque(nb::handle type) {
  if (find_known_class(type) != nullptr) {
    return true;
  }
  const nb::object plain = nb::module_::import_("torch").attr("Tensor").attr("__torch_dispatch__");
  return !type.attr("__torch_dispatch__").is(plain);
}

// ---- Tensors ------------------------------------------------------------------------------------

/// Why a tensor cannot be read, and what to do about it.
struct Explanation {
  std::string found;
  std::string fix;
  bool is_in_guide = false;
};

bool asks(nb::handle module, const char* function, nb::handle item) {
  return nb::hasattr(module, function) && nb::cast<bool>(module.attr(function)(item));
}

/// Wrappers that transforms of torch.func put around tensors. Empty `found`: it is none.
Explanation explain_wrapper(nb::handle torch, nb::handle item) {
  const nb::object functorch = torch.attr("_C").attr("_functorch");
  if (asks(functorch, "is_batchedtensor", item)) {
    return {
        "a batch of tensors that torch.vmap shows as one",
        "call the fusion outside of torch.vmap, with a dimension for the batch"};
  }
  if (asks(functorch, "is_gradtrackingtensor", item)) {
    return {"a tensor that a transform of torch.func differentiates by", kDerived, true};
  }
  if (asks(functorch, "is_functionaltensor", item) || asks(torch, "_is_functional_tensor", item)) {
    return {"a tensor that records what is done to it", kUntraced, true};
  }
  return {};
}

/// Layouts and element types of PyTorch. Empty `found`: it is an ordinary one.
Explanation explain_layout(nb::handle torch, nb::handle item) {
  if (nb::cast<bool>(item.attr("is_nested"))) {
    return {"a nested tensor", "pass torch.nested.to_padded_tensor(tensor, padding)"};
  }
  const nb::object layout = item.attr("layout");
  if (!layout.is(torch.attr("strided"))) {
    return {std::string("a tensor of layout ") + nb::str(layout).c_str(), "pass tensor.to_dense()"};
  }
  if (nb::cast<bool>(item.attr("is_quantized"))) {
    const nb::object dtype = item.attr("dtype");
    return {
        std::string("a quantized tensor of ") + nb::str(dtype).c_str(),
        "pass tensor.dequantize(), or tensor.int_repr() and its scale and zero point"};
  }
  if (asks(torch, "_is_zerotensor", item)) {
    return {"zeros without memory", "pass tensor.clone()"};
  }
  return {};
}

Explanation explain(nb::handle item, const std::string& reason) {
  if (const KnownClass* known = find_known_class(item.type())) {
    return {known->found, known->fix, known->is_in_guide};
  }
  if (is_opaque(item.type())) {
    return {
        std::string(nb::type_name(item.type()).c_str()) +
            ", a class that decides by __torch_dispatch__ what its elements are",
        "pass the plain tensor that it stands for"};
  }
  const nb::object torch = nb::module_::import_("torch");
  for (const auto& explain_some : {explain_wrapper, explain_layout}) {
    if (const Explanation explanation = explain_some(torch, item); !explanation.found.empty()) {
      return explanation;
    }
  }
  return {
      std::string(nb::type_name(item.type()).c_str()) +
          (reason.empty() ? " without data" : ": " + reason),
      "pass a dense copy"};
}

/// Functions of PyTorch that every run calls, looked up once. Never destroyed: Python may be gone
/// before.
struct Questions {
  nb::handle is_conj;
  nb::handle is_neg;
  nb::handle num_modes; // None in a PyTorch that has no such function; so is the next
  nb::handle is_transforming;

  static const Questions& get() {
    static const Questions questions = [] {
      const nb::module_ torch = nb::module_::import_("torch");
      const nb::object tensor = torch.attr("Tensor");
      const nb::object core = torch.attr("_C");
      return Questions{
          nb::getattr(tensor, "is_conj").release(), nb::getattr(tensor, "is_neg").release(),
          nb::getattr(core, "_len_torch_dispatch_stack", nb::none()).release(),
          nb::getattr(core, "_are_functorch_transforms_active", nb::none()).release()};
    }();
    return questions;
  }
};

nb::object checked(PyObject* result) {
  if (result == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(result);
}

bool is_true_of(nb::handle question, nb::handle item) {
  PyObject* argument = item.ptr();
  return checked(PyObject_Vectorcall(question.ptr(), &argument, 1, nullptr)).is(Py_True);
}

// ---- Modes --------------------------------------------------------------------------------------

int64_t num_modes() {
  const nb::handle question = Questions::get().num_modes;
  if (question.is_none()) {
    return 0;
  }
  return PyLong_AsLongLong(checked(PyObject_Vectorcall(question.ptr(), nullptr, 0, nullptr)).ptr());
}

/// May a transform of torch.func be active?
bool may_be_transforming() {
  const nb::handle question = Questions::get().is_transforming;
  return question.is_none() ||
         checked(PyObject_Vectorcall(question.ptr(), nullptr, 0, nullptr)).is(Py_True);
}

/// The class of the mode at a position of the stack.
std::string mode_name(int64_t position) {
  const nb::object core = nb::module_::import_("torch").attr("_C");
  return nb::type_name(core.attr("_get_dispatch_stack_at")(position).type()).c_str();
}

std::string last_part(const std::string& dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

/// The transform of torch.func that is active: "Grad", "Vmap" ..; empty if there is none.
std::string active_transform() {
  const nb::object functorch = nb::module_::import_("torch").attr("_C").attr("_functorch");
  const nb::object interpreter = functorch.attr("peek_interpreter_stack")();
  return interpreter.is_none() ? "" : last_part(nb::str(interpreter.attr("key")()).c_str());
}

} // namespace

const TensorClass& tensor_class(PyTypeObject* type) {
  // Holds its keys, so that their addresses stay theirs. Never destroyed: Python may be gone before
  // it.
  static auto& known = *new std::unordered_map<PyTypeObject*, TensorClass>;
  static const std::pair<PyTypeObject* const, TensorClass>* last = nullptr;
  if (last != nullptr && last->first == type) { // most tensors are torch.Tensor
    return last->second;
  }
  auto found = known.find(type);
  if (found == known.end()) {
    TensorClass result;
    result.api = find_exchange_api(type);
    result.is_opaque = result.api != nullptr && is_opaque(reinterpret_cast<PyObject*>(type));
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    found = known.emplace(type, result).first;
  }
  last = &*found;
  return found->second;
}

void throw_unreadable(nb::handle item, const std::string& reason) {
  const nb::object device = item.attr("device");
  const auto kind = nb::cast<std::string>(device.attr("type"));
  NVF_USER_CHECK(
      kind == "cpu" || kind == "cuda" || find_known_class(item.type()) != nullptr,
      "nvfuser only supports cuda or meta device, found: ", nb::str(device).c_str(),
      " (CPU tensors are supported; those on meta have no data to run on)");
  const Explanation explanation = explain(item, reason);
  throw UserError({
      .headline = {"Cannot read the memory of a tensor."},
      .node = Part::none(),
      .expected = {"strided tensors with data"},
      .found = {explanation.found},
      .fix = {explanation.fix, explanation.is_in_guide ? kGuide : ""},
  });
}

namespace {

/// Found once, in the first run that no mode or transform looks at.
const std::optional<NegativeBit>& negative_bit(const DLPackExchangeAPI& api) {
  static std::optional<NegativeBit> bit;
  static bool is_found = false;
  if (!is_found && num_modes() == 0 && !may_be_transforming()) {
    is_found = true;
    bit = NegativeBit::find(api);
  }
  return bit;
}

bool is_negated(const DLPackExchangeAPI& api, nb::handle item, const DLTensor& tensor) {
  if (const std::optional<NegativeBit>& bit = negative_bit(api)) {
    if (const std::optional<bool> is_set = bit->of(tensor)) {
      return *is_set;
    }
  }
  return is_true_of(Questions::get().is_neg, item);
}

} // namespace

void check_torch_tensor(const DLPackExchangeAPI& api, nb::handle item, const DLTensor& tensor) {
  if (tensor.data == nullptr) {
    const std::span<const int64_t> sizes(tensor.shape, static_cast<size_t>(tensor.ndim));
    if (std::ranges::find(sizes, 0) == sizes.end()) { // else it has no elements
      throw_unreadable(item, "");
    }
  }
  const char* pending = nullptr;
  const bool is_negative = is_negated(api, item, tensor);
  if (tensor.dtype.code == kDLComplex && is_true_of(Questions::get().is_conj, item)) {
    pending = is_negative ? "resolve_conj().resolve_neg" : "resolve_conj";
  } else if (is_negative) {
    pending = "resolve_neg";
  }
  NVF_USER_CHECK(
      pending == nullptr,
      "A view that PyTorch conjugates or negates when it is read cannot be an "
      "input; pass tensor.",
      pending, "()");
}

bool check_torch_modes() {
  const int64_t count = num_modes();
  for (int64_t i = count; i-- > 0;) {
    const std::string mode = mode_name(i);
    const std::string name = last_part(mode);
    if (name != "FakeTensorMode" && name != "FunctionalTensorMode" &&
        name != "ProxyTorchDispatchMode") {
      continue; // a mode that looks on: kernels are no operations of PyTorch
    }
    throw UserError({
        .headline = {"A fusion cannot run while PyTorch records operations instead of doing them."},
        .node = Part::none(),
        .expected = {"tensors with data, which kernels read and write"},
        .found = {"the mode ", mode},
        .fix = {kUntraced, kGuide},
    });
  }
  return count > 0 || may_be_transforming();
}

void throw_no_memory(const std::string& reason) {
  std::string first_line = reason.substr(0, reason.find('\n'));
  if (PyErr_Occurred() != nullptr) { // what Python code raised: PyTorch's own text lacks it
    const nb::python_error error;
    first_line =
        std::string(nb::type_name(error.type()).c_str()) + ": " + nb::str(error.value()).c_str();
  }
  const std::string transform = active_transform();
  std::string modes;
  for (int64_t i = num_modes(); i-- > 0;) {
    modes += (modes.empty() ? "the mode " : ", ") + mode_name(i);
  }
  if (transform.empty() && modes.empty() && !first_line.empty()) { // too large, most likely
    throw UserError(Part("Cannot allocate an output. ", first_line));
  }
  Explanation explanation{
      "PyTorch made a tensor without data", "leave the mode that makes such tensors"};
  if (!transform.empty()) {
    const bool is_derivative = transform == "Grad" || transform == "Jvp";
    explanation = {
        "the transform " + transform + " of torch.func",
        is_derivative ? kDerived : "call the fusion outside of the transform", is_derivative};
  } else if (!modes.empty()) {
    explanation = {modes, "leave the mode while the fusion runs"};
  }
  throw UserError({
      .headline = {"Cannot allocate an output. ", first_line},
      .node = Part::none(),
      .expected = {"a new tensor with memory"},
      .found = {explanation.found},
      .fix = {explanation.fix, explanation.is_in_guide ? kGuide : ""},
  });
}

} // namespace nvfuser::python
