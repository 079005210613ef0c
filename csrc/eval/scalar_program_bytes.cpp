// Scalar programs as bytes: the instructions, without the codes, which follow from them.
//
//   number of inputs
//   constants      count, then of each the word, the imaginary part, and the status
//   instructions   count, then of each
//     0, dtype, position of the constant
//     1 + kind, operation, dtype of the result, then of each operand its dtype and its register
#include <array>
#include <iterator>

#include "eval/scalar_program.h"

namespace nvfuser {
namespace {

constexpr size_t kNumDtypes = std::size(kDataTypeNames);
/// By ScalarOperation::Kind.
constexpr std::array<size_t, 4> kNumOperations = {
    1, std::size(kUnaryOpTypeNames), std::size(kBinaryOpTypeNames), std::size(kTernaryOpTypeNames)};

void write_dtype(ByteWriter& bytes, DataType dtype) {
  bytes.byte(static_cast<uint8_t>(dtype));
}

DataType read_dtype(ByteReader& bytes) {
  return static_cast<DataType>(bytes.number_below(kNumDtypes, "dtype"));
}

} // namespace

void ScalarProgram::write(ByteWriter& bytes) const {
  bytes.number(num_inputs_);
  bytes.number(constants_.size());
  for (const ScalarRegister& constant : constants_) {
    bytes.signed_number(constant.word);
    bytes.signed_number(constant.imaginary);
    bytes.byte(static_cast<uint8_t>(constant.status));
  }
  bytes.number(instructions_.size());
  for (const Instruction& instruction : instructions_) {
    const ScalarOperation& operation = instruction.operation;
    if (instruction.code == Code::Constant) {
      bytes.byte(0);
      write_dtype(bytes, operation.result);
      bytes.number(instruction.operands[0]);
      continue;
    }
    bytes.byte(static_cast<uint8_t>(1 + static_cast<int>(operation.kind)));
    bytes.byte(operation.op);
    write_dtype(bytes, operation.result);
    for (size_t i = 0; i < operation.num_operands(); ++i) {
      write_dtype(bytes, operation.operands[i]);
      bytes.number(instruction.operands[i]);
    }
  }
}

ScalarProgram ScalarProgram::read(ByteReader& bytes) {
  constexpr size_t kMostInputs = size_t{1} << 20; // registers of a run are made for all of them
  ScalarProgram program;
  program.num_inputs_ = bytes.number_below(kMostInputs, "number of inputs");
  for (size_t i = bytes.count(); i > 0; --i) {
    ScalarRegister constant;
    constant.word = bytes.signed_number();
    constant.imaginary = bytes.signed_number();
    constant.status = static_cast<ScalarStatus>(
        bytes.number_below(static_cast<uint64_t>(ScalarStatus::DivideByZero) + 1, "status"));
    program.constants_.push_back(constant);
  }
  for (size_t i = bytes.count(); i > 0 && bytes.is_good(); --i) {
    program.instructions_.push_back(program.read_instruction(bytes));
  }
  return program;
}

/// The next instruction of a program, which reads registers of earlier ones only.
ScalarProgram::Instruction ScalarProgram::read_instruction(ByteReader& bytes) const {
  Instruction instruction;
  ScalarOperation& operation = instruction.operation;
  const uint64_t kind = bytes.number_below(1 + kNumOperations.size(), "kind of instruction");
  if (kind == 0) {
    operation.result = read_dtype(bytes);
    instruction.operands[0] =
        static_cast<Register>(bytes.number_below(constants_.size(), "constant"));
    return instruction;
  }
  operation.kind = static_cast<ScalarOperation::Kind>(kind - 1);
  operation.op = static_cast<uint8_t>(bytes.number_below(kNumOperations.at(kind - 1), "operation"));
  operation.result = read_dtype(bytes);
  for (size_t i = 0; i < operation.num_operands(); ++i) {
    operation.operands.at(i) = read_dtype(bytes);
    instruction.operands.at(i) =
        static_cast<Register>(bytes.number_below(num_registers(), "register"));
  }
  instruction.code = code_of(operation);
  return instruction;
}

} // namespace nvfuser
