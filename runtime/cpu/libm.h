// The C library's functions of real numbers, declared without its headers: `f` for float, and for
// templates the same name for both types. Then what CUDA has and C has not.
//
// provides: acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atan2 atan2f
// provides: atanh atanhf ceil ceilf cos cosf cosh coshf erf erfc erfcf erfcinv erfcinvf
// provides: erfinv erfinvf exp exp2 exp2f expm1 expm1f fabs fabsf floor floorf fmax
// provides: fma fmaf fmaxf fmin fminf fmod fmodf lgamma lgammaf log log10 log10f log1p log1pf
// provides: log2 log2f nextafter nextafterf pow powf rint rintf rsqrt rsqrtf sin sinf
// provides: sinh sinhf sqrt sqrtf tan tanf tanh trunc truncf
// requires: types vector_math vector_trig vector_power vector_inverse
#pragma once

#define NVF_LIBM_1(name)                      \
  extern "C" double name(double) noexcept;    \
  extern "C" float name##f(float) noexcept;   \
  NVF_FUNCTION float name(float x) noexcept { \
    return name##f(x);                        \
  }
// The float form is in vector_math.h, vector_trig.h or vector_inverse.h.
#define NVF_LIBM_OF_DOUBLE(name)              \
  extern "C" double name(double) noexcept;    \
  NVF_FUNCTION float name(float x) noexcept { \
    return name##f(x);                        \
  }
#define NVF_LIBM_2(name)                               \
  extern "C" double name(double, double) noexcept;     \
  extern "C" float name##f(float, float) noexcept;     \
  NVF_FUNCTION float name(float x, float y) noexcept { \
    return name##f(x, y);                              \
  }

NVF_LIBM_1(ceil)
NVF_LIBM_1(erfc)
NVF_LIBM_1(fabs)
NVF_LIBM_1(floor)
NVF_LIBM_1(rint)
NVF_LIBM_1(sqrt)
NVF_LIBM_1(trunc)
NVF_LIBM_OF_DOUBLE(acos)
NVF_LIBM_OF_DOUBLE(acosh)
NVF_LIBM_OF_DOUBLE(asin)
NVF_LIBM_OF_DOUBLE(asinh)
NVF_LIBM_OF_DOUBLE(atan)
NVF_LIBM_OF_DOUBLE(atanh)
NVF_LIBM_OF_DOUBLE(cos)
NVF_LIBM_OF_DOUBLE(cosh)
NVF_LIBM_OF_DOUBLE(erf)
NVF_LIBM_OF_DOUBLE(exp)
NVF_LIBM_OF_DOUBLE(exp2)
NVF_LIBM_OF_DOUBLE(expm1)
NVF_LIBM_OF_DOUBLE(log)
NVF_LIBM_OF_DOUBLE(log10)
NVF_LIBM_OF_DOUBLE(log1p)
NVF_LIBM_OF_DOUBLE(log2)
NVF_LIBM_OF_DOUBLE(sin)
NVF_LIBM_OF_DOUBLE(sinh)
NVF_LIBM_OF_DOUBLE(tan)
NVF_LIBM_OF_DOUBLE(tanh)
NVF_LIBM_2(atan2)
NVF_LIBM_2(copysign)
NVF_LIBM_2(fmax)
NVF_LIBM_2(fmin)
NVF_LIBM_2(fmod)
NVF_LIBM_2(hypot)
NVF_LIBM_2(nextafter)

extern "C" double pow(double, double) noexcept;
NVF_FUNCTION float pow(float x, float y) noexcept { // its own form is in vector_power.h
  return powf(x, y);
}

// a * b + c, rounded once.
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;

// The forms that return the sign of gamma through a pointer instead of a global variable.
extern "C" double lgamma_r(double, int*) noexcept;
extern "C" float lgammaf_r(float, int*) noexcept;
NVF_FUNCTION double lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
NVF_FUNCTION float lgammaf(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}

NVF_FUNCTION double rsqrt(double x) {
  return 1.0 / sqrt(x);
}
NVF_FUNCTION float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
NVF_FUNCTION float rsqrt(float x) {
  return rsqrtf(x);
}

/// The x with erfc(x) = y. A rational guess (Abramowitz and Stegun 26.2.23), then Halley's method.
NVF_FUNCTION double erfcinv(double y) {
  if (!(y > 0 && y < 2)) {
    return y == 0 ? infinity<double>() : y == 2 ? -infinity<double>() : quiet_nan<double>();
  }
  const double tail = y < 1 ? y : 2 - y;
  const double t = sqrt(-2 * log(tail / 2));
  double x =
      0.70710678118654752 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
  for (int i = 0; i < 3; ++i) {
    // Halley: f = erfc(x) - tail, f'/f'' = -1 / (2 x)
    const double step = (erfc(x) - tail) / (1.12837916709551257 * exp(-x * x));
    x += step / (1 - x * step);
  }
  return y < 1 ? x : -x;
}
NVF_FUNCTION double erfinv(double y) {
  if (!(y > -1 && y < 1)) {
    return y == 1 ? infinity<double>() : y == -1 ? -infinity<double>() : quiet_nan<double>();
  }
  if (y > 0.5 || y < -0.5) {
    return y > 0 ? erfcinv(1 - y) : -erfcinv(1 + y);
  }
  double x = 0.88622692545275801 * y;
  for (int i = 0; i < 5; ++i) {
    const double step = (erf(x) - y) / (1.12837916709551257 * exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}
NVF_FUNCTION float erfcinvf(float y) {
  return static_cast<float>(erfcinv(static_cast<double>(y)));
}
NVF_FUNCTION float erfinvf(float y) {
  return static_cast<float>(erfinv(static_cast<double>(y)));
}
