// The user's line: the innermost Python frame outside of this project's packages.
#include "base/source_location.h"
#include "base/source_location_scope.h"

#include <unordered_map>

#include "bindings.h"
#include "gil.h"

namespace nvfuser::python {
namespace {

/// Folders whose frames are skipped, each with a trailing separator. Guarded by the GIL, as is
/// everything in this file.
std::vector<std::string>& hidden_directories() {
  static auto* directories = new std::vector<std::string>;
  return *directories;
}

/// Facts about a file name object: its permanent copy, or nullptr if its frames are
/// skipped. Code objects of one file share the object; the cache owns a reference, so that its
/// address stays the key of this very name.
using FileCache = std::unordered_map<PyObject*, const char*>;

FileCache& file_cache() {
  static auto* cache = new FileCache; // never destroyed: Python may be gone before it
  return *cache;
}

void clear_file_cache() {
  FileCache old;
  old.swap(file_cache());
  for (const auto& [file_name, text] : old) {
    Py_DECREF(file_name);
  }
}

const char* visible_file(PyObject* file_name) {
  // Bounded: programs that compile strings make a new name object each time.
  constexpr size_t kMaxFiles = 4096;
  FileCache& cache = file_cache();
  if (const auto found = cache.find(file_name); found != cache.end()) {
    return found->second;
  }
  const char* text = PyUnicode_AsUTF8AndSize(file_name, nullptr);
  if (text == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  for (const std::string& directory : hidden_directories()) {
    if (std::string_view(text).starts_with(directory)) {
      text = nullptr;
      break;
    }
  }
  if (cache.size() >= kMaxFiles) {
    clear_file_cache();
  }
  Py_INCREF(file_name);
  return cache[file_name] = text == nullptr ? nullptr : intern_string(text);
}

/// An attribute of a frame or of its code, which the stable ABI has no functions for. Names are
/// made once and never given back.
nb::object attribute(nb::handle object, PyObject* name) {
  nb::object value = nb::steal(PyObject_GetAttr(object.ptr(), name));
  if (!value.is_valid()) {
    PyErr_Clear();
  }
  return value;
}

/// The line that a frame is at. Python reads the line table of its code from the start to find it,
/// but one call makes many statements: the last answer is kept, with a reference to its code.
int line_of(nb::handle frame, nb::handle code) {
  struct Answer {
    nb::object code;
    long instruction = -1;
    int line = 0;
  };
  static auto* last = new Answer; // never destroyed: Python may be gone before it
  static PyObject* const kInstruction = PyUnicode_InternFromString("f_lasti");
  const nb::object number = attribute(frame, kInstruction);
  const long instruction = number.is_valid() ? PyLong_AsLong(number.ptr()) : -1;
  if (instruction < 0 || !last->code.is(code) || last->instruction != instruction) {
    const int line = PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame.ptr()));
    *last = {.code = nb::borrow(code), .instruction = instruction, .line = line};
  }
  return last->line;
}

SourceLocation python_location() {
  // Core functions also run on threads that Python does not know, and without the GIL.
  if (!holds_gil()) {
    return {};
  }
  static PyObject* const kCode = PyUnicode_InternFromString("f_code");
  static PyObject* const kFileName = PyUnicode_InternFromString("co_filename");
  static PyObject* const kCaller = PyUnicode_InternFromString("f_back");
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  SourceLocation location;
  while (frame.is_valid() && !frame.is_none()) {
    const nb::object code = attribute(frame, kCode);
    const nb::object file_name = code.is_valid() ? attribute(code, kFileName) : nb::object();
    location.file = file_name.is_valid() ? visible_file(file_name.ptr()) : nullptr;
    if (location.is_known()) {
      location.line = line_of(frame, code);
      return location;
    }
    frame = attribute(frame, kCaller);
  }
  return {};
}

} // namespace

void bind_source_location(nb::module_& m) {
  nb::module_ internal = internal_module(m);
  internal.def(
      "hide_source_directory",
      [](std::string directory) {
        hidden_directories().push_back(std::move(directory) + "/");
        clear_file_cache();
      },
      "directory"_a,
      R"(Attribute statements made by code of a folder to the code that called it.

Parameters
----------
directory : str
    Absolute path of the folder, without a trailing separator.
)");
  internal.def(
      "call_at_line",
      [](const std::string& file, int line, const nb::callable& function) {
        SourceLocation location;
        location.file = intern_string(file.c_str());
        location.line = line;
        const SourceLocationScope scope(location);
        return function();
      },
      "file"_a, "line"_a, "function"_a,
      nb::sig(
          "def call_at_line(file: str, line: int, "
          "function: collections.abc.Callable[[], typing.Any]) -> typing.Any"),
      R"(Call a function whose statements are made at a line of the user's program.

Parameters
----------
file : str
    Its file.
line : int
    Its number, from 1 on.
function : callable
    Called without arguments.
)");
  set_source_location_provider(python_location);
}

} // namespace nvfuser::python
