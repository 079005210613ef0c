// Texts of expressions, one `print_node` for each kind of node. Three forms:
//
//   two lines   T1_l_float[iS2{i0}]          expressions that make a tensor
//                  = expf(T0_g_float[iS0{i0}]);
//   one line    i3 = ceilDiv(i0, 4);         expressions on scalars and on elements of tensors
//   block       FOR i7 in iS6{4}:            kernel statements that hold others
#pragma once

#include <string>
#include <vector>

#include "ir/all_nodes.h"
#include "ir/print.h"

namespace nvfuser {

#define NVF_PRINT_NODE(Node) [[nodiscard]] std::string print_node(const Node& expr);
NVF_FOR_EACH_EXPR(NVF_PRINT_NODE)
#undef NVF_PRINT_NODE

// ---- Parts of the texts
// --------------------------------------------------------------------------

namespace print_detail {

[[nodiscard]] inline const char* bool_text(bool value) {
  return value ? "true" : "false";
}
/// `True`, where the documented text says it like Python.
[[nodiscard]] inline const char* flag_text(bool value) {
  return value ? "True" : "False";
}
/// The scalars that are names where the text of a kernel has got to. Scopes are nested; outside of
/// them every scalar operand prints as its name.
class NamedScalars {
 public:
  /// A scope: what is added in it is forgotten at its end.
  NamedScalars();
  ~NamedScalars();
  NamedScalars(const NamedScalars&) = delete;
  NamedScalars& operator=(const NamedScalars&) = delete;

  /// The scalars that a statement computes are names from here on.
  static void add(const Expr& statement);
  /// Whether `val` is an operand that prints with its computation.
  [[nodiscard]] static bool is_spelled_out(const Val* val);
  /// Whether `val` is a name in this place of a kernel.
  [[nodiscard]] static bool contains(const Val* val);

 private:
  size_t begin_;
};

/// Statements as a part of the scope around them: a loop that is bound to hardware is none.
[[nodiscard]] std::string print_in_scope(const std::vector<Expr*>& statements, int indent);

[[nodiscard]] std::string str(const Val* val);
[[nodiscard]] std::string inline_or(const Val* val, const char* absent);
/// Has the expression the two-line form?
[[nodiscard]] bool is_tensor_op(const Val* out);
/// `OUT` and the text of its computation, in the form that the output asks for.
[[nodiscard]] std::string assign(const Val* out, const std::string& computation);
/// Between the operands of a call: tensors stand on lines of their own.
[[nodiscard]] std::string comma(const Val* out);
/// `{true, false}`
[[nodiscard]] std::string flags_text(const std::vector<bool>& flags);
/// `{x, y}`: dimensions 0, 1, 2 by their letters.
[[nodiscard]] std::string dims_text(const std::vector<int64_t>& dims);

} // namespace print_detail

} // namespace nvfuser
