// Constant folding: the value of one operation on constants, at the width and signedness of a type.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/errors.h"
#include "ir/scalar.h"
#include "ir/scalar_fold_complex.h"

namespace nvfuser::scalar {
namespace {

// ---- Functions without a name in the standard library -------------------------------------------

/// Newton's method on erf(x) = y, started from Winitzki's approximation (2008); converges to the
/// precision of double in a few steps.
double erf_inverse(double y) {
  if (std::isnan(y) || y < -1.0 || y > 1.0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (y == 1.0 || y == -1.0) {
    return std::copysign(std::numeric_limits<double>::infinity(), y);
  }
  constexpr double kA = 0.147;
  const double log_term = std::log1p(-y * y);
  const double half = 2.0 / (std::numbers::pi * kA) + log_term / 2.0;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log_term / kA) - half), y);
  for (int i = 0; i < 4; ++i) {
    // Near 1 the complement keeps the digits that 1 - erf(x) loses.
    const double complement = 1.0 - std::abs(y) - std::erfc(std::abs(x));
    const double error = std::abs(y) < 0.5 ? std::erf(x) - y : (y < 0.0 ? -complement : complement);
    x -= error * std::sqrt(std::numbers::pi) / 2.0 * std::exp(x * x);
  }
  return x;
}

/// Like erf_inverse of 1 - y, but precise for small y.
double erfc_inverse(double y) {
  if (y > 0.1 || !(y > 0.0)) {
    return y == 0.0 ? std::numeric_limits<double>::infinity() : erf_inverse(1.0 - y);
  }
  double x = std::sqrt(-std::log(y));
  for (int i = 0; i < 60; ++i) {
    const double step =
        (std::erfc(x) / y - 1.0) * y * std::sqrt(std::numbers::pi) / 2.0 * std::exp(x * x);
    x += step;
    if (std::abs(step) < 1e-16 * x) {
      break;
    }
  }
  return x;
}

double gelu(double x) {
  return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

using Complex = std::complex<double>;

/// The smallest power of two that is not below x; it wraps where it does not fit.
uint64_t bit_ceil(uint64_t x) {
  uint64_t power = 1;
  while (power != 0 && power < x) {
    power <<= 1;
  }
  return power;
}

// ---- Unary --------------------------------------------------------------------------------------

ScalarValue fold_real(UnaryOpType op, double x) {
  switch (op) {
    case UnaryOpType::Abs: return std::abs(x);
    case UnaryOpType::Acos: return std::acos(x);
    case UnaryOpType::Acosh: return std::acosh(x);
    case UnaryOpType::Asin: return std::asin(x);
    case UnaryOpType::Asinh: return std::asinh(x);
    case UnaryOpType::Atan: return std::atan(x);
    case UnaryOpType::Atanh: return std::atanh(x);
    case UnaryOpType::Ceil: return std::ceil(x);
    case UnaryOpType::Cos: return std::cos(x);
    case UnaryOpType::Cosh: return std::cosh(x);
    case UnaryOpType::Exp: return std::exp(x);
    case UnaryOpType::Exp2: return std::exp2(x);
    case UnaryOpType::Expm1: return std::expm1(x);
    case UnaryOpType::Erf: return std::erf(x);
    case UnaryOpType::Erfc: return std::erfc(x);
    case UnaryOpType::Erfinv: return erf_inverse(x);
    case UnaryOpType::Erfcinv: return erfc_inverse(x);
    case UnaryOpType::Floor: return std::floor(x);
    case UnaryOpType::Frac: return x - std::trunc(x);
    case UnaryOpType::Gelu: return gelu(x);
    case UnaryOpType::Imag: return 0.0;
    case UnaryOpType::Silu: return x * sigmoid(x);
    case UnaryOpType::Lgamma: return std::lgamma(x);
    case UnaryOpType::Log: return std::log(x);
    case UnaryOpType::Log10: return std::log10(x);
    case UnaryOpType::Log1p: return std::log1p(x);
    case UnaryOpType::Log2: return std::log2(x);
    case UnaryOpType::Neg: return -x;
    case UnaryOpType::Real: return x;
    case UnaryOpType::Reciprocal: return 1.0 / x;
    case UnaryOpType::Relu: return x > 0.0 || std::isnan(x) ? x : 0.0;
    case UnaryOpType::Rsqrt: return 1.0 / std::sqrt(x);
    case UnaryOpType::Round: return std::nearbyint(x);
    case UnaryOpType::Sigmoid: return sigmoid(x);
    case UnaryOpType::Signbit: return std::signbit(x);
    case UnaryOpType::Sin: return std::sin(x);
    case UnaryOpType::Sinh: return std::sinh(x);
    case UnaryOpType::Sqrt: return std::sqrt(x);
    case UnaryOpType::Tan: return std::tan(x);
    case UnaryOpType::Tanh: return std::tanh(x);
    case UnaryOpType::Trunc: return std::trunc(x);
    case UnaryOpType::LogicalNot: return x == 0.0;
    case UnaryOpType::IsFinite: return std::isfinite(x);
    case UnaryOpType::IsInf: return std::isinf(x);
    case UnaryOpType::IsNan: return std::isnan(x);
    case UnaryOpType::IsNegInf: return std::isinf(x) && x < 0.0;
    case UnaryOpType::IsPosInf: return std::isinf(x) && x > 0.0;
    case UnaryOpType::IsReal: return true;
    default: return {};
  }
}

/// Operations that have an exact meaning on integers; the others go through double.
ScalarValue fold_integer(UnaryOpType op, int64_t x, DataType dtype) {
  const auto bits = static_cast<uint64_t>(x);
  switch (op) {
    case UnaryOpType::Abs:
      return x < 0 && !is_unsigned(dtype) ? static_cast<int64_t>(uint64_t{0} - bits) : x;
    case UnaryOpType::Neg: return static_cast<int64_t>(uint64_t{0} - bits);
    case UnaryOpType::BitwiseNot: return ~x;
    case UnaryOpType::BitCeil:
      return x < 0 && !is_unsigned(dtype) ? int64_t{1} : static_cast<int64_t>(bit_ceil(bits));
    case UnaryOpType::LogicalNot: return x == 0;
    case UnaryOpType::Ceil:
    case UnaryOpType::Floor:
    case UnaryOpType::Round:
    case UnaryOpType::Trunc:
    case UnaryOpType::Real: return x;
    case UnaryOpType::Relu: return x > 0 || is_unsigned(dtype) ? x : int64_t{0};
    default: return fold_real(op, static_cast<double>(x));
  }
}

bool is_predicate(UnaryOpType op) {
  switch (op) {
    case UnaryOpType::LogicalNot:
    case UnaryOpType::Signbit:
    case UnaryOpType::IsFinite:
    case UnaryOpType::IsInf:
    case UnaryOpType::IsNan:
    case UnaryOpType::IsNegInf:
    case UnaryOpType::IsPosInf:
    case UnaryOpType::IsReal: return true;
    default: return false;
  }
}

// ---- Binary -------------------------------------------------------------------------------------

bool is_predicate(BinaryOpType op) {
  return is_comparison(op) || op == BinaryOpType::LogicalAnd || op == BinaryOpType::LogicalOr;
}

template <typename T>
ScalarValue compare(BinaryOpType op, const T& a, const T& b) {
  switch (op) {
    case BinaryOpType::Eq: return a == b;
    case BinaryOpType::NE: return a != b;
    case BinaryOpType::LT: return a < b;
    case BinaryOpType::LE: return a <= b;
    case BinaryOpType::GT: return a > b;
    case BinaryOpType::GE: return a >= b;
    default: return {};
  }
}

/// Square and multiply with wrap-around; negative exponents truncate to 0, 1 or -1.
uint64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    const bool is_odd = exponent % 2 != 0;
    return static_cast<uint64_t>(base == 1 ? 1 : base == -1 ? (is_odd ? -1 : 1) : 0);
  }
  uint64_t result = 1;
  auto factor = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    result *= (rest & 1) != 0 ? factor : 1;
    factor *= factor;
  }
  return result;
}

