#include "optimize/number_formats.h"

#include <optional>

namespace nvfuser::optimize {
namespace {

/// Values of a floating point type: m * 2^e with |m| < 2^precision and e >= least_exponent, below
/// 2^(largest_exponent + 1).
struct FloatFormat {
  int precision = 0;
  int largest_exponent = 0;
  int least_exponent = 0; // of the last bit of the smallest number
  bool has_sign_and_zero = true;
};

std::optional<FloatFormat> float_format(DataType type) {
  switch (type) {
    case DataType::Double: return FloatFormat{53, 1023, -1074};
    case DataType::Float: return FloatFormat{24, 127, -149};
    case DataType::BFloat16: return FloatFormat{8, 127, -133};
    case DataType::Half: return FloatFormat{11, 15, -24};
    case DataType::Float8_e4m3fn: return FloatFormat{4, 8, -9};
    case DataType::Float8_e5m2: return FloatFormat{3, 15, -16};
    case DataType::Float8_e8m0fnu: return FloatFormat{1, 127, -127, false};
    case DataType::Float4_e2m1fn: return FloatFormat{2, 2, -1};
    default: return std::nullopt;
  }
}

/// Bits of the magnitude of a whole number; a Bool has one.
int magnitude_bits(DataType type) {
  if (is_boolean(type)) {
    return 1;
  }
  const auto bits = static_cast<int>(size_bits(type));
  return is_unsigned(type) ? bits : bits - 1;
}

bool is_whole(DataType type) {
  return is_boolean(type) || is_integral(type);
}

bool holds_whole(DataType wide, DataType narrow) {
  const bool is_signed = !is_boolean(narrow) && !is_unsigned(narrow);
  if (is_whole(wide)) {
    const bool takes_sign = !is_boolean(wide) && !is_unsigned(wide);
    return magnitude_bits(wide) >= magnitude_bits(narrow) && (takes_sign || !is_signed);
  }
  const std::optional<FloatFormat> format = float_format(wide);
  // The least number of a signed type is a power of two.
  return format && format->has_sign_and_zero && format->precision >= magnitude_bits(narrow) &&
         format->largest_exponent >= magnitude_bits(narrow);
}

} // namespace

bool holds_all_values(DataType wide, DataType narrow) {
  if (wide == narrow) {
    return true;
  }
  if (is_complex(wide)) {
    return holds_all_values(real_type_of(wide), is_complex(narrow) ? real_type_of(narrow) : narrow);
  }
  if (is_whole(narrow)) {
    return holds_whole(wide, narrow);
  }
  const std::optional<FloatFormat> w = float_format(wide);
  const std::optional<FloatFormat> n = float_format(narrow);
  return w && n && w->has_sign_and_zero && w->precision >= n->precision &&
         w->largest_exponent >= n->largest_exponent && w->least_exponent <= n->least_exponent;
}

} // namespace nvfuser::optimize
