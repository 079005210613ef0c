#include "eval/scalar_program.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <sstream>

#include "base/errors.h"
#include "ir/pointwise.h"

namespace nvfuser {
namespace {

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

bool is_word(DataType type) { // integers that a register holds as they are
  return type == DataType::Int || type == DataType::Index;
}

/// The status of a result that needs both operands, the left one first.
ScalarStatus combine(const ScalarRegister& a, const ScalarRegister& b) {
  return !a.has_value() ? a.status : std::max(a.status, b.status);
}

ScalarRegister wrapped(int64_t word, bool is_wrapped) {
  return {.word = word, .status = is_wrapped ? ScalarStatus::Overflowed : ScalarStatus::Known};
}

/// Truncating division, as in C; the quotient of the smallest number and -1 wraps.
template <typename Result>
ScalarRegister divide(int64_t a, int64_t b, bool is_quotient, const Result& result) {
  if (b == 0) {
    return {.status = ScalarStatus::DivideByZero};
  }
  if (b == -1) {
    return is_quotient ? wrapped(static_cast<int64_t>(-static_cast<uint64_t>(a)), a == kSmallest)
                       : ScalarRegister::of(0);
  }
  return ScalarRegister::of(result(a / b, a % b));
}

/// Operations on registers that the evaluator computes in its own way.
ScalarRegister run_general(
    const ScalarOperation& operation, const std::array<const ScalarRegister*, 3>& registers) {
  std::array<ScalarValue, 3> operands;
  ScalarStatus status = ScalarStatus::Known;
  for (size_t i = 0; i < operation.num_operands(); ++i) {
    if (operation.is_select() && i > 0 && (i == 1) != as_bool(operands[0])) {
      continue;
    }
    if (!registers[i]->has_value()) {
      return {.status = registers[i]->status};
    }
    operands[i] = registers[i]->value(operation.operands[i]);
    status = std::max(status, registers[i]->status);
    if (const auto decided = i == 0 ? decided_by(operation, operands[0]) : std::nullopt) {
      return {.word = *decided ? 1 : 0, .status = status};
    }
  }
  if (divides_by_zero(operation, operands)) {
    return {.status = ScalarStatus::DivideByZero};
  }
  const ScalarValue value = compute(operation, operands);
  if (!nvfuser::has_value(value)) {
    return {.status = ScalarStatus::Unknown};
  }
  ScalarRegister result = ScalarRegister::of(value);
  result.status = overflows(operation, operands) ? ScalarStatus::Overflowed : status;
  return result;
}

} // namespace

const char* text(ScalarStatus status) {
  switch (status) {
    case ScalarStatus::Known: return "known";
    case ScalarStatus::Overflowed: return "overflowed";
    case ScalarStatus::Unknown: return "unknown";
    case ScalarStatus::DivideByZero: return "divided by zero";
  }
  return "";
}

ScalarRegister ScalarRegister::of(const ScalarValue& value) {
  if (!nvfuser::has_value(value)) {
    return {};
  }
  ScalarRegister result{.status = ScalarStatus::Known};
  if (const auto* real = std::get_if<double>(&value)) {
    result.word = std::bit_cast<int64_t>(*real);
  } else if (const auto* number = std::get_if<std::complex<double>>(&value)) {
    result.word = std::bit_cast<int64_t>(number->real());
    result.imaginary = std::bit_cast<int64_t>(number->imag());
  } else {
    result.word = as_int(value);
  }
  return result;
}

ScalarValue ScalarRegister::value(DataType dtype) const {
  if (is_integral(dtype)) {
    return word;
  }
  if (is_boolean(dtype)) {
    return word != 0;
  }
  const auto real = std::bit_cast<double>(word);
  return is_complex(dtype)
             ? ScalarValue(std::complex<double>(real, std::bit_cast<double>(imaginary)))
             : ScalarValue(real);
}

// ---- Running ------------------------------------------------------------------------------------

void ScalarProgram::run(std::span<ScalarRegister> registers) const {
  NVF_INVARIANT(registers.size() == num_registers(), "one for each input and instruction");
  size_t next = num_inputs_;
  for (const Instruction& instruction : instructions_) {
    registers[next++] = run(instruction, registers);
  }
}

ScalarRegister ScalarProgram::run(
    const Instruction& instruction, std::span<const ScalarRegister> registers) const {
  if (instruction.code == Code::Constant) {
    return constants_[instruction.operands[0]];
  }
  const ScalarRegister& a = registers[instruction.operands[0]];
  const ScalarRegister& b = registers[instruction.operands[1]];
  const ScalarRegister& c = registers[instruction.operands[2]];
  if (instruction.code == Code::General) {
    return run_general(instruction.operation, {&a, &b, &c});
  }
  const auto known = [](bool value) { return ScalarRegister::of(int64_t{value}); };
  ScalarRegister result;
  switch (instruction.code) { // those that do not need all operands
    case Code::Select:
      result = !a.has_value() ? a : a.word != 0 ? b : c;
      result.status = result.has_value() ? std::max(result.status, a.status) : result.status;
      return result;
    case Code::And:
    case Code::Or:
      if (!a.has_value() || (a.word != 0) == (instruction.code == Code::Or)) {
        return {.word = a.word != 0 ? 1 : 0, .status = a.status};
      }
      return {.word = b.word != 0 ? 1 : 0, .status = combine(a, b)};
    case Code::Not: return {.word = a.word == 0 ? 1 : 0, .status = a.status};
    default: break;
  }
  const ScalarStatus status = combine(a, b);
  if (status > ScalarStatus::Overflowed) {
    return {.status = status};
  }
  int64_t word = 0;
  switch (instruction.code) {
    case Code::Add: {
      const bool wraps = __builtin_add_overflow(a.word, b.word, &word);
      result = wrapped(word, wraps);
      break;
    }
    case Code::Sub: {
      const bool wraps = __builtin_sub_overflow(a.word, b.word, &word);
      result = wrapped(word, wraps);
      break;
    }
    case Code::Mul: {
      const bool wraps = __builtin_mul_overflow(a.word, b.word, &word);
      result = wrapped(word, wraps);
      break;
    }
    case Code::Div:
      result = divide(a.word, b.word, true, [](int64_t quotient, int64_t) { return quotient; });
      break;
    case Code::Mod:
      result = divide(a.word, b.word, false, [](int64_t, int64_t rest) { return rest; });
      break;
    case Code::CeilDiv:
      result = divide(a.word, b.word, true, [&](int64_t quotient, int64_t rest) {
        return quotient + (rest != 0 && (rest > 0) == (b.word > 0) ? 1 : 0);
      });
      break;
    case Code::Max: result = ScalarRegister::of(std::max(a.word, b.word)); break;
    case Code::Min: result = ScalarRegister::of(std::min(a.word, b.word)); break;
    case Code::Eq: result = known(a.word == b.word); break;
    case Code::NE: result = known(a.word != b.word); break;
    case Code::LT: result = known(a.word < b.word); break;
    case Code::LE: result = known(a.word <= b.word); break;
    case Code::GT: result = known(a.word > b.word); break;
    case Code::GE: result = known(a.word >= b.word); break;
    default: break;
  }
  result.status = std::max(result.status, status);
  return result;
}

// ---- Printing -----------------------------------------------------------------------------------

namespace {

const char* name_of(const ScalarOperation& operation) {
  switch (operation.kind) {
    case ScalarOperation::Kind::Copy: return "set";
    case ScalarOperation::Kind::Unary: return enum_name(static_cast<UnaryOpType>(operation.op));
    case ScalarOperation::Kind::Binary: return enum_name(static_cast<BinaryOpType>(operation.op));
    case ScalarOperation::Kind::Ternary: return enum_name(static_cast<TernaryOpType>(operation.op));
  }
  return "";
}

std::string constant_text(const ScalarRegister& constant, DataType dtype) {
  if (!constant.has_value()) {
    return text(constant.status);
  }
  std::ostringstream out;
  out << std::boolalpha;
  std::visit(
      [&](const auto& number) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(number)>, std::monostate>) {
          out << number;
        }
      },
      constant.value(dtype));
  return out.str();
}

} // namespace

