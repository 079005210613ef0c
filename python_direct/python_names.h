// The functions of the submodule `ops` that make an expression, by its operation. The names come
// from the tables of csrc/ops: a new row is translated without further work.
#pragma once

#include <string>

#include "ir/expr.h"

namespace nvfuser::python {

/// `fd.ops.add` for the operation of `expr`. An error if no function of a documented name makes it.
[[nodiscard]] std::string function_name(UnaryOpType op, const Expr& expr);
[[nodiscard]] std::string function_name(BinaryOpType op, const Expr& expr);
[[nodiscard]] std::string function_name(TernaryOpType op, const Expr& expr);
/// `fd.ops.sum` for a reduction with `op`.
[[nodiscard]] std::string reduction_name(BinaryOpType op, const Expr& expr);
/// `fd.ops.cumsum` for a scan with `op`.
[[nodiscard]] std::string scan_name(BinaryOpType op, const Expr& expr);

} // namespace nvfuser::python
