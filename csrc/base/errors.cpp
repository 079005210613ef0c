#include "base/errors.h"

#include <cstdlib>

#if !defined(NDEBUG) && __has_include(<execinfo.h>)
#include <execinfo.h>
#define NVF_HAS_BACKTRACE 1
#endif

namespace nvfuser {
namespace {

/// The C++ stack of a debug build; empty in a release build.
std::string backtrace_text() {
#ifdef NVF_HAS_BACKTRACE
  void* frames[64];
  const int count = backtrace(frames, 64);
  char** symbols = backtrace_symbols(frames, count);
  if (symbols == nullptr) { // no memory
    return "";
  }
  std::string text = "\nC++ stack:\n";
  for (int i = 2; i < count; ++i) { // this function and the constructor tell nothing
    text += std::string("  ") + symbols[i] + "\n";
  }
  std::free(symbols);
  return text;
#else
  return "";
#endif
}

/// "  label:    text", with the following lines of `part` aligned under the first.
void append_line(std::string& out, const char* label, const Part& part) {
  if (part.empty()) {
    return;
  }
  constexpr size_t kColumn = 12;
  std::string head = std::string("\n  ") + label + ":";
  head.resize(kColumn + 1, ' ');
  out += head;
  for (const char c : part.text()) {
    out += c;
    if (c == '\n') {
      out.append(kColumn, ' ');
    }
  }
}

} // namespace

std::string ErrorReport::str() const {
  std::string out = headline.text();
  append_line(out, "node", node);
  append_line(out, "expected", expected);
  append_line(out, "found", found);
  append_line(out, "fix", fix);
  return out;
}

Error::Error(ErrorKind kind, const std::string& text)
    : std::runtime_error(text + backtrace_text()), kind_(kind) {
  error_raised(*this);
}

InternalError::InternalError(const char* file, int line, const char* condition, const Part& message)
    : Error(
          ErrorKind::Internal,
          Part(
              "INTERNAL ASSERT FAILED at ",
              file,
              ":",
              line,
              ", please report a bug with this text. ",
              "Expected ",
              condition,
              " . ",
              message.text())
              .text()) {}

[[gnu::noinline]] void error_raised(const Error& /*error*/) {
  asm volatile(""); // keeps the call, and so the breakpoint, in optimized builds
}

} // namespace nvfuser
