// One operation on scalars that the host can compute, apart from the expression that it was read
// from: the symbolic evaluator and scalar programs compute with the same functions.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.h"
#include "ir/fwd.h"

namespace nvfuser {

struct ScalarOperation {
  enum class Kind : uint8_t { Copy, Unary, Binary, Ternary };
  Kind kind = Kind::Copy;
  uint8_t op = 0; // UnaryOpType, BinaryOpType or TernaryOpType
  DataType result = DataType::Int;
  std::array<DataType, 3> operands{DataType::Null, DataType::Null, DataType::Null};

  [[nodiscard]] size_t num_operands() const {
    return kind == Kind::Copy ? 1 : static_cast<size_t>(kind);
  }
  [[nodiscard]] bool is(BinaryOpType type) const {
    return kind == Kind::Binary && op == static_cast<uint8_t>(type);
  }
  /// `where(condition, a, b)`: only the side that is taken has to have a value.
  [[nodiscard]] bool is_select() const {
    return kind == Kind::Ternary && op == static_cast<uint8_t>(TernaryOpType::Where);
  }
  auto operator<=>(const ScalarOperation&) const = default;
};

/// The operation that computes `val`; empty for values that the host can only be told.
[[nodiscard]] std::optional<ScalarOperation> operation_of(const Val* val);

/// The result if the first operand of `&&` or `||` decides it: the other may have no value.
[[nodiscard]] std::optional<bool> decided_by(
    const ScalarOperation& operation, const ScalarValue& first);
/// Whether an integer is divided by 0, which has no result.
[[nodiscard]] bool divides_by_zero(
    const ScalarOperation& operation, std::span<const ScalarValue> operands);
/// The result, at the type, width and rounding that the printed kernel would give it; empty if it
/// has none. Requires: all operands are known, and no integer is divided by 0.
[[nodiscard]] ScalarValue compute(
    const ScalarOperation& operation, std::span<const ScalarValue> operands);
/// The result of a copy, or of a selection that takes operand `taken`.
[[nodiscard]] ScalarValue compute_copy(
    const ScalarOperation& operation, size_t taken, const ScalarValue& operand);
/// Whether an integer result does not fit its type, so that `compute` wraps it.
[[nodiscard]] bool overflows(
    const ScalarOperation& operation, std::span<const ScalarValue> operands);

} // namespace nvfuser