std::string ScalarProgram::to_string(std::span<const std::string> names) const {
  const auto name = [&](Register number) {
    const bool has_name = number < num_inputs_ && number < names.size() && !names[number].empty();
    return has_name ? names[number] : "r" + std::to_string(number);
  };
  std::string out;
  size_t next = num_inputs_;
  for (const Instruction& instruction : instructions_) {
    const ScalarOperation& operation = instruction.operation;
    out += "r" + std::to_string(next++) + " = ";
    if (instruction.code == Code::Constant) {
      out += constant_text(constants_[instruction.operands[0]], operation.result) + "\n";
      continue;
    }
    const bool is_cast = operation.kind == ScalarOperation::Kind::Unary &&
                         operation.op == static_cast<uint8_t>(UnaryOpType::Cast);
    out += is_cast ? text(operation.result) : name_of(operation);
    for (size_t i = 0; i < operation.num_operands(); ++i) {
      out += (i == 0 ? "(" : ", ") + name(instruction.operands[i]);
    }
    out += ")\n";
  }
  return out;
}

// ---- Building -----------------------------------------------------------------------------------

ScalarProgram::Code ScalarProgram::code_of(const ScalarOperation& operation) {
  const auto is_truth = [](DataType type) { return is_boolean(type) || is_word(type); };
  const auto& [a, b, c] = operation.operands;
  if (operation.is_select()) {
    const bool is_copy = b == operation.result && c == operation.result;
    return is_copy && is_truth(a) ? Code::Select : Code::General;
  }
  const bool is_bool = is_boolean(operation.result);
  if (operation.kind == ScalarOperation::Kind::Unary) {
    const bool is_not = operation.op == static_cast<uint8_t>(UnaryOpType::LogicalNot);
    return is_not && is_bool && is_truth(a) ? Code::Not : Code::General;
  }
  if (operation.kind != ScalarOperation::Kind::Binary || !is_truth(a) || !is_truth(b)) {
    return Code::General;
  }
  const bool are_words = is_word(a) && is_word(b);
  const bool is_arithmetic = are_words && is_word(operation.result);
  const bool compares = are_words && is_bool;
  switch (static_cast<BinaryOpType>(operation.op)) {
    case BinaryOpType::LogicalAnd: return is_bool ? Code::And : Code::General;
    case BinaryOpType::LogicalOr: return is_bool ? Code::Or : Code::General;
    case BinaryOpType::Add: return is_arithmetic ? Code::Add : Code::General;
    case BinaryOpType::Sub: return is_arithmetic ? Code::Sub : Code::General;
    case BinaryOpType::Mul: return is_arithmetic ? Code::Mul : Code::General;
    case BinaryOpType::Div: return is_arithmetic ? Code::Div : Code::General;
    case BinaryOpType::Mod: return is_arithmetic ? Code::Mod : Code::General;
    case BinaryOpType::CeilDiv: return is_arithmetic ? Code::CeilDiv : Code::General;
    case BinaryOpType::Max: return is_arithmetic ? Code::Max : Code::General;
    case BinaryOpType::Min: return is_arithmetic ? Code::Min : Code::General;
    case BinaryOpType::Eq: return compares ? Code::Eq : Code::General;
    case BinaryOpType::NE: return compares ? Code::NE : Code::General;
    case BinaryOpType::LT: return compares ? Code::LT : Code::General;
    case BinaryOpType::LE: return compares ? Code::LE : Code::General;
    case BinaryOpType::GT: return compares ? Code::GT : Code::General;
    case BinaryOpType::GE: return compares ? Code::GE : Code::General;
    default: return Code::General;
  }
}

