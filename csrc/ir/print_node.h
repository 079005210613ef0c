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

// ---- What the texts are made of -----------------------------------------------------------------

namespace print_detail {

[[nodiscard]] inline const char* bool_text(bool value) {
  return value ? "true" : "false";
}
/// `True`, where the documented text says it like Python.
[[nodiscard]] inline const char* flag_text(bool value) {
  return value ? "True" : "False";
}
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
