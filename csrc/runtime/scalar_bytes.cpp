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

/// Bits of a value that an IEEE-like format holds exactly (convert_value rounded it). `nan` and
/// `infinity` are the codes of the format.
template <int kExponentBits, int kMantissaBits>
unsigned ieee_bits(double value, unsigned nan, unsigned infinity) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const unsigned sign = std::signbit(value) ? 1u << (kExponentBits + kMantissaBits) : 0u;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    return sign | nan;
  }
  if (std::isinf(value)) {
    return sign | infinity;
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent); // magnitude = f * 2^exponent, f in [0.5, 1)
  const int biased = exponent - 1 + kBias;
  if (biased <= 0) { // subnormal: a multiple of 2^(1 - bias - mantissa bits)
    return sign | static_cast<unsigned>(std::ldexp(magnitude, kBias - 1 + kMantissaBits));
  }
  const double fraction = std::ldexp(magnitude, kMantissaBits - (exponent - 1));
  const auto mantissa = static_cast<unsigned>(fraction) - (1u << kMantissaBits);
  return sign | static_cast<unsigned>(biased) << kMantissaBits | mantissa;
}

/// Code of a power of two; NaN is the largest.
uint8_t e8m0_bits(double value) {
  return std::isnan(value) ? uint8_t{0xff} : static_cast<uint8_t>(std::ilogb(value) + 127);
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
    case DataType::Half: {
      const unsigned bits = ieee_bits<5, 10>(as_double(converted), 0x7e00, 0x7c00);
      return write(static_cast<uint16_t>(bits), destination);
    }
    case DataType::Float8_e4m3fn:
      return write(
          static_cast<uint8_t>(ieee_bits<4, 3>(as_double(converted), 0x7f, 0x7f)), destination);
    case DataType::Float8_e5m2:
      return write(
          static_cast<uint8_t>(ieee_bits<5, 2>(as_double(converted), 0x7f, 0x7c)), destination);
    case DataType::Float4_e2m1fn:
      return write(
          static_cast<uint8_t>(ieee_bits<2, 1>(as_double(converted), 0x7, 0x7)), destination);
    case DataType::Float8_e8m0fnu: return write(e8m0_bits(as_double(converted)), destination);
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