/// Division with truncation, as T has it. Empty for what has no value.
template <typename T>
ScalarValue divide(BinaryOpType op, T a, T b) {
  if (b == 0) {
    return {};
  }
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) { // the quotient of the smallest number does not fit and wraps
      const auto negated = static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a));
      return op == BinaryOpType::Div || op == BinaryOpType::CeilDiv ? negated : int64_t{0};
    }
  }
  const T quotient = a / b;
  const T rest = a % b;
  switch (op) {
    case BinaryOpType::Div: return static_cast<int64_t>(quotient);
    case BinaryOpType::CeilDiv:
      return static_cast<int64_t>(quotient + ((rest != 0 && (rest > 0) == (b > 0)) ? 1 : 0));
    case BinaryOpType::Remainder: // the sign of the divisor, as in Python
      return static_cast<int64_t>(rest != 0 && (rest > 0) != (b > 0) ? rest + b : rest);
    default: return static_cast<int64_t>(rest);
  }
}

/// Computed from magnitudes: that of the smallest number is no int64.
int64_t greatest_common_divisor(int64_t a, int64_t b, DataType dtype) {
  const auto magnitude = [&](int64_t x) {
    const auto bits = static_cast<uint64_t>(x);
    return x < 0 && !is_unsigned(dtype) ? uint64_t{0} - bits : bits;
  };
  return static_cast<int64_t>(std::gcd(magnitude(a), magnitude(b)));
}

/// Counts outside of the width move every bit out; to the right, the sign fills.
int64_t shift(BinaryOpType op, int64_t a, int64_t count, DataType dtype) {
  const auto bits = static_cast<uint64_t>(a);
  const bool is_inside = count >= 0 && count < size_bits(dtype);
  if (op == BinaryOpType::Lshift) {
    return is_inside ? static_cast<int64_t>(bits << count) : 0;
  }
  if (is_unsigned(dtype)) {
    return is_inside ? static_cast<int64_t>(bits >> count) : 0;
  }
  return a >> (is_inside ? count : 63);
}

