// Scalar arithmetic that folds: constants are computed, neutral elements vanish. Extents, factors
// and indices are made with these, so that printed text stays small. Statements that a user writes
// with `ops` are never folded.
//
// Rules that hold for every value of the operands only; sizes are >= 0, not >= 1. Division and
// remainder truncate, as in C.
#pragma once

#include "ir/statement.h"

namespace nvfuser::scalar {

[[nodiscard]] Val* add(Val* a, Val* b);
[[nodiscard]] Val* sub(Val* a, Val* b);
[[nodiscard]] Val* mul(Val* a, Val* b);
[[nodiscard]] Val* div(Val* a, Val* b);
[[nodiscard]] Val* mod(Val* a, Val* b);
[[nodiscard]] Val* ceil_div(Val* a, Val* b);
[[nodiscard]] Val* max(Val* a, Val* b);
[[nodiscard]] Val* min(Val* a, Val* b);
[[nodiscard]] Val* bitwise_xor(Val* a, Val* b);
[[nodiscard]] Val* neg(Val* a);
[[nodiscard]] Val* lt(Val* a, Val* b);
[[nodiscard]] Val* le(Val* a, Val* b);
[[nodiscard]] Val* ge(Val* a, Val* b);
[[nodiscard]] Val* eq(Val* a, Val* b);
/// nullptr operands count as true.
[[nodiscard]] Val* logical_and(Val* a, Val* b);
[[nodiscard]] Val* logical_or(Val* a, Val* b);
[[nodiscard]] Val* logical_not(Val* a);
[[nodiscard]] Val* where(Val* condition, Val* a, Val* b);
/// `a` as `dtype`; `a` itself if it has that type, a converted constant if it is one.
[[nodiscard]] Val* cast(DataType dtype, Val* a);

/// The value of a constant operation: what the printed kernel would compute, at the width and
/// signedness of `dtype`. Empty if it has none (division by zero).
[[nodiscard]] ScalarValue fold(UnaryOpType op, const ScalarValue& a, DataType dtype);
[[nodiscard]] ScalarValue fold(
    BinaryOpType op, const ScalarValue& a, const ScalarValue& b, DataType dtype);

} // namespace nvfuser::scalar
