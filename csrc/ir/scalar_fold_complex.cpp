// The functions are those of kernels, from the same source: a constant has the value that the
// kernel would have computed, at infinities and signed zeros as well.
#include "ir/scalar_fold_complex.h"

#include <cmath>
#include <complex>
#include <limits>

namespace nvfuser::scalar {
namespace device {

using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::copysign;
using std::cos;
using std::cosh;
using std::exp;
using std::expm1;
using std::fabs;
using std::hypot;
using std::log;
using std::log1p;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;

template <typename T>
struct ComplexTraits;

template <typename T>
T infinity() {
  return std::numeric_limits<T>::infinity();
}

#define NVF_FUNCTION inline
#include "../../runtime/common/complex.h"
#undef NVF_FUNCTION

} // namespace device

namespace {

using Number = device::Complex<double>;

Number number(const std::complex<double>& value) {
  return {value.real(), value.imag()};
}

ScalarValue scalar_value(const Number& value) {
  return std::complex<double>(value.real, value.imag);
}

bool is_finite(const Number& value) {
  return std::isfinite(value.real) && std::isfinite(value.imag);
}

bool is_zero(const Number& value) {
  return value.real == 0.0 && value.imag == 0.0;
}

} // namespace

ScalarValue fold_complex(UnaryOpType op, const std::complex<double>& x) {
  const Number z = number(x);
  switch (op) {
    case UnaryOpType::Abs: return device::abs(z);
    case UnaryOpType::Acos: return scalar_value(device::acos(z));
    case UnaryOpType::Acosh: return scalar_value(device::acosh(z));
    case UnaryOpType::Asin: return scalar_value(device::asin(z));
    case UnaryOpType::Asinh: return scalar_value(device::asinh(z));
    case UnaryOpType::Atan: return scalar_value(device::atan(z));
    case UnaryOpType::Atanh: return scalar_value(device::atanh(z));
    case UnaryOpType::Cos: return scalar_value(device::cos(z));
    case UnaryOpType::Cosh: return scalar_value(device::cosh(z));
    case UnaryOpType::Exp: return scalar_value(device::exp(z));
    case UnaryOpType::Exp2: return scalar_value(device::exp2(z));
    case UnaryOpType::Expm1: return scalar_value(device::expm1(z));
    case UnaryOpType::Imag: return z.imag;
    case UnaryOpType::Log: return scalar_value(device::log(z));
    case UnaryOpType::Log10: return scalar_value(device::log10(z));
    case UnaryOpType::Log1p: return scalar_value(device::log1p(z));
    case UnaryOpType::Log2: return scalar_value(device::log2(z));
    case UnaryOpType::Neg: return scalar_value(-z);
    case UnaryOpType::Real: return z.real;
    case UnaryOpType::Reciprocal: return scalar_value(device::reciprocal(z));
    case UnaryOpType::Rsqrt: return scalar_value(device::rsqrt(z));
    case UnaryOpType::Sigmoid: return scalar_value(device::sigmoid(z));
    case UnaryOpType::Silu: return scalar_value(device::silu(z));
    case UnaryOpType::Sin: return scalar_value(device::sin(z));
    case UnaryOpType::Sinh: return scalar_value(device::sinh(z));
    case UnaryOpType::Sqrt: return scalar_value(device::sqrt(z));
    case UnaryOpType::Tan: return scalar_value(device::tan(z));
    case UnaryOpType::Tanh: return scalar_value(device::tanh(z));
    case UnaryOpType::LogicalNot: return is_zero(z);
    case UnaryOpType::IsFinite: return is_finite(z);
    case UnaryOpType::IsInf: return std::isinf(z.real) || std::isinf(z.imag);
    case UnaryOpType::IsNan: return std::isnan(z.real) || std::isnan(z.imag);
    case UnaryOpType::IsReal: return z.imag == 0.0;
    default: return {};
  }
}

ScalarValue fold_complex(
    BinaryOpType op, const std::complex<double>& x, const std::complex<double>& y) {
  const Number a = number(x);
  const Number b = number(y);
  switch (op) {
    case BinaryOpType::Add: return scalar_value(a + b);
    case BinaryOpType::Sub: return scalar_value(a - b);
    case BinaryOpType::Mul: return scalar_value(a * b);
    case BinaryOpType::Div: return scalar_value(a / b);
    case BinaryOpType::Pow: return scalar_value(device::pow(a, b));
    case BinaryOpType::Eq: return a == b;
    case BinaryOpType::NE: return a != b;
    case BinaryOpType::LogicalAnd: return !is_zero(a) && !is_zero(b);
    case BinaryOpType::LogicalOr: return !is_zero(a) || !is_zero(b);
    default: return {};
  }
}

} // namespace nvfuser::scalar
