// Printed IR: the documented texts of every value and expression.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/statement.h"

namespace nvfuser {

/// `T0_g_float[iS0{i0}]`, `iS0{i0}`, `double(2)`, `i3`.
[[nodiscard]] std::string print_val(const Val* val);
/// `( ceilDiv(i0, 4) )`: a scalar with its computation. Only scalars have such a text.
[[nodiscard]] std::string print_inline(const Val* val);
/// `ceilDiv(i0, 4)`: a scalar expression without its result.
[[nodiscard]] std::string print_inline(const Expr* expr);
/// An axis, `iS6{( ceilDiv(i0, 4) )}`, with other names for the scalars in it.
[[nodiscard]] std::string print_axis(
    const IterDomain* axis, const std::function<std::string(const Val*)>& name_of);
/// A constant as IR text: `4`, `true`, `float(0.5)`.
[[nodiscard]] std::string print_constant(const ScalarValue& value, DataType dtype);
/// The text of an expression, with a newline at its end; `indent` counts levels of two spaces.
[[nodiscard]] std::string print_expr(const Expr* expr, int indent = 0);
/// A list of expressions.
[[nodiscard]] std::string print_exprs(const std::vector<Expr*>& exprs);
/// Statements of a kernel. A scalar that one of them computes is a name up to the end of the scope;
/// one that none computes is printed with its computation.
[[nodiscard]] std::string print_scope(const std::vector<Expr*>& scope, int indent = 0);
/// `a, b, c`
[[nodiscard]] std::string print_list(const std::vector<Val*>& vals);

/// `%kernel { ... } // %kernel`; with `with_transforms` also every tensor's transforms.
[[nodiscard]] std::string print_scheduled(const Fusion& fusion, bool with_transforms);

/// For debuggers: `print nvfuser::debug_string(tv)`. The text lives until the next call on the same
/// thread.
[[gnu::noinline, gnu::used]] const char* debug_string(const Statement* statement);

} // namespace nvfuser
