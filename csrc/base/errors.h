// Errors: what was wrong, with which node, what was expected, what was found, what to do.
//
//   throw UserError({
//       .headline = {"split: axis out of range"},
//       .node = describe(*this),
//       .expected = {"axis in [", -rank, ", ", rank, ")"},
//       .found = {"axis = ", axis},
//       .fix = {"axes count after earlier transforms; print the tensor to see its loop domain"},
//   });
//
// An error is thrown where its check fails, so `catch throw` in gdb stops there with the whole
// stack. Every error also passes through `error_raised`: break on that one function to see all.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace nvfuser {

/// One part of a report: text put together from printable pieces. It has no default constructor,
/// so that leaving out a part of a report does not compile; an empty part is written
/// `Part::none()`.
class Part {
 public:
  template <typename... Pieces>
    requires(sizeof...(Pieces) > 0)
  Part(const Pieces&... pieces) { // NOLINT(google-explicit-constructor): reads as a list
    std::ostringstream out;
    out << std::boolalpha;
    (out << ... << pieces);
    text_ = out.str();
  }

  [[nodiscard]] static Part none() {
    return Part("");
  }
  [[nodiscard]] const std::string& text() const {
    return text_;
  }
  [[nodiscard]] bool empty() const {
    return text_.empty();
  }

 private:
  std::string text_;
};

struct ErrorReport {
  Part headline; // the rule that was broken; texts fixed by the public API stand here verbatim
  Part node;     // the statement it was broken with, and the line that made it
  Part expected;
  Part found;
  Part fix; // the way out

  [[nodiscard]] std::string str() const;
};

/// Which Python exception an error becomes; all of them derive from RuntimeError there.
enum class ErrorKind { Runtime, Value, Type, Index, NotImplemented, Internal };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text);
  [[nodiscard]] ErrorKind kind() const {
    return kind_;
  }

 private:
  ErrorKind kind_;
};

/// The user's program is wrong.
class UserError : public Error {
 public:
  explicit UserError(const ErrorReport& report, ErrorKind kind = ErrorKind::Runtime)
      : Error(kind, report.str()) {}
  /// For rules that say everything in their headline.
  explicit UserError(const Part& headline, ErrorKind kind = ErrorKind::Runtime)
      : Error(kind, headline.text()) {}
};

/// This program is wrong: a bug to report.
class InternalError : public Error {
 public:
  InternalError(const char* file, int line, const char* condition, const Part& message);
};

/// Called once for every error before it is thrown. Not inlined: the breakpoint to know.
void error_raised(const Error& error);

} // namespace nvfuser

/// Check an invariant of the compiler itself. The message says what should hold.
#define NVF_INVARIANT(condition, ...)                                    \
  do {                                                                   \
    if (!(condition)) {                                                  \
      throw ::nvfuser::InternalError(                                    \
          __FILE__, __LINE__, #condition, ::nvfuser::Part{__VA_ARGS__}); \
    }                                                                    \
  } while (false)

/// Check a rule of the user's program that needs no more than a headline.
#define NVF_USER_CHECK(condition, ...)                          \
  do {                                                          \
    if (!(condition)) {                                         \
      throw ::nvfuser::UserError(::nvfuser::Part{__VA_ARGS__}); \
    }                                                           \
  } while (false)
