// ExpressionPrinter: values and pointwise operations as C-like expressions.
//
// Names (codegen/names.h). A tensor element is `T0[index]`, a register alone `T4`. A scalar that a
// statement declared, a loop index, a kernel parameter and the size of an input have their names
// (`i3`); any other scalar is printed as the expression that defines it.
//
// Types. An operation is computed in the type of its result (comparisons: of its operands), 16-bit
// floats in float; operands of another type are converted. So a double constant next to float
// tensors is a float.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/counted_draws.h"
#include "codegen/dialect.h"
#include "codegen/literals.h"
#include "codegen/names.h"
#include "codegen/nonnegative_indices.h"
#include "codegen/normal_probabilities.h"
#include "codegen/normalized_powers.h"
#include "codegen/present_elements.h"
#include "codegen/round_trips.h"
#include "codegen/rounded_values.h"
#include "lower/kernel.h"

namespace nvfuser {

/// How tightly the outermost operator of a text binds; a higher one needs no parentheses inside a
/// lower one.
enum class Precedence : uint8_t {
  Conditional,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relational,
  Shift,
  Sum,
  Product,
  Unary,
  Primary
};

struct Text {
  std::string text;
  Precedence precedence = Precedence::Primary;

  /// In parentheses if it binds less than `least`.
  [[nodiscard]] std::string within(Precedence least) const {
    return precedence < least ? "(" + text + ")" : text;
  }
  /// As an argument or the right side of an assignment.
  [[nodiscard]] const std::string& str() const {
    return text;
  }
};

class ExpressionPrinter {
 public:
  ExpressionPrinter(const Kernel& kernel, Dialect& dialect);

  // -- names --

  /// From now on `val` is printed as `text`, until `close_scope`.
  void define(const Val* val, const std::string& text);
  [[nodiscard]] size_t open_scope() const {
    return order_.size();
  }
  void close_scope(size_t mark);
  /// `T4` is a variable instead of an array.
  void define_as_variable(const TensorView* view) {
    variables_.insert(view);
  }
  [[nodiscard]] bool is_variable(const TensorView* view) const {
    return variables_.count(view) != 0;
  }
  /// Nothing writes the global memory of `view` while the kernel runs.
  void define_as_read_only(const TensorView* view) {
    read_only_.insert(view);
  }
  [[nodiscard]] bool is_read_only(const TensorView* view) const {
    return read_only_.count(view) != 0;
  }
  /// The C type of the elements of a tensor in registers.
  [[nodiscard]] std::string element_type(const TensorView* view) const {
    return counted_.contains(view) ? "uint32_t" : c_type(view->dtype());
  }
  /// Whether no statement that is printed reads what this one makes.
  [[nodiscard]] bool leaves_unread(const Expr& statement) const {
    return normalized_.leaves_unread(statement) || normal_.leaves_unread(statement) ||
           round_trips_.leaves_unread(statement);
  }
  /// Whether exponentials about these maxima are printed with a factor (normalized_powers.h).
  [[nodiscard]] bool have_factor(const TensorView* maxima) const {
    return normalized_.have_factor(maxima);
  }
  [[nodiscard]] const KernelNames& names() const {
    return names_;
  }
  /// Sizes of inputs that were printed so far, by the number of their name.
  [[nodiscard]] const std::map<int64_t, const SizeSource*>& used_sizes() const {
    return used_sizes_;
  }

  /// Whether what is printed is read under a condition that its use is not under, and both stand in
  /// one iteration of a loop once a compiler has unrolled the loops in it. See ConditionalReads.
  [[nodiscard]] bool is_conditional() const {
    return is_conditional_;
  }

  // -- texts --

