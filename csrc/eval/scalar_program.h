// ScalarProgram: scalar expressions compiled to a list of instructions over numbered registers,
// which computes sizes without the expressions:
//
//   r0, r1: inputs                          i0, i1
//   r2 = 128
//   r3 = ceilDiv(r0, r2)                    ceilDiv(i0, 128)
//   r4 = mul(r3, r1)                        ceilDiv(i0, 128) * i1
//
// It computes what ExpressionEvaluator computes, and says in addition whether an integer left the
// range of its type. There are no jumps: both sides of a selection are computed, and a side that
// has no value only counts where it is taken. Operations on 64-bit integers take about a
// nanosecond; all others go the way of the evaluator.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "eval/scalar_operation.h"
#include "ir/byte_stream.h"

namespace nvfuser {

/// How the value of a register came out, better ones first.
enum class ScalarStatus : uint8_t {
  Known,
  Overflowed,   // known, but it or a part of it was wrapped to the width of its type
  Unknown,      // it depends on an input that is not known
  DivideByZero, // an integer was divided by 0
};
[[nodiscard]] const char* text(ScalarStatus status);

/// A value: an integer, a truth value, or the bits of a double.
struct ScalarRegister {
  int64_t word = 0;
  int64_t imaginary = 0; // the bits of a double; 0 for real numbers
  ScalarStatus status = ScalarStatus::Unknown;

  [[nodiscard]] static ScalarRegister of(int64_t number) {
    return {.word = number, .status = ScalarStatus::Known};
  }
  [[nodiscard]] static ScalarRegister of(const ScalarValue& value);
  /// The value of a register that holds a `dtype`.
  [[nodiscard]] ScalarValue value(DataType dtype) const;
  [[nodiscard]] bool has_value() const {
    return status <= ScalarStatus::Overflowed;
  }
  auto operator<=>(const ScalarRegister&) const = default;
};

class ScalarProgram {
 public:
  /// The number of a register: inputs come first, then the result of every instruction.
  using Register = uint32_t;

  [[nodiscard]] size_t num_inputs() const {
    return num_inputs_;
  }
  [[nodiscard]] size_t num_registers() const {
    return num_inputs_ + instructions_.size();
  }
  /// Fill the registers behind the inputs. Requires: num_registers() of them, inputs filled.
  void run(std::span<ScalarRegister> registers) const;
  /// One line for each instruction; `names` are those of the inputs, as far as they have one.
  [[nodiscard]] std::string to_string(std::span<const std::string> names = {}) const;

  /// Append the program to `bytes`.
  void write(ByteWriter& bytes) const;
  /// Read back what `write` appended. `bytes` keeps the first fault of anything else; a program
  /// without a fault can be run.
  [[nodiscard]] static ScalarProgram read(ByteReader& bytes);

 private:
  friend class ScalarProgramBuilder;
  /// The quick forms have operands and results of 64-bit signed integers and truth values.
  enum class Code : uint8_t {
    Constant, // operand 0 is a position in constants_
    General,  // anything, by `operation`
    Select,
    And,
    Or,
    Not,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    CeilDiv,
    Max,
    Min,
    Eq,
    NE,
    LT,
    LE,
    GT,
    GE,
  };
  struct Instruction {
    Code code = Code::Constant;
    ScalarOperation operation;
    std::array<Register, 3> operands{};
    auto operator<=>(const Instruction&) const = default;
  };
  [[nodiscard]] Instruction read_instruction(ByteReader& bytes) const;
  [[nodiscard]] static Code code_of(const ScalarOperation& operation);
  [[nodiscard]] ScalarRegister run(
      const Instruction& instruction, std::span<const ScalarRegister> registers) const;

  size_t num_inputs_ = 0;
  std::vector<ScalarRegister> constants_;
  std::vector<Instruction> instructions_;
};

/// Makes one program of several expressions, which share what they have in common.
class ScalarProgramBuilder {
 public:
  using Register = ScalarProgram::Register;

  /// The next input is `val`, whatever it would be computed as; nullptr: something no expression
  /// reads. A value that is several inputs is read from the first one. Requires: nothing was added.
  Register add_input(const Val* val);
  /// The next input is what every NamedScalar of that name stands for: "blockDim.x".
  Register add_input(const std::string& text_name);
  /// The register that holds `val`, which is unknown if it depends on anything but inputs. Any
  /// depth of expressions is fine.
  Register add(const Val* val);
  [[nodiscard]] ScalarProgram build() &&;

 private:
  [[nodiscard]] bool find(const Val* val, Register& found) const;
  /// Whether all operands of `val` have registers; pushes those that have none.
  [[nodiscard]] bool has_operands(const Val* val, std::vector<const Val*>& pending) const;
  Register add_computed(const Val* val);
  Register add_constant(const ScalarRegister& value, DataType dtype);
  Register append(const ScalarProgram::Instruction& instruction);

  ScalarProgram program_;
  std::unordered_map<const Val*, Register> registers_;          // only looked up
  std::map<std::string, Register> named_;                       // inputs that are NamedScalars
  std::map<ScalarRegister, Register> constants_;                // positions in constants_
  std::map<ScalarProgram::Instruction, Register> instructions_; // equal ones are computed once
};

} // namespace nvfuser
