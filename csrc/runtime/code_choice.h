// Which code a launch needs, by what lowering found out (CodeFacts): how wide indices are, and
// which axes have to be tested against the launched sizes.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "base/launch_params.h"
#include "eval/scalar_program.h"
#include "runtime/launch_words.h"

namespace nvfuser {

struct CodeChoice {
  DataType index_type = DataType::Int;
  bool has_empty_parallel_axis = false;   // as in LoweringOptions
  std::array<int64_t, 6> least_extents{}; // as in LoweringOptions

  bool operator==(const CodeChoice&) const = default;
};

/// The facts of one fusion on one target, as a program over launch words.
class CodeChooser {
 public:
  /// Requires: `kernel` was lowered to its end.
  CodeChooser(const Kernel& kernel, const LaunchWords& words);

  /// The code for a launch. Its index type is Int32 if `may_be_narrow` and every index lies within
  /// 2^31 - 1 of 0. `constraints` are sizes of the launch that are fixed beforehand. Empty: a size
  /// is divided by 0.
  [[nodiscard]] std::optional<CodeChoice> choose(
      std::span<const ScalarRegister> words,
      const LaunchParams& constraints,
      bool may_be_narrow) const;
  [[nodiscard]] const ScalarProgram& program() const {
    return program_;
  }

  void write(ByteWriter& bytes) const;
  /// Read back what `write` wrote; `bytes` keep the first fault of anything else.
  [[nodiscard]] static CodeChooser read(ByteReader& bytes, const LaunchWords& words);

 private:
  using Register = ScalarProgram::Register;
  CodeChooser() = default;

  ScalarProgram program_;
  Register smallest_index_ = 0;
  Register largest_index_ = 0;
  Register has_empty_axis_ = 0;
  /// In the order of kHardwareTypes; empty: nothing is bound.
  std::array<std::optional<Register>, 6> bound_extents_{};
};

} // namespace nvfuser
