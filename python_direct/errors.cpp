// C++ errors as Python exceptions. Every class derives from RuntimeError, and from the builtin
// class that callers of Python functions expect for that kind of mistake.
#include "base/errors.h"

#include "base/refusal.h"
#include "bindings.h"
#include "runtime/host_compiler.h"

namespace nvfuser::python {
namespace {

/// Borrowed: the module holds the classes for the life of the process.
struct ExceptionClasses {
  PyObject* user = nullptr;
  PyObject* value = nullptr;
  PyObject* type = nullptr;
  PyObject* index = nullptr;
  PyObject* not_implemented = nullptr;
  PyObject* compiler = nullptr;
  PyObject* internal = nullptr;

  [[nodiscard]] PyObject* of(ErrorKind kind) const {
    switch (kind) {
      case ErrorKind::Runtime: return user;
      case ErrorKind::Value: return value;
      case ErrorKind::Type: return type;
      case ErrorKind::Index: return index;
      case ErrorKind::NotImplemented: return not_implemented;
      case ErrorKind::Internal: return internal;
    }
    return user;
  }
};

ExceptionClasses classes;

PyObject* make_class(nb::module_& m, const char* name, const nb::tuple& bases, const char* doc) {
  const std::string full_name = nb::cast<std::string>(m.attr("__name__")) + "." + name;
  nb::object cls =
      nb::steal(PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), nullptr));
  if (!cls.is_valid()) {
    throw nb::python_error();
  }
  m.attr(name) = cls;
  return cls.release().ptr();
}

void bind_refusal(nb::module_& m) {
  nb::class_<Refusal>(
      m, "Refusal",
      "Why something cannot be done, as a value: what UserError says, without being raised.")
      .def_prop_ro(
          "headline", [](const Refusal& self) { return self.report.headline.text(); }, "The rule.")
      .def_prop_ro(
          "node", [](const Refusal& self) { return self.report.node.text(); },
          "The node that broke it, and the Python line that made it; empty: no node in particular.")
      .def_prop_ro(
          "expected", [](const Refusal& self) { return self.report.expected.text(); },
          "The demand of the rule.")
      .def_prop_ro(
          "found", [](const Refusal& self) { return self.report.found.text(); },
          "The state that was found instead.")
      .def_prop_ro(
          "fix", [](const Refusal& self) { return self.report.fix.text(); }, "The way out.")
      .def_prop_ro(
          "lacks_kernel_form",
          [](const Refusal& self) { return self.kind == ErrorKind::NotImplemented; },
          "Whether this compiler does not do it at all, so that evaluation is what remains.")
      .def("__str__", [](const Refusal& self) { return self.report.str(); });
}

} // namespace

void bind_errors(nb::module_& m) {
  bind_refusal(m);
  const nb::handle runtime(PyExc_RuntimeError);
  classes.user = make_class(
      m, "UserError", nb::make_tuple(runtime), "The program given to the compiler is wrong.");
  const nb::handle user(classes.user);
  const auto with_builtin = [&](const char* name, PyObject* builtin, const char* doc) {
    return make_class(m, name, nb::make_tuple(user, nb::handle(builtin)), doc);
  };
  classes.value =
      with_builtin("UserValueError", PyExc_ValueError, "A UserError about an argument's value.");
  classes.type =
      with_builtin("UserTypeError", PyExc_TypeError, "A UserError about an argument's type.");
  classes.index = with_builtin(
      "UserIndexError", PyExc_IndexError, "A UserError about a position out of range.");
  classes.not_implemented = with_builtin(
      "UserNotImplementedError", PyExc_NotImplementedError,
      "A UserError about something this compiler does not do.");
  classes.compiler = make_class(
      m, "CompilerError", nb::make_tuple(nb::handle(classes.not_implemented)),
      "The C++ compiler failed, not the program: it wrote nothing, the disk is full.");
  classes.internal = make_class(
      m, "InternalError", nb::make_tuple(runtime), "A bug of the compiler; please report it.");

  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const CompilerError& error) {
      PyErr_SetString(classes.compiler, error.what());
    } catch (const Error& error) {
      PyErr_SetString(classes.of(error.kind()), error.what());
    }
  });
}

} // namespace nvfuser::python
