// Type promotion: the dtype an operation computes in, and the casts that bring its operands there.
#pragma once

#include <vector>

#include "base/types.h"

namespace nvfuser {
class Val;
}

namespace nvfuser::ops {

/// The rule by which an operation converts its operands and chooses the dtype of its result.
enum class Promotion : uint8_t {
  Keep,      // operands as they are, result likewise
  KeepReal,  // operand as it is; a complex one gives its real type
  Default,   // common dtype; low-precision floats become Float
  Float,     // as Default, and integers and Bool become Float
  FloatOnly, // as Default, but the common dtype must be Float or Double
  Compare,   // operands as in Default, result Bool
  Test,      // operands as they are, result Bool
  Bool,      // operands cast to Bool, result Bool
  Int,       // operands must be integers
};

/// The dtype that holds the values of both; an error if there is none.
[[nodiscard]] DataType promote_pair(DataType a, DataType b);

/// The dtype that operands meet in. Tensors with dimensions are stronger than 0-dim tensors, these
/// than scalars; a weaker operand decides only if the stronger ones lack its class of numbers.
/// `widen`: low-precision floats become Float.
[[nodiscard]] DataType common_dtype(const std::vector<Val*>& operands, bool widen = true);

/// `operand` as an operand of an operation that computes in `dtype`: tensors get exactly that
/// dtype, scalars only its class of numbers.
[[nodiscard]] Val* cast_operand(Val* operand, DataType dtype);

/// Operands ready for an operation, and the dtype of its result.
struct Promoted {
  std::vector<Val*> operands;
  DataType result;
};
[[nodiscard]] Promoted promote(Promotion policy, const std::vector<Val*>& operands);

/// Whether both hold numbers of one class: integers, floats, complex numbers, Bool.
[[nodiscard]] bool same_number_class(DataType a, DataType b);

} // namespace nvfuser::ops
