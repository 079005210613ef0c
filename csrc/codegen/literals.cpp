#include "codegen/literals.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/errors.h"

namespace nvfuser {
namespace {

/// The shortest decimal number that reads back as the same `T`.
template <typename T>
std::string shortest(T value) {
  char buffer[40];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}

std::string real_literal(double value, DataType type) {
  const std::string name = c_type(type);
  if (std::isnan(value)) {
    return "quiet_nan<" + name + ">()";
  }
  if (std::isinf(value)) {
    return (value < 0 ? "-infinity<" : "infinity<") + name + ">()";
  }
  return type == DataType::Float ? shortest(static_cast<float>(value)) + "f" : shortest(value);
}

std::string integer_literal(int64_t value, DataType type, bool exact_type) {
  std::string text;
  if (is_unsigned(type)) {
    text = std::to_string(static_cast<uint64_t>(value)) + (size_bits(type) == 64 ? "ull" : "u");
  } else if (value == std::numeric_limits<int64_t>::min()) {
    text = "(-9223372036854775807ll - 1)"; // the sign is no part of a literal
  } else if (
      value > std::numeric_limits<int32_t>::max() || value <= std::numeric_limits<int32_t>::min()) {
    text = std::to_string(value) + "ll";
  } else {
    text = std::to_string(value);
  }
  const bool is_int = type == DataType::Int32 && text.back() != 'l';
  return exact_type && !is_int ? c_type(type) + "(" + text + ")" : text;
}

} // namespace

std::string c_type(DataType type) {
  switch (type) {
    case DataType::ComplexFloat: return "Complex<float>";
    case DataType::ComplexDouble: return "Complex<double>";
    case DataType::Float4_e2m1fn_x2:
    case DataType::Null:
      throw InternalError(
          __FILE__, __LINE__, "a type of single numbers", {"a value of type ", type});
    default: return text(type);
  }
}

DataType compute_type(DataType type) {
  return is_low_precision(type) ? DataType::Float : type;
}

std::string literal(const ScalarValue& value, DataType type, bool exact_type) {
  if (is_boolean(type)) {
    return as_bool(value) ? "true" : "false";
  }
  if (is_complex(type)) {
    const std::complex<double> number = as_complex(value);
    const DataType part = real_type_of(type);
    return c_type(type) + "{" + real_literal(number.real(), part) + ", " +
           real_literal(number.imag(), part) + "}";
  }
  if (is_low_precision(type)) {
    const double number = as_double(convert_value(value, type));
    return "cast<" + c_type(type) + ">(" + real_literal(number, DataType::Float) + ")";
  }
  if (is_floating_point(type)) {
    return real_literal(as_double(value), type);
  }
  return integer_literal(as_int(value), type, exact_type);
}

} // namespace nvfuser
