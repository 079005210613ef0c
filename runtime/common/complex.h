// Complex numbers and their elementary functions. Formulas of the inverse functions follow Kahan,
// "Branch cuts for complex elementary functions", 1987; infinities, NaNs and signs of zeros follow
// annex G of the C standard. Products and quotients follow neither: they are those of PyTorch.
// Kernels of both targets and constant folding in the core are compiled from this file.
//
// provides: Complex
// requires: types cast libm
#pragma once

template <typename T>
struct Complex {
  T real;
  T imag;
};

template <typename T>
struct ComplexTraits<Complex<T>> {
  static constexpr bool value = true;
  using Real = T;
};

template <typename T>
NVF_FUNCTION T real(Complex<T> z) {
  return z.real;
}
template <typename T>
NVF_FUNCTION T imag(Complex<T> z) {
  return z.imag;
}
template <typename T>
NVF_FUNCTION bool operator==(Complex<T> a, Complex<T> b) {
  return a.real == b.real && a.imag == b.imag;
}
template <typename T>
NVF_FUNCTION bool operator!=(Complex<T> a, Complex<T> b) {
  return !(a == b);
}
template <typename T>
NVF_FUNCTION Complex<T> operator-(Complex<T> z) {
  return {-z.real, -z.imag};
}
template <typename T>
NVF_FUNCTION Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.real + b.real, a.imag + b.imag};
}
template <typename T>
NVF_FUNCTION Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.real - b.real, a.imag - b.imag};
}
template <typename T>
NVF_FUNCTION Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
template <typename T>
NVF_FUNCTION Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.real, a * b.imag};
}
/// Smith 1962: no overflow where the quotient has none.
template <typename T>
NVF_FUNCTION Complex<T> operator/(Complex<T> a, Complex<T> b) {
  const T abs_real = fabs(b.real);
  const T abs_imag = fabs(b.imag);
  if (abs_real >= abs_imag) {
    if (abs_real == 0 && abs_imag == 0) {
      return {a.real / abs_real, a.imag / abs_imag};
    }
    const T ratio = b.imag / b.real;
    const T scale = T(1) / (b.real + b.imag * ratio);
    return {(a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale};
  }
  const T ratio = b.real / b.imag;
  const T scale = T(1) / (b.real * ratio + b.imag);
  return {(a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale};
}
template <typename T>
NVF_FUNCTION Complex<T> reciprocal(Complex<T> z) {
  return Complex<T>{T(1), T(0)} / z;
}
template <typename T>
NVF_FUNCTION T abs(Complex<T> z) {
  return hypot(z.real, z.imag);
}
template <typename T>
NVF_FUNCTION Complex<T> times_i(Complex<T> z) {
  return {-z.imag, z.real};
}
template <typename T>
NVF_FUNCTION Complex<T> times_minus_i(Complex<T> z) {
  return {z.imag, -z.real};
}

// ---- Parts --------------------------------------------------------------------------------------

template <typename T>
NVF_FUNCTION bool is_nan_part(T x) {
  return x != x;
}
template <typename T>
NVF_FUNCTION bool is_finite_part(T x) {
  return x - x == 0;
}
template <typename T>
NVF_FUNCTION bool is_infinite_part(T x) {
  return x == x && x - x != 0;
}
template <typename T>
NVF_FUNCTION T larger_size(Complex<T> z) {
  const T a = fabs(z.real);
  const T b = fabs(z.imag);
  return a > b ? a : b;
}
/// From here on, twice the square of a number may overflow.
template <typename T>
NVF_FUNCTION T huge_part() {
  return T(sizeof(T) == 4 ? 0x1p126 : 0x1p1022);
}
/// Below it, numbers are subnormal or nearly so.
template <typename T>
NVF_FUNCTION T tiny_part() {
  return T(sizeof(T) == 4 ? 0x1p-124 : 0x1p-1020);
}
/// A number this large is the same with 1 added.
template <typename T>
NVF_FUNCTION T inverse_epsilon() {
  return T(sizeof(T) == 4 ? 0x1p25 : 0x1p54);
}
template <typename T>
NVF_FUNCTION T half_pi() {
  return T(1.57079632679489661923);
}

// ---- Exponential and logarithm ------------------------------------------------------------------

template <typename T>
NVF_FUNCTION Complex<T> exp(Complex<T> z) {
  const T scale = exp(z.real);
  if (z.imag == 0) {
    return {scale, z.imag};
  }
  if (is_infinite_part(z.real) && !is_finite_part(z.imag)) {
    // The sign of a NaN is the processor's.
    return z.real < 0 ? Complex<T>{T(0), is_nan_part(z.imag) ? T(0) : copysign(T(0), z.imag)}
                      : Complex<T>{scale, z.imag - z.imag};
  }
  if (is_infinite_part(scale) && is_finite_part(z.real)) { // the product may be finite
    const T root = exp(z.real / 2);
    return {root * cos(z.imag) * root, root * sin(z.imag) * root};
  }
  return {scale * cos(z.imag), scale * sin(z.imag)};
}
template <typename T>
NVF_FUNCTION Complex<T> exp2(Complex<T> z) {
  return exp(T(0.693147180559945309417) * z);
}
template <typename T>
NVF_FUNCTION Complex<T> expm1(Complex<T> z) {
  // exp(x) (cos y + i sin y) - 1, without the cancellation near zero.
  const T half_sin = sin(z.imag / 2);
  const T scale = exp(z.real);
  return {expm1(z.real) * cos(z.imag) - 2 * half_sin * half_sin, scale * sin(z.imag)};
}
/// log |1 + x + iy| where that is near zero: |1 + x + iy|^2 = 1 + (2 x + x^2 + y^2).
template <typename T>
NVF_FUNCTION T log_near_one(T x, T y) {
  return y == 0 ? log1p(x) : log1p(x * (2 + x) + y * y) / 2;
}
/// log |z|
template <typename T>
NVF_FUNCTION T log_size(Complex<T> z) {
  constexpr T ln2 = T(0.693147180559945309417);
  const T larger = larger_size(z);
  if (larger > T(0.5) && larger < T(1.5)) {
    const T a = fabs(z.real);
    const T b = fabs(z.imag);
    const T smaller = a > b ? b : a; // a NaN, if there is one
    return log_near_one(larger - 1, smaller);
  }
  if (larger > huge_part<T>()) {
    return log(hypot(z.real / 4, z.imag / 4)) + 2 * ln2;
  }
  if (larger > 0 && larger < tiny_part<T>()) {
    return log(hypot(z.real * T(0x1p60), z.imag * T(0x1p60))) - 60 * ln2;
  }
  return log(hypot(z.real, z.imag));
}
template <typename T>
NVF_FUNCTION Complex<T> log(Complex<T> z) {
  return {log_size(z), atan2(z.imag, z.real)};
}
template <typename T>
NVF_FUNCTION Complex<T> log2(Complex<T> z) {
  return T(1.44269504088896340736) * log(z);
}
template <typename T>
NVF_FUNCTION Complex<T> log10(Complex<T> z) {
  return T(0.434294481903251827651) * log(z);
}
template <typename T>
NVF_FUNCTION Complex<T> log1p(Complex<T> z) {
  const Complex<T> sum = {1 + z.real, z.imag};
  const T excess = z.real * (2 + z.real) + z.imag * z.imag;
  const bool is_near_zero = excess >= T(-0.5) && excess <= T(1);
  return {is_near_zero ? log_near_one(z.real, z.imag) : log_size(sum), atan2(sum.imag, sum.real)};
}
template <typename T>
NVF_FUNCTION Complex<T> sqrt(Complex<T> z) {
  if (z.real == 0 && z.imag == 0) {
    return {T(0), z.imag};
  }
  if (is_infinite_part(z.imag)) {
    return {fabs(z.imag), z.imag};
  }
  if (is_infinite_part(z.real)) {
    const T rest = z.imag - z.imag; // NaN or zero
    return z.real < 0 ? Complex<T>{fabs(rest), copysign(z.real, z.imag)}
                      : Complex<T>{z.real, copysign(rest, z.imag)};
  }
  // The sum of sizes neither overflows nor loses digits.
  const T larger = larger_size(z);
  const bool is_huge = larger > huge_part<T>();
  const bool is_tiny = larger < tiny_part<T>();
  const T scale = T(is_huge ? 0x1p-60 : is_tiny ? 0x1p60 : 1);
  const T back = T(is_huge ? 0x1p30 : is_tiny ? 0x1p-30 : 1);
  const T real = z.real * scale;
  const T imag = z.imag * scale;
  const T root = sqrt((fabs(real) + hypot(real, imag)) / 2);
  if (z.real >= 0) {
    return {root * back, imag / (2 * root) * back};
  }
  return {fabs(imag) / (2 * root) * back, copysign(root * back, z.imag)};
}
template <typename T>
NVF_FUNCTION Complex<T> rsqrt(Complex<T> z) {
  return reciprocal(sqrt(z));
}
/// A corner of the square that an infinite number is at, or 0 beside one that is.
template <typename T>
NVF_FUNCTION Complex<T> corner_of(Complex<T> z, bool is_infinite) {
  return {
      is_infinite || is_nan_part(z.real)
          ? copysign(T(is_infinite && is_infinite_part(z.real)), z.real)
          : z.real,
      is_infinite || is_nan_part(z.imag)
          ? copysign(T(is_infinite && is_infinite_part(z.imag)), z.imag)
          : z.imag};
}
/// The product as annex G has it: infinite if a factor is, even if its other part is NaN.
template <typename T>
NVF_FUNCTION Complex<T> product_of_infinities(Complex<T> a, Complex<T> b) {
  const Complex<T> product = a * b;
  const bool is_a = is_infinite_part(a.real) || is_infinite_part(a.imag);
  const bool is_b = is_infinite_part(b.real) || is_infinite_part(b.imag);
  if (!(is_a || is_b) || !is_nan_part(product.real) || !is_nan_part(product.imag)) {
    return product;
  }
  const Complex<T> direction = corner_of(a, is_a) * corner_of(b, is_b);
  return {infinity<T>() * direction.real, infinity<T>() * direction.imag};
}
template <typename T>
NVF_FUNCTION Complex<T> pow(Complex<T> base, Complex<T> exponent) {
  if (exponent.real == 0 && exponent.imag == 0) {
    return {T(1), T(0)};
  }
  return exp(product_of_infinities(exponent, log(base)));
}

// ---- Hyperbolic functions and those of angles ---------------------------------------------------

/// The product, but a zero stays one beside a factor that became infinite: on the axes.
template <typename T>
NVF_FUNCTION T grown(T x, T growth) {
  return x != 0 || is_finite_part(growth) ? x * growth : growth < 0 ? -x : x;
}
/// Whether exp(|x| / 2) is.
template <typename T>
NVF_FUNCTION bool is_root_finite(T x) {
  return fabs(x) < T(sizeof(T) == 4 ? 176 : 1418);
}
template <typename T>
NVF_FUNCTION Complex<T> sinh(Complex<T> z) {
  if (!is_finite_part(z.imag)) {
    const T nan = z.imag - z.imag;
    return {z.real == 0 ? z.real : is_infinite_part(z.real) ? fabs(z.real) : nan, nan};
  }
  const T sine = sinh(z.real);
  if (is_infinite_part(sine) && is_root_finite(z.real)) { // the product may be finite
    const T root = exp(fabs(z.real) / 2);
    return {copysign(root, z.real) * cos(z.imag) / 2 * root, root * sin(z.imag) / 2 * root};
  }
  return {sine * cos(z.imag), grown(sin(z.imag), cosh(z.real))};
}
template <typename T>
NVF_FUNCTION Complex<T> cosh(Complex<T> z) {
  if (!is_finite_part(z.imag)) {
    const T nan = z.imag - z.imag;
    return {is_infinite_part(z.real) ? fabs(z.real) : nan, z.real == 0 ? T(0) : nan};
  }
  const T sine = sinh(z.real);
  if (is_infinite_part(sine) && is_root_finite(z.real)) {
    const T root = exp(fabs(z.real) / 2);
    return {root * cos(z.imag) / 2 * root, copysign(root, z.real) * sin(z.imag) / 2 * root};
  }
  return {cosh(z.real) * cos(z.imag), grown(sin(z.imag), sine)};
}
template <typename T>
NVF_FUNCTION Complex<T> sin(Complex<T> z) {
  return times_minus_i(sinh(times_i(z)));
}
template <typename T>
NVF_FUNCTION Complex<T> cos(Complex<T> z) {
  return cosh(times_i(z));
}
template <typename T>
NVF_FUNCTION Complex<T> tanh(Complex<T> z) {
  if (!is_finite_part(z.imag)) {
    const T nan = z.imag - z.imag;
    return is_infinite_part(z.real) ? Complex<T>{copysign(T(1), z.real), copysign(T(0), z.imag)}
                                    : Complex<T>{z.real == 0 ? z.real : nan, nan};
  }
  if (is_nan_part(z.real)) {
    return {z.real, z.imag == 0 ? z.imag : z.real};
  }
  if (fabs(z.real) > T(20)) { // sinh and cosh agree to the last digit and may overflow
    const T decay = exp(-2 * fabs(z.real));
    return {copysign(T(1), z.real), 4 * sin(z.imag) * cos(z.imag) * decay};
  }
  // By the tangent, which is exact near the poles, where cosh(2 x) + cos(2 y) would cancel.
  const T tangent = tan(z.imag);
  const T sine = sinh(z.real);
  const T beta = 1 + tangent * tangent;
  const T scale = 1 + beta * sine * sine;
  return {beta * sqrt(1 + sine * sine) * sine / scale, tangent / scale};
}
template <typename T>
NVF_FUNCTION Complex<T> tan(Complex<T> z) {
  return times_minus_i(tanh(times_i(z)));
}

// ---- Inverse functions --------------------------------------------------------------------------

/// Whether z^2 + 1 is z^2; infinities are so large, NaNs are not.
template <typename T>
NVF_FUNCTION bool hides_one(Complex<T> z) {
  return fabs(z.real) > inverse_epsilon<T>() || fabs(z.imag) > inverse_epsilon<T>();
}
template <typename T>
NVF_FUNCTION bool has_nan(Complex<T> z) {
  return is_nan_part(z.real) || is_nan_part(z.imag);
}
template <typename T>
NVF_FUNCTION Complex<T> asin(Complex<T> z) {
  if (has_nan(z)) {
    const T nan = z.real + z.imag;
    const T imag = is_infinite_part(z.imag)   ? z.imag
                   : is_infinite_part(z.real) ? fabs(z.real)
                                              : nan;
    return {z.real == 0 ? z.real : nan, imag};
  }
  if (hides_one(z)) { // -i log(2 i z)
    const T size = log_size(z) + T(0.693147180559945309417);
    const T angle = atan2(fabs(z.real), fabs(z.imag));
    return {copysign(angle, z.real), copysign(size, z.imag)};
  }
  const Complex<T> minus = sqrt(Complex<T>{1 - z.real, -z.imag});
  const Complex<T> plus = sqrt(Complex<T>{1 + z.real, z.imag});
  return {
      atan2(z.real, plus.real * minus.real - plus.imag * minus.imag),
      asinh(minus.real * plus.imag - minus.imag * plus.real)};
}
template <typename T>
NVF_FUNCTION Complex<T> acos(Complex<T> z) {
  if (has_nan(z)) {
    const T nan = z.real + z.imag;
    const T imag = is_infinite_part(z.imag)   ? -z.imag
                   : is_infinite_part(z.real) ? -fabs(z.real)
                                              : nan;
    return {z.real == 0 ? half_pi<T>() : nan, imag};
  }
  if (hides_one(z)) { // i log(2 z)
    const T size = log_size(z) + T(0.693147180559945309417);
    return {fabs(atan2(z.imag, z.real)), copysign(size, -z.imag)};
  }
  const Complex<T> minus = sqrt(Complex<T>{1 - z.real, -z.imag});
  const Complex<T> plus = sqrt(Complex<T>{1 + z.real, z.imag});
  return {2 * atan2(minus.real, plus.real), asinh(plus.real * minus.imag - plus.imag * minus.real)};
}
/// Odd in both parts: near -1 the logarithm would be that of a difference of equals.
template <typename T>
NVF_FUNCTION Complex<T> atanh(Complex<T> z) {
  const T x = fabs(z.real);
  const T y = fabs(z.imag);
  if (z.real == 0 || is_nan_part(z.imag)) {
    return {
        z.real == 0 || is_infinite_part(z.real) ? copysign(T(0), z.real) : z.imag, atan(z.imag)};
  }
  if (is_nan_part(z.real)) {
    const bool is_end = is_infinite_part(z.imag);
    return {is_end ? T(0) : z.real, is_end ? copysign(half_pi<T>(), z.imag) : z.real};
  }
  if (y == 0 && x <= 1) {
    return {atanh(z.real), z.imag};
  }
  if (hides_one(z)) { // 1 / z, and a right angle
    const bool is_end = is_infinite_part(x) || is_infinite_part(y);
    const T real = is_end ? T(0) : reciprocal(Complex<T>{x / 4, y / 4}).real / 4;
    return {copysign(real, z.real), copysign(half_pi<T>(), z.imag)};
  }
  const T rest = 1 - x;
  const T square = y * y; // too small beside 1 where it vanishes, unless `rest` does
  const bool is_pole = rest == 0 && y < 1 / inverse_epsilon<T>();
  const T real = is_pole ? (T(0.693147180559945309417) - log(y)) / 2
                         : log1p(4 * x / (rest * rest + square)) / 4;
  const T imag = rest == 0 ? atan2(T(2), -y) / 2 : atan2(2 * y, rest * (1 + x) - square) / 2;
  return {copysign(real, z.real), copysign(imag, z.imag)};
}
template <typename T>
NVF_FUNCTION Complex<T> atan(Complex<T> z) {
  return times_minus_i(atanh(times_i(z)));
}
template <typename T>
NVF_FUNCTION Complex<T> asinh(Complex<T> z) {
  return times_minus_i(asin(times_i(z)));
}
template <typename T>
NVF_FUNCTION Complex<T> acosh(Complex<T> z) {
  const Complex<T> angle = acos(z);
  const bool is_upper = is_nan_part(z.imag);
  return {fabs(angle.imag), is_upper ? angle.real : copysign(angle.real, z.imag)};
}

// ---- Activations --------------------------------------------------------------------------------

template <typename T>
NVF_FUNCTION Complex<T> sigmoid(Complex<T> z) {
  const Complex<T> sum = Complex<T>{T(1), T(0)} + exp(-z);
  const Complex<T> quotient = reciprocal(sum);
  const bool is_end = is_infinite_part(sum.real) || is_infinite_part(sum.imag);
  return is_end && has_nan(quotient)
             ? Complex<T>{copysign(T(0), sum.real), copysign(T(0), -sum.imag)}
             : quotient;
}
template <typename T>
NVF_FUNCTION Complex<T> silu(Complex<T> z) {
  return z / (Complex<T>{T(1), T(0)} + exp(-z));
}
