// Operations on the elements of two operands.
//
// The functions, their bindings and their names in translated Python derive from one table of
// X(python_name, BinaryOpType, Promotion, "documentation"). Where an operation type stands in
// several rows, the first one is its name in translated Python.
#pragma once

#include "ir/fusion.h"
#include "ops/promotion.h"

// clang-format off
#define NVF_FOR_EACH_ARITHMETIC_FUNCTION(X)                                                       \
  X(add, Add, Default, "a + b.")                                                                  \
  X(sub, Sub, Default, "a - b.")                                                                  \
  X(mul, Mul, Default, "a * b.")                                                                  \
  X(div, Div, Default, "a / b; integers divide with truncation toward zero.")                     \
  X(truediv, Div, Float, "a / b; integers become Float.")                                         \
  X(fmod, Fmod, Default, "Remainder of a / b with the sign of a.")                                \
  X(remainder, Remainder, Default, "a - b * floor(a / b): the remainder with the sign of b.")     \
  X(mod, Mod, Default, "Remainder of a division that truncates, as % in C.")                      \
  X(pow, Pow, Default, "a to the power of b.")                                                    \
  X(atan2, Atan2, Float, "Angle of the point (b, a), in [-pi, pi].")                              \
  X(nextafter, Nextafter, FloatOnly, "The neighbour of a in the direction of b.")                 \
  X(minimum, Min, Default, "The smaller one; NaN if either is NaN.")                              \
  X(maximum, Max, Default, "The greater one; NaN if either is NaN.")                              \
  X(gcd, Gcd, Int, "Greatest common divisor.")                                                    \
  X(ceilDiv, CeilDiv, Int, "a / b rounded up, for a >= 0 and b > 0.")

#define NVF_FOR_EACH_COMPARE_FUNCTION(X)                                                          \
  X(eq, Eq, Compare, "a == b.")                                                                   \
  X(ne, NE, Compare, "a != b.")                                                                   \
  X(lt, LT, Compare, "a < b.")                                                                    \
  X(le, LE, Compare, "a <= b.")                                                                   \
  X(gt, GT, Compare, "a > b.")                                                                    \
  X(ge, GE, Compare, "a >= b.")                                                                   \
  X(logical_and, LogicalAnd, Bool, "Whether both are nonzero.")                                   \
  X(logical_or, LogicalOr, Bool, "Whether one is nonzero.")                                       \
  X(bitwise_left_shift, Lshift, Int, "a shifted left by b bits.")                                 \
  X(bitwise_right_shift, Rshift, Int, "a shifted right by b bits; the sign is kept.")

#define NVF_FOR_EACH_BINARY_FUNCTION(X) \
  NVF_FOR_EACH_ARITHMETIC_FUNCTION(X)   \
  NVF_FOR_EACH_COMPARE_FUNCTION(X)

// Functions whose node depends on the dtypes (ops/bitwise.cpp): X(python_name, BinaryOpType, "doc").
#define NVF_FOR_EACH_SPECIAL_BINARY_FUNCTION(X)                                                   \
  X(bitwise_and, BitwiseAnd, "Bits that are set in both; `logical_and` of two Bools.")            \
  X(bitwise_or, BitwiseOr, "Bits that are set in one; `logical_or` of two Bools.")                \
  X(bitwise_xor, BitwiseXor, "Bits that are set in exactly one; `ne` of two Bools.")
// clang-format on

namespace nvfuser::ops {

/// `op` on every pair of elements, operands and result converted by `policy`.
Val* make_binary(BinaryOpType op, Promotion policy, Val* lhs, Val* rhs);

#define NVF_DECLARE_BINARY(name)                                        \
  Val* name(Val* lhs, Val* rhs);                                        \
  inline TensorView* name(TensorView* lhs, Val* rhs) {                  \
    return static_cast<TensorView*>(name(static_cast<Val*>(lhs), rhs)); \
  }                                                                     \
  inline TensorView* name(Val* lhs, TensorView* rhs) {                  \
    return static_cast<TensorView*>(name(lhs, static_cast<Val*>(rhs))); \
  }                                                                     \
  inline TensorView* name(TensorView* lhs, TensorView* rhs) {           \
    return name(lhs, static_cast<Val*>(rhs));                           \
  }
#define NVF_DECLARE_REGULAR(name, op, policy, doc) NVF_DECLARE_BINARY(name)
#define NVF_DECLARE_SPECIAL(name, op, doc) NVF_DECLARE_BINARY(name)
NVF_FOR_EACH_BINARY_FUNCTION(NVF_DECLARE_REGULAR)
NVF_FOR_EACH_SPECIAL_BINARY_FUNCTION(NVF_DECLARE_SPECIAL)
#undef NVF_DECLARE_SPECIAL
#undef NVF_DECLARE_REGULAR
#undef NVF_DECLARE_BINARY

/// A complex number from its parts: both scalars or both tensors, of one dtype.
Val* complex(Val* real, Val* imag);

/// a + alpha * b and a - alpha * b; alpha is a scalar.
Val* add_alpha(Val* a, Val* b, Val* alpha);
Val* sub_alpha(Val* a, Val* b, Val* alpha);

} // namespace nvfuser::ops
