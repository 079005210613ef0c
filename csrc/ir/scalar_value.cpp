// Values of constants: conversion between types, rounding to the precision of a type.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/errors.h"
#include "base/types.h"

namespace nvfuser {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestE8M0 = 0x1p-127;
constexpr double kLargestE8M0 = 0x1p127;

/// A binary floating-point format narrower than double. Subnormals go down to
/// 2^(min_exponent - mantissa_bits).
struct FloatFormat {
  int mantissa_bits; // without the leading one
  int min_exponent;  // of the smallest normal number
  double largest;    // largest finite value
  double overflow;   // what greater values become: infinity, NaN or the largest
};

double round_to_format(double value, const FloatFormat& format) {
  if (std::isnan(value) || value == 0.0) {
    return value;
  }
  if (std::isinf(value)) {
    return std::copysign(format.overflow, value);
  }
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int lowest_bit = exponent - format.mantissa_bits;
  // Scaling by powers of two is exact, and nearbyint rounds to nearest, ties to even.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -lowest_bit)), lowest_bit);
  if (std::abs(rounded) <= format.largest) {
    return rounded;
  }
  return std::copysign(format.overflow, value);
}

/// Float8_e8m0fnu holds powers of two: no sign, no zero. Where two are
/// equally near, it is the larger.
double round_to_power_of_two(double value) {
  const double magnitude = std::abs(value);
  if (magnitude <= kSmallestE8M0) {
    return kSmallestE8M0;
  }
  if (magnitude < 2.0 * kSmallestE8M0) {
    return 2.0 * kSmallestE8M0;
  }
  const double below =
      std::isfinite(magnitude) ? std::ldexp(1.0, std::ilogb(magnitude)) : magnitude;
  const double nearest = magnitude - below < 2.0 * below - magnitude ? below : 2.0 * below;
  return nearest <= kLargestE8M0 ? nearest : kNaN;
}

double round_real(double value, DataType type) {
  switch (type) {
    case DataType::Float:
    case DataType::ComplexFloat: return static_cast<double>(static_cast<float>(value));
    case DataType::Half: return round_to_format(value, {10, -14, 65504.0, kInfinity});
    case DataType::BFloat16: return round_to_format(value, {7, -126, 0x1.FEp127, kInfinity});
    case DataType::Float8_e4m3fn: return round_to_format(value, {3, -6, 448.0, 448.0});
    case DataType::Float8_e5m2: return round_to_format(value, {2, -14, 57344.0, kInfinity});
    case DataType::Float8_e8m0fnu: return round_to_power_of_two(value);
    case DataType::Float4_e2m1fn:
    case DataType::Float4_e2m1fn_x2:
      return std::isnan(value) ? 6.0 : round_to_format(value, {1, 0, 6.0, 6.0}); // it has no NaN
    default: return value;
  }
}

int64_t wrap_integer(int64_t value, DataType type) {
  switch (type) {
    case DataType::Char: return static_cast<int8_t>(value);
    case DataType::Short: return static_cast<int16_t>(value);
    case DataType::Int32: return static_cast<int32_t>(value);
    case DataType::Byte: return static_cast<uint8_t>(value);
    case DataType::UInt16: return static_cast<uint16_t>(value);
    case DataType::UInt32:
    case DataType::SMemAddress:
    case DataType::TMemAddress: return static_cast<uint32_t>(value);
    default: return value;
  }
}

/// Truncated; beyond the range of int64 the nearest bound, and 0 for NaN.
int64_t truncate_real(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  if (value >= 0x1p63) {
    return std::numeric_limits<int64_t>::max();
  }
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

/// The real number of type `type` for an integer, rounded once: not to double first.
template <typename Integer>
double round_integer(Integer value, DataType type) {
  const bool is_single = type == DataType::Float || type == DataType::ComplexFloat;
  return is_single ? static_cast<double>(static_cast<float>(value))
                   : round_real(static_cast<double>(value), type);
}

/// The bits of a UInt64 constant.
int64_t truncate_to_unsigned(double value) {
  if (value >= 0x1p64) {
    return -1;
  }
  return value >= 0x1p63 ? static_cast<int64_t>(static_cast<uint64_t>(value))
                         : truncate_real(value);
}

/// Bits of an integer type that say how large a number is.
int magnitude_bits(DataType type) {
  return static_cast<int>(size_bits(type)) - (is_unsigned(type) ? 0 : 1);
}

bool is_in_range(double value, DataType type) {
  const double number = std::trunc(value);
  const double end = std::ldexp(1.0, magnitude_bits(type));
  return number >= (is_unsigned(type) ? 0.0 : -end) && number < end; // a NaN is neither
}

bool is_in_range(int64_t value, DataType from, DataType type) {
  const bool is_large = from == DataType::UInt64 && value < 0; // the bits of a number from 2^63 on
  if (is_large || type == DataType::UInt64) {
    return type == DataType::UInt64 && (is_large || value >= 0);
  }
  return value >= as_int(lowest_value(type)) && value <= as_int(highest_value(type));
}

std::string number_text(const ScalarValue& value, DataType from) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return from == DataType::UInt64 ? std::to_string(static_cast<uint64_t>(*integer))
                                    : std::to_string(*integer);
  }
  std::ostringstream out;
  out.precision(std::numeric_limits<double>::max_digits10);
  if (std::holds_alternative<std::complex<double>>(value)) {
    out << as_complex(value);
  } else {
    out << as_double(value);
  }
  return out.str();
}

