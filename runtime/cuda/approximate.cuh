// Faster arithmetic: for functions whose result is no better than an approximation anyway, and for
// values that are rounded to 16 bits before anything sees them.
//
// provides: approximate_exp approximate_exp2 approximate_exp_about
// provides: approximate_sigmoid approximate_silu approximate_normal_cdf
// requires: types
#pragma once

/// a / b within 2 units in the last place; 0 where |b| is above 2^126.
NVF_FUNCTION float approximate_divide(float a, float b) {
  return __fdividef(a, b);
}
NVF_FUNCTION double approximate_divide(double a, double b) {
  return a / b;
}

/// 2^x within a relative error of 2^-22; 0 below 2^-126.
NVF_FUNCTION float approximate_exp2(float x) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
/// e^x within a relative error of (4 + |x|) * 2^-24: the product is rounded, and its error grows
/// with it. 0 below 2^-126.
NVF_FUNCTION float approximate_exp(float x) {
  return approximate_exp2(x * 1.4426950408889634f);
}
/// e^(x - m), for elements x of 16 bits and their maximum m, times a factor that is the same for
/// all x: 2^r, where r is the error of m * log2(e), at most 1 / 256. The relative error beside it
/// is that of approximate_exp.
///
/// From 2^16 on, neighbours of 16 bits are so far from each other that e^(x - m), and 2^(x - m) as
/// well, are 1 or 0: without the product nothing is rounded.
NVF_FUNCTION float approximate_exp_about(float x, float m) {
  const float factor = fabsf(m) < 65536.0f ? 1.4426950408889634f : 1.0f;
  return approximate_exp2(__fmaf_rn(x, factor, -(m * factor)));
}

/// 1 / x within 1 unit in the last place; 0 where |x| is above 2^126.
NVF_FUNCTION float approximate_reciprocal(float x) {
  float out;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
NVF_FUNCTION float approximate_sigmoid(float x) {
  return approximate_reciprocal(1.0f + approximate_exp(-x));
}
NVF_FUNCTION float approximate_silu(float x) {
  return x * approximate_sigmoid(x);
}

/// The probability that a normal variable is below x, within a relative error of 2^-12.9 from -4.2
/// on; below, by less than 3e-10. Exact at 0, infinities and NaN.
///
/// The tail below -a is 2^p(a): log2 of the tail is nearly a parabola, which a polynomial of degree
/// 5 follows; where it was not fitted, both fall to 0. Fitted here by linear programming: the
/// largest relative error up to 4.2 is least, errors beyond weigh e^(3 (4.2 - a)).
NVF_FUNCTION float approximate_normal_cdf(float x) {
  const float a = fabsf(x);
  float p = -3.017363488e-4f;
  p = __fmaf_rn(p, a, 5.659053102e-3f);
  p = __fmaf_rn(p, a, -4.776569083e-2f);
  p = __fmaf_rn(p, a, -4.644951224e-1f);
  p = __fmaf_rn(p, a, -1.149308801f);
  const float tail = approximate_exp2(__fmaf_rn(p, a, -1.0f));
  return x > 0.0f ? 1.0f - tail : tail;
}
