#include "runtime/code_choice.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace nvfuser {

CodeChooser::CodeChooser(const Kernel& kernel, const LaunchWords& words) {
  ScalarProgramBuilder builder = words.builder(kernel);
  const CodeFacts& facts = kernel.launch.code;
  smallest_index_ = builder.add(facts.smallest_index);
  largest_index_ = builder.add(facts.largest_index);
  has_empty_axis_ = builder.add(facts.has_empty_axis);
  for (const ParallelType type : kHardwareTypes) {
    if (const Val* extent = facts.bound_extents[type]) {
      bound_extents_[hardware_type_index(type)] = builder.add(extent);
    }
  }
  program_ = std::move(builder).build();
}

void CodeChooser::write(ByteWriter& bytes) const {
  program_.write(bytes);
  for (const Register value : {smallest_index_, largest_index_, has_empty_axis_}) {
    bytes.number(value);
  }
  for (const std::optional<Register>& extent : bound_extents_) {
    bytes.number(extent ? uint64_t{1} + *extent : 0);
  }
}

CodeChooser CodeChooser::read(ByteReader& bytes, const LaunchWords& words) {
  CodeChooser chooser;
  chooser.program_ = ScalarProgram::read(bytes);
  if (chooser.program_.num_inputs() != words.count()) {
    bytes.fail("a program over other launch words");
  }
  const size_t num_registers = chooser.program_.num_registers();
  for (Register* value :
       {&chooser.smallest_index_, &chooser.largest_index_, &chooser.has_empty_axis_}) {
    *value = static_cast<Register>(bytes.number_below(num_registers, "register"));
  }
  for (std::optional<Register>& extent : chooser.bound_extents_) {
    if (const uint64_t value = bytes.number_below(1 + num_registers, "register"); value > 0) {
      extent = static_cast<Register>(value - 1);
    }
  }
  return chooser;
}

std::optional<CodeChoice> CodeChooser::choose(
    std::span<const ScalarRegister> words,
    const LaunchParams& constraints,
    bool may_be_narrow) const {
  std::vector<ScalarRegister> registers(program_.num_registers());
  std::ranges::copy(words, registers.begin());
  program_.run(registers);
  const ScalarRegister& smallest = registers[smallest_index_];
  const ScalarRegister& largest = registers[largest_index_];
  const ScalarRegister& is_empty = registers[has_empty_axis_];
  for (const ScalarRegister* found : {&smallest, &largest, &is_empty}) {
    if (found->status == ScalarStatus::DivideByZero) {
      return std::nullopt;
    }
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const bool is_narrow = smallest.status == ScalarStatus::Known && smallest.word >= -kMost &&
                         largest.status == ScalarStatus::Known && largest.word <= kMost;
  CodeChoice choice;
  choice.index_type = may_be_narrow && is_narrow ? DataType::Int32 : DataType::Int;
  choice.has_empty_parallel_axis = is_empty.word != 0;
  for (const ParallelType type : kHardwareTypes) {
    const size_t dim = hardware_type_index(type);
    // A size that constraints alone say is as large as they say.
    const ScalarRegister bound =
        bound_extents_[dim] ? registers[*bound_extents_[dim]] : ScalarRegister::of(1);
    const bool is_oversized =
        bound.has_value() && constraints.get(type) > std::max<int64_t>(bound.word, 1);
    choice.least_extents[dim] = is_oversized ? constraints.get(type) : 0;
  }
  return choice;
}

} // namespace nvfuser