/// Which constants a type has.
std::string range_text(DataType type) {
  if (is_integral(type)) {
    return "an integer from " + number_text(lowest_value(type), type) + " to " +
           number_text(highest_value(type), type);
  }
  return is_floating_point(type) ? "a real number" : "a type that constants can have";
}

} // namespace

bool as_bool(const ScalarValue& value) {
  return as_complex(value) != std::complex<double>(0.0, 0.0);
}

int64_t as_int(const ScalarValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return *integer;
  }
  return truncate_real(as_double(value));
}

double as_double(const ScalarValue& value) {
  return as_complex(value).real();
}

std::complex<double> as_complex(const ScalarValue& value) {
  NVF_INVARIANT(has_value(value), "a symbolic value has no number");
  if (const auto* boolean = std::get_if<bool>(&value)) {
    return *boolean ? 1.0 : 0.0;
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return *real;
  }
  return std::get<std::complex<double>>(value);
}

ScalarValue convert_value(const ScalarValue& value, DataType type) {
  if (!has_value(value)) {
    return value;
  }
  if (is_boolean(type)) {
    return as_bool(value);
  }
  if (is_integral(type)) {
    const bool is_real = !std::holds_alternative<int64_t>(value);
    return wrap_integer(
        is_real && type == DataType::UInt64 ? truncate_to_unsigned(as_double(value))
                                            : as_int(value),
        type);
  }
  const auto* integer = std::get_if<int64_t>(&value);
  if (is_complex(type)) {
    const std::complex<double> number = as_complex(value);
    const double real =
        integer != nullptr ? round_integer(*integer, type) : round_real(number.real(), type);
    return std::complex<double>(real, round_real(number.imag(), type));
  }
  if (is_floating_point(type)) {
    return integer != nullptr ? round_integer(*integer, type) : round_real(as_double(value), type);
  }
  throw UserError(Part("A constant cannot have the data type ", type));
}

ScalarValue convert_value(const ScalarValue& value, DataType from, DataType to) {
  const auto* bits = std::get_if<int64_t>(&value);
  const bool is_large = from == DataType::UInt64 && bits != nullptr && *bits < 0;
  if (!is_large || is_integral(to) || is_boolean(to)) {
    return convert_value(value, to);
  }
  return convert_value(round_integer(static_cast<uint64_t>(*bits), to), to);
}

bool is_representable(const ScalarValue& value, DataType from, DataType to) {
  if (is_boolean(to) || is_complex(to)) {
    return true;
  }
  const bool is_real = !std::holds_alternative<std::complex<double>>(value) ||
                       std::get<std::complex<double>>(value).imag() == 0.0;
  if (!is_integral(to)) {
    return is_floating_point(to) && is_real;
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return is_in_range(*integer, from, to);
  }
  return is_real && is_in_range(as_double(value), to);
}

void throw_not_representable(const ScalarValue& value, DataType from, DataType to) {
  const std::string number = number_text(value, from);
  throw UserError(
      {.headline =
           {"Scalar value is not compatible with the given data type ", to, " for value ", number},
       .node = {"a constant of type ", to},
       .expected = range_text(to),
       .found = number,
       .fix = "give a number that fits, or a data type that holds it"},
      ErrorKind::Value);
}

ScalarValue lowest_value(DataType type) {
  if (is_boolean(type)) {
    return false;
  }
  if (is_integral(type)) {
    const int64_t bits = size_bits(type);
    return is_unsigned(type)
               ? int64_t{0}
               : static_cast<int64_t>(~uint64_t{0} << static_cast<unsigned>(bits - 1));
  }
  NVF_USER_CHECK(is_floating_point(type), "Data type ", type, " has no smallest value");
  return type == DataType::Float8_e8m0fnu ? kSmallestE8M0 : -kInfinity;
}

ScalarValue highest_value(DataType type) {
  if (is_boolean(type)) {
    return true;
  }
  if (is_integral(type)) {
    const auto value_bits = static_cast<unsigned>(size_bits(type) - (is_unsigned(type) ? 0 : 1));
    return static_cast<int64_t>(~uint64_t{0} >> (64U - value_bits));
  }
  NVF_USER_CHECK(is_floating_point(type), "Data type ", type, " has no largest value");
  return type == DataType::Float8_e8m0fnu ? kLargestE8M0 : kInfinity;
}

} // namespace nvfuser