ScalarProgramBuilder::Register ScalarProgramBuilder::add_input(const Val* val) {
  NVF_INVARIANT(program_.instructions_.empty(), "inputs come before instructions");
  const auto number = static_cast<Register>(program_.num_inputs_++);
  if (val != nullptr) {
    registers_.try_emplace(val, number);
  }
  return number;
}

ScalarProgramBuilder::Register ScalarProgramBuilder::add_input(const std::string& text_name) {
  const Register number = add_input(nullptr);
  named_.try_emplace(text_name, number);
  return number;
}

ScalarProgramBuilder::Register ScalarProgramBuilder::add(const Val* root) {
  std::vector<const Val*> pending{root};
  Register found = 0;
  while (!pending.empty()) {
    const Val* val = pending.back();
    if (!find(val, found) && has_operands(val, pending)) {
      found = add_computed(val);
      registers_.emplace(val, found);
    }
    if (pending.back() == val) {
      pending.pop_back();
    }
  }
  return registers_.at(root);
}

bool ScalarProgramBuilder::find(const Val* val, Register& found) const {
  const auto known = registers_.find(val);
  if (known != registers_.end()) {
    found = known->second;
  }
  return known != registers_.end();
}

bool ScalarProgramBuilder::has_operands(const Val* val, std::vector<const Val*>& pending) const {
  if (val->is_const() || !operation_of(val)) {
    return true;
  }
  const size_t before = pending.size();
  for (const Val* operand : val->definition()->inputs()) {
    if (!registers_.contains(operand)) {
      pending.push_back(operand);
    }
  }
  return pending.size() == before;
}

