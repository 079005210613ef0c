// A shorter way for calls of a method of Python that have one argument.
//
// A frame of Python that looks at four keywords takes a tenth of the time that the host needs for a
// launch, and most calls have no keyword. From 3.12 on, CPython lets a function have its own
// `vectorcall`, as long as that does what the function does. The function stays one of Python in
// all other respects: for torch.compile, which names it, and for `inspect`.
#include <Python.h>
#include <dlfcn.h>

#include "bindings.h"
#include "executor_cache.h"

namespace nvfuser::python {
namespace {

/// CPython's own `vectorcall` of functions; nullptr before a method has a shortcut.
vectorcallfunc call_function = nullptr;

PyObject* call_method(
    PyObject* method, PyObject* const* args, size_t count_and_flag, PyObject* names) {
  static PyObject* const run = PyUnicode_InternFromString("_run");
  constexpr Py_ssize_t kWithOneArgument = 2; // behind the object
  if (names == nullptr && PyVectorcall_NARGS(count_and_flag) == kWithOneArgument) {
    const nb::object function = nb::steal(PyObject_GetAttr(args[0], run));
    if (!function.is_valid()) {
      return nullptr;
    }
    if (!function.is_none()) {
      PyObject* room_and_argument[] = {nullptr, args[1]};
      return PyObject_Vectorcall(
          function.ptr(), room_and_argument + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    }
  }
  return call_function(method, args, count_and_flag, names);
}

bool add_shortcut(nb::handle method) {
  // No part of the stable interface of Python, but of later versions than the oldest one.
  using SetVectorcall = void (*)(PyObject*, vectorcallfunc);
  auto* const set =
      reinterpret_cast<SetVectorcall>(dlsym(RTLD_DEFAULT, "PyFunction_SetVectorcall"));
  call_function = reinterpret_cast<vectorcallfunc>(dlsym(RTLD_DEFAULT, "_PyFunction_Vectorcall"));
  if (set == nullptr || call_function == nullptr) {
    return false;
  }
  set(method.ptr(), call_method);
  return true;
}

} // namespace

void bind_shortcut_method(nb::module_& m) {
  internal_module(m).def(
      "add_shortcut", &add_shortcut, "method"_a,
      nb::sig("def add_shortcut(method: collections.abc.Callable[..., typing.Any]) -> bool"),
      "Let calls of a method with one argument, and no keyword, go to the function in the "
      "attribute ``_run`` of the object, unless that is None. Requires: the method does the same. "
      "Returns whether this Python can.");
}

} // namespace nvfuser::python
