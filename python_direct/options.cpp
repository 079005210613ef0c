// Options and warnings: what NVFUSER_ENABLE and its like switch on, and what the core warns of.
#include "base/options.h"

#include "base/captured_output.h"
#include "base/errors.h"
#include "base/warnings.h"
#include "bindings.h"
#include "gil.h"
#include "lower/pipeline.h"

namespace nvfuser::python {
namespace {

/// A Python warning at the user's line; where warnings are errors, the error.
void raise_warning(const std::string& text) {
  const GilAcquire gil;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) {
    throw nb::python_error();
  }
}

template <typename Option>
bool holds(const std::string& name) {
  const std::optional<Option> option = find_option<Option>(name);
  NVF_USER_CHECK(option.has_value(), "There is no option '", name, "'");
  return has_option(*option);
}

void bind_queries(nb::module_& m) {
  m.def("is_dumped", &holds<DumpOption>, "name"_a, "Whether NVFUSER_DUMP has the option `name`.");
  m.def("is_enabled", &holds<EnableOption>, "name"_a, "Whether `name` is enabled in this thread.");
  m.def(
      "is_disabled", &holds<DisableOption>, "name"_a, "Whether `name` is disabled in this thread.");
}

void bind_capture(nb::module_ internal) {
  internal.def(
      "captured_output",
      [](const nb::callable& function) {
        const OutputCapture capture;
        nb::object result = function();
        return nb::make_tuple(std::move(result), capture.text());
      },
      "function"_a,
      nb::sig(
          "def captured_output(function: collections.abc.Callable[[], typing.Any]) "
          "-> tuple[typing.Any, str]"),
      R"(Call a function, and keep what the core prints for it.

Parameters
----------
function : callable
    Called without arguments.

Returns
-------
tuple
    What the function returns, and what dumps of this thread and of its tasks were, which are not
    printed.
)");
  internal.def(
      "capture_text", &capture_text, "text"_a,
      "Add to the text that `captured_output` collects in this thread; False: none is collected.");
}

} // namespace

void bind_options(nb::module_& m) {
  set_warning_handler(raise_warning);
  set_lower_verbose_arguments([] {
    std::vector<std::string> names;
    for (const Pass<Kernel>& pass : lowering_passes()) {
      names.emplace_back(pass.name);
    }
    return names;
  });
  m.def(
      "call_with_options",
      [](const nb::callable& function, const std::vector<std::string>& enable,
         const std::vector<std::string>& disable) {
        OptionsGuard guard;
        guard.enable(enable);
        guard.disable(disable);
        return function();
      },
      "function"_a, "enable"_a, "disable"_a,
      nb::sig(
          "def call_with_options(function: collections.abc.Callable[[], object], "
          "enable: collections.abc.Sequence[str], "
          "disable: collections.abc.Sequence[str]) -> object"),
      R"(Call a function while options hold, in this thread.

Parameters
----------
function : callable
    Called without arguments.
enable, disable : list[str]
    Options of NVFUSER_ENABLE and NVFUSER_DISABLE, with arguments in parentheses.

Returns
-------
object
    What the function returns.
)");
  bind_queries(m);
  bind_capture(internal_module(m));
}

} // namespace nvfuser::python