  /// A value in its own type.
  [[nodiscard]] Text value(const Val* val);
  /// The element that a statement writes.
  [[nodiscard]] Text destination(const Val* out);
  /// The element that is chosen where `condition` holds, and anything where not, read without a
  /// branch. Empty: it is no element of memory that nothing writes, or the language has no such
  /// read.
  [[nodiscard]] std::string choice_where(const std::string& condition, const ChosenElement& op);
  /// Where `lanes` neighbours of an operand lie, the first of which it is.
  [[nodiscard]] std::string address(const Val* val, int64_t lanes, bool is_written);
  /// A value converted to `type`. `exact_type`: for constants, see `literal`.
  [[nodiscard]] Text value_as(const Val* val, DataType type, bool exact_type = false);
  /// The right side of a pointwise statement, in the type of its result.
  [[nodiscard]] Text result(const Expr* expr);
  /// `a op b` on operands that have type `type` already.
  [[nodiscard]] Text binary(BinaryOpType op, const Text& lhs, const Text& rhs, DataType type) const;
  /// `cast<to>(text)`, or the text where the C types are equal.
  [[nodiscard]] Text cast(const Text& text, DataType from, DataType to) const;
  [[nodiscard]] bool same_c_type(DataType a, DataType b) const;

 private:
  friend class ConditionalReads;
  [[nodiscard]] Text element(const TensorIndex* element, bool is_written);
  [[nodiscard]] Text read_element(const TensorIndex* element);
  /// An element as a Float, read from its word; no value: it is not read so.
  [[nodiscard]] std::optional<Text> unpacked(const Val* val);
  [[nodiscard]] Text scalar(const Val* val);
  [[nodiscard]] Text unary(const UnaryOp& op);
  /// The faster function that may compute `op`; empty: none.
  [[nodiscard]] std::string approximate_function(const UnaryOp& op) const;
  [[nodiscard]] Text unary_call(UnaryOpType op, const Text& arg, DataType type) const;
  [[nodiscard]] Text binary(const BinaryOp& op);
  /// A comparison of what was drawn with a constant; no value: `lhs` is no such number.
  [[nodiscard]] std::optional<Text> counted_comparison(const BinaryOp& op);
  [[nodiscard]] Text power(const BinaryOp& op, DataType type);
  [[nodiscard]] Text ternary(const TernaryOp& op);
  [[nodiscard]] Text random(const RandomElement& op);
  [[nodiscard]] Text choice(const ChosenElement& op);
  [[nodiscard]] Text choice_among(
      const ChosenElement& op,
      size_t first,
      size_t end,
      const std::function<Text(const Val*)>& text_of,
      const std::string& select = "");
  /// A call of the function `select`.
  [[nodiscard]] Text selection(
      const std::string& select,
      DataType type,
      const Text& condition,
      const Text& a,
      const Text& b) const;
  /// Whether all values are elements of tensors of `type` in memory that has addresses.
  [[nodiscard]] bool has_addresses(const std::vector<Val*>& values, DataType type) const;
  [[nodiscard]] bool are_read_only(const std::vector<Val*>& elements) const;
  [[nodiscard]] std::string chosen_element(const ChosenElement& op);

  const Kernel& kernel_;
  Dialect& dialect_;
  const KernelNames names_;
  const RoundedValues rounded_;
  const NormalizedPowers normalized_;
  const NormalProbabilities normal_;
  const RoundTrips round_trips_;
  const CountedDraws counted_;
  NonnegativeIndices nonnegative_;
  const PresentElements present_;
  std::unordered_map<const Val*, std::string> defined_;
  std::vector<const Val*> order_; // of definitions
  std::set<const TensorView*> variables_;
  std::set<const TensorView*> read_only_;
  std::unordered_map<const Val*, const SizeSource*> sizes_;
  std::map<int64_t, const SizeSource*> used_sizes_;
  bool is_conditional_ = false;
  int64_t lanes_ = 1; // elements that an operand stands for, while an address is printed
};

/// While it lives, what is printed is read under a condition, or not.
class ConditionalReads {
 public:
  ConditionalReads(ExpressionPrinter& expressions, bool is_conditional)
      : flag_(expressions.is_conditional_), before_(std::exchange(flag_, is_conditional)) {}
  ~ConditionalReads() {
    flag_ = before_;
  }
  ConditionalReads(const ConditionalReads&) = delete;
  ConditionalReads& operator=(const ConditionalReads&) = delete;

 private:
  bool& flag_;
  const bool before_;
};

} // namespace nvfuser
