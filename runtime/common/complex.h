// Complex numbers and their elementary functions. Formulas of the inverse functions follow Kahan,
// "Branch cuts for complex elementary functions", 1987.
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
  const T abs_real = b.real < 0 ? -b.real : b.real;
  const T abs_imag = b.imag < 0 ? -b.imag : b.imag;
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

// ---- Elementary functions -----------------------------------------------------------------------

template <typename T>
NVF_FUNCTION Complex<T> exp(Complex<T> z) {
  const T scale = exp(z.real);
  if (z.imag == 0) {
    return {scale, z.imag};
  }
  const T no_angle = z.imag - z.imag; // NaN where the angle is infinite or NaN, else zero
  if (no_angle != 0 && z.real == z.real && z.real - z.real != 0) {
    return {scale, z.real < 0 ? T(0) : no_angle};
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
template <typename T>
NVF_FUNCTION Complex<T> log(Complex<T> z) {
  return {log(abs(z)), atan2(z.imag, z.real)};
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
  // |1 + z|^2 = 1 + (2 x + x^2 + y^2), unless that cancels, where 1 + x is exact, or may overflow.
  const T excess = z.real * (2 + z.real) + z.imag * z.imag;
  const bool is_near_zero = excess >= T(-0.5) && excess <= T(1);
  const T size = is_near_zero ? log1p(excess) / 2 : log(hypot(1 + z.real, z.imag));
  return {size, atan2(z.imag, 1 + z.real)};
}
template <typename T>
NVF_FUNCTION Complex<T> sqrt(Complex<T> z) {
  if (z.real == 0 && z.imag == 0) {
    return {T(0), z.imag};
  }
  const T root = sqrt((fabs(z.real) + abs(z)) / 2);
  if (z.real >= 0) {
    return {root, z.imag / (2 * root)};
  }
  return {fabs(z.imag) / (2 * root), copysign(root, z.imag)};
}
template <typename T>
NVF_FUNCTION Complex<T> rsqrt(Complex<T> z) {
  return reciprocal(sqrt(z));
}
template <typename T>
NVF_FUNCTION Complex<T> pow(Complex<T> base, Complex<T> exponent) {
  if (exponent.real == 0 && exponent.imag == 0) {
    return {T(1), T(0)};
  }
  return exp(exponent * log(base));
}
/// The product, but a zero stays one beside a factor that became infinite: on the axes.
template <typename T>
NVF_FUNCTION T grown(T x, T growth) {
  const bool is_finite = growth - growth == 0;
  return x != 0 || is_finite ? x * growth : growth < 0 ? -x : x;
}
template <typename T>
NVF_FUNCTION Complex<T> sinh(Complex<T> z) {
  return {sinh(z.real) * cos(z.imag), grown(sin(z.imag), cosh(z.real))};
}
template <typename T>
NVF_FUNCTION Complex<T> cosh(Complex<T> z) {
  return {cosh(z.real) * cos(z.imag), grown(sin(z.imag), sinh(z.real))};
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
template <typename T>
NVF_FUNCTION Complex<T> asin(Complex<T> z) {
  const Complex<T> minus = sqrt(Complex<T>{1 - z.real, -z.imag});
  const Complex<T> plus = sqrt(Complex<T>{1 + z.real, z.imag});
  return {
      atan2(z.real, plus.real * minus.real - plus.imag * minus.imag),
      asinh(minus.real * plus.imag - minus.imag * plus.real)};
}
template <typename T>
NVF_FUNCTION Complex<T> acos(Complex<T> z) {
  const Complex<T> minus = sqrt(Complex<T>{1 - z.real, -z.imag});
  const Complex<T> plus = sqrt(Complex<T>{1 + z.real, z.imag});
  return {2 * atan2(minus.real, plus.real), asinh(plus.real * minus.imag - plus.imag * minus.real)};
}
template <typename T>
NVF_FUNCTION Complex<T> atanh(Complex<T> z) {
  // Odd in the real part: near -1 the logarithm would be that of a difference of equals.
  const T size = fabs(z.real);
  const T rest = 1 - size;
  const T real = log1p(4 * size / (rest * rest + z.imag * z.imag)) / 4;
  return {copysign(real, z.real), atan2(2 * z.imag, rest * (1 + size) - z.imag * z.imag) / 2};
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
  const Complex<T> minus = sqrt(Complex<T>{z.real - 1, z.imag});
  const Complex<T> plus = sqrt(Complex<T>{z.real + 1, z.imag});
  return {asinh(minus.real * plus.real + minus.imag * plus.imag), 2 * atan2(minus.imag, plus.real)};
}
template <typename T>
NVF_FUNCTION Complex<T> sigmoid(Complex<T> z) {
  return reciprocal(Complex<T>{T(1), T(0)} + exp(-z));
}
template <typename T>
NVF_FUNCTION Complex<T> silu(Complex<T> z) {
  return z * sigmoid(z);
}
