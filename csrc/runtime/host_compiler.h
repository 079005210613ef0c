// The host's C++ compiler: CPU kernels to shared objects.
//
// Floating point (the same on both targets): no fast-math; a * b + c is contracted to one FMA, as
// NVRTC does by default, unless NVFUSER_DISABLE=fma; errno is not set and traps are not assumed,
// which changes no result. Integers wrap.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "runtime/kernel_refusal.h"

namespace nvfuser {

/// The compiler failed, not the program: it wrote nothing, the disk is full, it was killed.
/// FusionExecutorCache does then as where there is no compiler.
class CompilerError : public UserError {
 public:
  explicit CompilerError(const ErrorReport& report)
      : UserError(report, ErrorKind::NotImplemented) {}
};

class HostCompiler {
 public:
  /// The compiler: CXX, else the first of c++, g++ and clang++ on PATH; nullptr where there is
  /// none, `reason` says what was tried.
  [[nodiscard]] static const HostCompiler* maybe_get(std::string* reason = nullptr);
  [[nodiscard]] static const HostCompiler& get();
  /// A text that changes when another compiler would be found; nothing is run for it.
  [[nodiscard]] static const std::string& files();

  [[nodiscard]] const std::string& command() const {
    return command_text_;
  }
  /// First line of --version.
  [[nodiscard]] const std::string& version() const {
    return version_;
  }
  /// The options of a compilation now (they follow NVFUSER_DISABLE=fma and the like).
  [[nodiscard]] std::vector<std::string> options() const;
  /// Says no where there is none.
  [[nodiscard]] static std::optional<Refusal> find_missing();
  /// The bytes of a shared object; a refusal where the compiler fails. A UserError where the source
  /// is wrong.
  [[nodiscard]] std::variant<std::string, KernelRefusal> try_compile(
      const std::string& source,
      const std::string& name,
      const std::vector<std::string>& options) const;
  /// The bytes; throws what is refused.
  [[nodiscard]] std::string compile(
      const std::string& source,
      const std::string& name,
      const std::vector<std::string>& options) const;

 private:
  HostCompiler() = default;
  [[nodiscard]] bool find(std::string& reason);
  [[nodiscard]] KernelRefusal refuse_failure(const std::string& what, const std::string& fix) const;

  std::vector<std::string> command_; // program and leading arguments
  std::string command_text_;
  std::string version_;
};

/// The processor's model and features, on which machine code made with -march=native depends.
[[nodiscard]] const std::string& host_cpu_id();

} // namespace nvfuser