ScalarValue fold_integer(BinaryOpType op, int64_t a, int64_t b, DataType dtype) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  const bool is_below = is_unsigned(dtype) ? ua < ub : a < b;
  switch (op) {
    case BinaryOpType::Add: return static_cast<int64_t>(ua + ub);
    case BinaryOpType::Sub: return static_cast<int64_t>(ua - ub);
    case BinaryOpType::Mul: return static_cast<int64_t>(ua * ub);
    case BinaryOpType::Max:
    case BinaryOpType::FMax: return is_below ? b : a;
    case BinaryOpType::Min:
    case BinaryOpType::FMin: return is_below ? a : b;
    case BinaryOpType::Div:
    case BinaryOpType::Mod:
    case BinaryOpType::Fmod:
    case BinaryOpType::Remainder:
    case BinaryOpType::CeilDiv:
      return is_unsigned(dtype) ? divide<uint64_t>(op, ua, ub) : divide<int64_t>(op, a, b);
    case BinaryOpType::Pow: return static_cast<int64_t>(integer_power(a, b));
    case BinaryOpType::Gcd: return greatest_common_divisor(a, b, dtype);
    case BinaryOpType::BitwiseAnd: return a & b;
    case BinaryOpType::BitwiseOr: return a | b;
    case BinaryOpType::BitwiseXor: return a ^ b;
    case BinaryOpType::Lshift:
    case BinaryOpType::Rshift: return shift(op, a, b, dtype);
    case BinaryOpType::LogicalAnd: return a != 0 && b != 0;
    case BinaryOpType::LogicalOr: return a != 0 || b != 0;
    case BinaryOpType::Atan2: return std::atan2(static_cast<double>(a), static_cast<double>(b));
    default: return is_unsigned(dtype) ? compare(op, ua, ub) : compare(op, a, b);
  }
}

ScalarValue fold_real(BinaryOpType op, double a, double b, DataType dtype) {
  const bool is_nan = std::isnan(a) || std::isnan(b);
  switch (op) {
    case BinaryOpType::Add: return a + b;
    case BinaryOpType::Sub: return a - b;
    case BinaryOpType::Mul: return a * b;
    case BinaryOpType::Div: return a / b;
    case BinaryOpType::Atan2: return std::atan2(a, b);
    case BinaryOpType::Max: return is_nan ? a + b : std::max(a, b);
    case BinaryOpType::Min: return is_nan ? a + b : std::min(a, b);
    case BinaryOpType::FMax: return std::fmax(a, b);
    case BinaryOpType::FMin: return std::fmin(a, b);
    case BinaryOpType::Mod:
    case BinaryOpType::Fmod: return std::fmod(a, b);
    case BinaryOpType::Remainder: {
      const double rest = std::fmod(a, b);
      return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
    }
    case BinaryOpType::Nextafter:
      return dtype == DataType::Float
                 ? static_cast<double>(std::nextafter(static_cast<float>(a), static_cast<float>(b)))
                 : std::nextafter(a, b);
    case BinaryOpType::Pow: return std::pow(a, b);
    case BinaryOpType::CeilDiv: return std::ceil(a / b);
    case BinaryOpType::LogicalAnd: return a != 0.0 && b != 0.0;
    case BinaryOpType::LogicalOr: return a != 0.0 || b != 0.0;
    case BinaryOpType::Complex: return Complex(a, b);
    default: return compare(op, a, b);
  }
}

} // namespace

ScalarValue fold(UnaryOpType op, const ScalarValue& a, DataType dtype) {
  if (!has_value(a)) {
    return {};
  }
  if (op == UnaryOpType::Cast || op == UnaryOpType::Print) {
    return convert_value(a, dtype);
  }
  ScalarValue value;
  if (std::holds_alternative<Complex>(a)) {
    value = fold_complex(op, std::get<Complex>(a));
  } else if (std::holds_alternative<double>(a)) {
    value = fold_real(op, std::get<double>(a));
  } else if (is_floating_point(dtype) || is_complex(dtype)) {
    value = fold_real(op, as_double(a));
  } else {
    value = fold_integer(op, as_int(a), dtype);
  }
  return is_predicate(op) ? value : convert_value(value, dtype);
}

ScalarValue fold(BinaryOpType op, const ScalarValue& a, const ScalarValue& b, DataType dtype) {
  if (!has_value(a) || !has_value(b)) {
    return {};
  }
  const ScalarValue x = convert_value(a, dtype);
  const ScalarValue y = convert_value(b, dtype);
  ScalarValue value;
  if (is_complex(dtype)) {
    value = op == BinaryOpType::Complex ? fold_real(op, as_double(a), as_double(b), dtype)
                                        : fold_complex(op, as_complex(x), as_complex(y));
  } else if (is_floating_point(dtype)) {
    value = fold_real(op, as_double(x), as_double(y), dtype);
  } else {
    value = fold_integer(op, as_int(x), as_int(y), is_boolean(dtype) ? DataType::Int : dtype);
  }
  return is_predicate(op) ? value : convert_value(value, dtype);
}

} // namespace nvfuser::scalar
