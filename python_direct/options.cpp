// Options and warnings: what NVFUSER_ENABLE and its like switch on, and what the core warns of.
#include "base/options.h"

#include "base/warnings.h"
#include "bindings.h"

namespace nvfuser::python {
namespace {

/// A Python warning at the user's line; where warnings are errors, the error.
void raise_warning(const std::string& text) {
  const nb::gil_scoped_acquire gil;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) {
    throw nb::python_error();
  }
}

} // namespace

void bind_options(nb::module_& m) {
  set_warning_handler(raise_warning);
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
}

} // namespace nvfuser::python
