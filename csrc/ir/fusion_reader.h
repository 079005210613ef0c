// Reads the body of a serialized fusion: everything behind its head (ir/serialized_form.h).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/byte_stream.h"
#include "ir/fusion.h"

namespace nvfuser {

/// Makes the statements that bytes from anywhere say. A statement is made of earlier ones only, is
/// of the kind that its place asks for, and has one definition, which stands before all that reads
/// it: so no value depends on itself. `find_fault` checks what fields mean together.
class FusionReader {
 public:
  explicit FusionReader(std::span<const std::byte> body);
  /// The fusion, or nullptr: then `fault` says what was wrong.
  [[nodiscard]] std::shared_ptr<Fusion> read();
  [[nodiscard]] const std::string& fault() const {
    return in_.fault();
  }
  /// How many bytes were read.
  [[nodiscard]] size_t position() const {
    return in_.position();
  }

 private:
  struct Record {
    Statement* statement = nullptr;
    bool is_input = false;      // of the fusion
    bool is_referenced = false; // by a later statement
    bool is_defined = false;    // by an expression
  };
  struct Output {
    size_t number = 0;
    size_t aliased = 0; // the input, 0: none
    bool is_hidden = false;
  };

  void read_interface();
  void read_record();
  void read_val(ValType vtype);
  void read_scalar();
  void read_hardware_index();
  void read_axis();
  void read_domain();
  void read_tensor();
  void read_expr(ExprKind kind);
  template <typename Node>
  void read_node();
  /// The results of an expression are values that nothing has read yet, unless they are inputs.
  void check_outputs(const std::vector<size_t>& outputs);
  void add_inputs();
  void add_outputs();
  void read_schedules();

  [[nodiscard]] DataType read_dtype();
  /// The position of an earlier statement that can be a `T`; 0: none.
  template <typename T>
  size_t read_position(bool is_optional);
  /// Reads `value`; statements in it are referenced.
  template <typename T>
  void read_fields(T& value, bool is_optional = false);
  void add(Statement* statement) {
    records_.push_back({.statement = statement, .is_input = is_input_[records_.size() + 1]});
  }
  [[nodiscard]] Record& record(size_t number) {
    return records_[number - 1];
  }

  ByteReader in_;
  std::shared_ptr<Fusion> fusion_;
  size_t num_statements_ = 0;
  std::vector<Record> records_;
  std::vector<size_t> inputs_; // positions
  std::vector<bool> is_input_; // by position
  std::vector<Output> outputs_;
  std::vector<TensorView*> tensors_;
};

} // namespace nvfuser
