#include "runtime/scalar_bytes.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/errors.h"

namespace nvfuser {
namespace {

template <typename T>
size_t write(T value, std::byte* destination) {
  std::memcpy(destination, &value, sizeof(T));
  return sizeof(T);
}

/// Bits of a value that a bfloat16 holds exactly (convert_value rounded it).
uint16_t bfloat16_bits(double value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

/// Bits of a value that a half holds exactly (convert_value rounded it).
uint16_t half_bits(double value) {
  constexpr int kBias = 15;
  constexpr int kFractionBits = 10;
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    return static_cast<uint16_t>(sign | 0x7e00);
  }
  if (std::isinf(value)) {
    return static_cast<uint16_t>(sign | 0x7c00);
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent); // magnitude = f * 2^exponent, f in [0.5, 1)
  const int biased = exponent - 1 + kBias;
  if (biased <= 0) { // subnormal: a multiple of 2^-24
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::ldexp(magnitude, 24)));
  }
  const double fraction = std::ldexp(magnitude, kFractionBits - (exponent - 1)) - 1024;
  return static_cast<uint16_t>(sign | (biased << kFractionBits) | static_cast<uint16_t>(fraction));
}

} // namespace

size_t write_scalar(
    const ScalarValue& value, DataType dtype, DataType index_type, std::byte* destination) {
  if (dtype == DataType::Index) {
    dtype = index_type;
  }
  const ScalarValue converted = convert_value(value, dtype);
  switch (dtype) {
    case DataType::Bool: return write<uint8_t>(as_bool(converted) ? 1 : 0, destination);
    case DataType::Double: return write(as_double(converted), destination);
    case DataType::Float: return write(static_cast<float>(as_double(converted)), destination);
    case DataType::Half: return write(half_bits(as_double(converted)), destination);
    case DataType::BFloat16: return write(bfloat16_bits(as_double(converted)), destination);
    case DataType::ComplexFloat: {
      const auto number = static_cast<std::complex<float>>(as_complex(converted));
      return write(number, destination);
    }
    case DataType::ComplexDouble: return write(as_complex(converted), destination);
    case DataType::Int:
    case DataType::UInt64: return write(as_int(converted), destination);
    case DataType::Int32:
    case DataType::UInt32: return write(static_cast<int32_t>(as_int(converted)), destination);
    case DataType::Short:
    case DataType::UInt16: return write(static_cast<int16_t>(as_int(converted)), destination);
    case DataType::Char:
    case DataType::Byte: return write(static_cast<int8_t>(as_int(converted)), destination);
    default:
      throw UserError(Part("Scalars of dtype ", text(dtype), " cannot be inputs of a kernel."));
  }
}

} // namespace nvfuser
