// Numbers as bytes: the same on every machine, and one way only to write each.
//
//   number   7 bits a byte, the lowest first; the high bit says that more follow
//   signed   0, -1, 1, -2, .. are the numbers 0, 1, 2, 3, ..
//   real     the 64 bits, the lowest byte first
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nvfuser {

class ByteWriter {
 public:
  void byte(uint8_t value) {
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
      byte(static_cast<uint8_t>(value | 0x80U));
    }
    byte(static_cast<uint8_t>(value));
  }
  void signed_number(int64_t value) {
    number((static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63));
  }
  void real(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      byte(static_cast<uint8_t>(bits >> shift));
    }
  }
  void append(const ByteWriter& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const {
    return bytes_;
  }
  /// The bytes as a key of a map.
  [[nodiscard]] std::string str() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what ByteWriter wrote, or anything else: after the first fault every read gives 0, and
/// `fault` says what was wrong. No count is larger than the bytes that are left.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool is_good() const {
    return fault_.empty();
  }
  /// The first mistake in the bytes; empty: there is none.
  [[nodiscard]] const std::string& fault() const {
    return fault_;
  }
  void fail(std::string fault) {
    if (is_good()) {
      fault_ = std::move(fault);
    }
  }
  [[nodiscard]] size_t position() const {
    return position_;
  }
  [[nodiscard]] size_t num_left() const {
    return bytes_.size() - position_;
  }

  uint8_t byte() {
    if (!is_good() || num_left() == 0) {
      fail("the bytes end too early");
      return 0;
    }
    return static_cast<uint8_t>(bytes_[position_++]);
  }
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t part = byte();
      if (shift == 63 && part > 1) {
        break;
      }
      value |= static_cast<uint64_t>(part & 0x7FU) << shift;
      if (part < 0x80) {
        return is_good() ? value : 0;
      }
    }
    fail("a number has more than 64 bits");
    return 0;
  }
  int64_t signed_number() {
    const uint64_t value = number();
    return static_cast<int64_t>((value >> 1U) ^ (0 - (value & 1U)));
  }
  double real() {
    uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bits |= static_cast<uint64_t>(byte()) << shift;
    }
    return std::bit_cast<double>(bits);
  }
  /// A number below `end`; `what` it counts stands in the fault.
  uint64_t number_below(uint64_t end, const char* what) {
    const uint64_t value = number();
    if (is_good() && value >= end) {
      fail(
          std::string(what) + " " + std::to_string(value) + " where there are " +
          std::to_string(end));
      return 0;
    }
    return is_good() ? value : 0;
  }
  /// How many items follow, of at least one byte each.
  size_t count() {
    const uint64_t value = number();
    if (is_good() && value > num_left()) {
      fail(
          "a list of " + std::to_string(value) + " items in " + std::to_string(num_left()) +
          " bytes");
      return 0;
    }
    return is_good() ? value : 0;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  std::string fault_;
};

} // namespace nvfuser