ScalarProgramBuilder::Register ScalarProgramBuilder::add_computed(const Val* val) {
  if (val->is_const()) {
    return add_constant(ScalarRegister::of(val->value()), val->dtype());
  }
  if (val->vtype() == ValType::NamedScalar) {
    const auto named = named_.find(static_cast<const NamedScalar*>(val)->text_name());
    if (named != named_.end()) {
      return named->second;
    }
  }
  const std::optional<ScalarOperation> operation = operation_of(val);
  if (!operation) {
    return add_constant(ScalarRegister(), val->dtype());
  }
  const std::vector<Val*>& inputs = val->definition()->inputs();
  if (operation->kind == ScalarOperation::Kind::Copy &&
      operation->operands[0] == operation->result) {
    return registers_.at(inputs.front());
  }
  ScalarProgram::Instruction instruction{
      .code = ScalarProgram::code_of(*operation), .operation = *operation};
  for (size_t i = 0; i < operation->num_operands(); ++i) {
    instruction.operands[i] = registers_.at(inputs[i]);
  }
  return append(instruction);
}

ScalarProgramBuilder::Register ScalarProgramBuilder::add_constant(
    const ScalarRegister& value, DataType dtype) {
  const auto [position, is_new] =
      constants_.try_emplace(value, static_cast<Register>(program_.constants_.size()));
  if (is_new) {
    program_.constants_.push_back(value);
  }
  ScalarProgram::Instruction instruction;
  instruction.operation.result = dtype;
  instruction.operands[0] = position->second;
  return append(instruction);
}

ScalarProgramBuilder::Register ScalarProgramBuilder::append(
    const ScalarProgram::Instruction& instruction) {
  const auto [position, is_new] =
      instructions_.try_emplace(instruction, static_cast<Register>(program_.num_registers()));
  if (is_new) {
    program_.instructions_.push_back(instruction);
  }
  return position->second;
}

ScalarProgram ScalarProgramBuilder::build() && {
  return std::move(program_);
}

} // namespace nvfuser
