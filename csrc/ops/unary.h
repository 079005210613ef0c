// Operations on every element of one operand.
//
// The functions, their bindings and their names in translated Python derive from one table of
// X(python_name, UnaryOpType, Promotion, "documentation").
#pragma once

#include "ir/fusion.h"
#include "ops/promotion.h"

// clang-format off
#define NVF_FOR_EACH_UNARY_FUNCTION(X)                                                            \
  X(abs, Abs, KeepReal, "Absolute value; the magnitude of a complex number.")                     \
  X(acos, Acos, Float, "Inverse cosine, in [0, pi].")                                             \
  X(acosh, Acosh, Float, "Inverse hyperbolic cosine.")                                            \
  X(asin, Asin, Float, "Inverse sine, in [-pi/2, pi/2].")                                         \
  X(asinh, Asinh, Float, "Inverse hyperbolic sine.")                                              \
  X(atan, Atan, Float, "Inverse tangent, in [-pi/2, pi/2].")                                      \
  X(atanh, Atanh, Float, "Inverse hyperbolic tangent.")                                           \
  X(ceil, Ceil, Keep, "Smallest integer that is not less.")                                       \
  X(cos, Cos, Float, "Cosine of an angle in radians.")                                            \
  X(cosh, Cosh, Float, "Hyperbolic cosine.")                                                      \
  X(exp, Exp, Float, "e to the power of x.")                                                      \
  X(exp2, Exp2, Float, "2 to the power of x.")                                                    \
  X(expm1, Expm1, Float, "exp(x) - 1, exact for small x.")                                        \
  X(erf, Erf, Float, "Error function.")                                                           \
  X(erfc, Erfc, Float, "1 - erf(x), exact for large x.")                                          \
  X(erfinv, Erfinv, Float, "Inverse of erf.")                                                     \
  X(erfcinv, Erfcinv, Float, "Inverse of erfc.")                                                  \
  X(floor, Floor, Keep, "Largest integer that is not greater.")                                   \
  X(frac, Frac, Keep, "x - trunc(x).")                                                            \
  X(lgamma, Lgamma, Float, "Logarithm of the absolute value of the gamma function.")              \
  X(log, Log, Float, "Natural logarithm.")                                                        \
  X(log10, Log10, Float, "Logarithm to base 10.")                                                 \
  X(log1p, Log1p, Float, "log(1 + x), exact for small x.")                                        \
  X(log2, Log2, Float, "Logarithm to base 2.")                                                    \
  X(neg, Neg, Default, "-x.")                                                                     \
  X(logical_not, LogicalNot, Bool, "Whether x is zero.")                                          \
  X(relu, Relu, Keep, "max(x, 0); NaN stays.")                                                    \
  X(reciprocal, Reciprocal, Float, "1 / x.")                                                      \
  X(round, Round, Keep, "Nearest integer, ties to even.")                                         \
  X(rsqrt, Rsqrt, Float, "1 / sqrt(x).")                                                          \
  X(sigmoid, Sigmoid, Float, "1 / (1 + exp(-x)).")                                                \
  X(signbit, Signbit, Compare, "Whether x is negative, -0.0 included.")                           \
  X(silu, Silu, Keep, "x * sigmoid(x).")                                                          \
  X(sin, Sin, Float, "Sine of an angle in radians.")                                              \
  X(sinh, Sinh, Float, "Hyperbolic sine.")                                                        \
  X(sqrt, Sqrt, Float, "Square root.")                                                            \
  X(tan, Tan, Float, "Tangent of an angle in radians.")                                           \
  X(tanh, Tanh, Float, "Hyperbolic tangent.")                                                     \
  X(trunc, Trunc, Keep, "x without its fraction, toward zero.")                                   \
  X(isfinite, IsFinite, Test, "Whether x is neither infinite nor NaN.")                           \
  X(isinf, IsInf, Test, "Whether x is infinite.")                                                 \
  X(isnan, IsNan, Test, "Whether x is NaN.")                                                      \
  X(isneginf, IsNegInf, Test, "Whether x is negative infinity.")                                  \
  X(isposinf, IsPosInf, Test, "Whether x is positive infinity.")                                  \
  X(isreal, IsReal, Test, "Whether the imaginary part of x is zero.")

// Functions whose node depends on the dtype of the operand: X(python_name, UnaryOpType, "doc").
#define NVF_FOR_EACH_SPECIAL_UNARY_FUNCTION(X)                                                    \
  X(bitwise_not, BitwiseNot, "All bits inverted; the logical inverse of a Bool.")                 \
  X(real, Real, "Real part; a real operand is copied.")                                           \
  X(imag, Imag, "Imaginary part.")

// Functions that have no name in translated Python.
#define NVF_FOR_EACH_UNBOUND_UNARY_FUNCTION(X)                                                    \
  X(bitceil, BitCeil, Int, "Smallest power of two that is not less.")                             \
  X(print, Print, Keep, "x; a kernel prints every element it computes.")
// clang-format on

namespace nvfuser::ops {

/// `op` on every element, operand and result converted by `policy`.
Val* make_unary(UnaryOpType op, Promotion policy, Val* arg);

#define NVF_DECLARE_UNARY(name)                                    \
  Val* name(Val* arg);                                             \
  inline TensorView* name(TensorView* arg) {                       \
    return static_cast<TensorView*>(name(static_cast<Val*>(arg))); \
  }
#define NVF_DECLARE_REGULAR(name, op, policy, doc) NVF_DECLARE_UNARY(name)
#define NVF_DECLARE_SPECIAL(name, op, doc) NVF_DECLARE_UNARY(name)
NVF_FOR_EACH_UNARY_FUNCTION(NVF_DECLARE_REGULAR)
NVF_FOR_EACH_UNBOUND_UNARY_FUNCTION(NVF_DECLARE_REGULAR)
NVF_FOR_EACH_SPECIAL_UNARY_FUNCTION(NVF_DECLARE_SPECIAL)
#undef NVF_DECLARE_SPECIAL
#undef NVF_DECLARE_REGULAR
#undef NVF_DECLARE_UNARY

} // namespace nvfuser::ops
