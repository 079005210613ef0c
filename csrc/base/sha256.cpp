#include "base/sha256.h"

#include <bit>
#include <cstdint>

namespace nvfuser {
namespace {

constexpr size_t kBlockBytes = 64;
constexpr size_t kLengthBytes = 8; // at the end of the last block

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes) {
    num_bytes_ += bytes.size();
    for (const std::byte byte : bytes) {
      add(byte);
    }
  }

  [[nodiscard]] Digest finish() {
    const uint64_t num_bits = num_bytes_ * 8;
    add(std::byte{0x80});
    while (filled_ != kBlockBytes - kLengthBytes) {
      add(std::byte{0});
    }
    for (int shift = 56; shift >= 0; shift -= 8) {
      add(static_cast<std::byte>(num_bits >> static_cast<unsigned>(shift)));
    }
    Digest digest{};
    for (size_t i = 0; i < digest.size(); ++i) {
      digest.at(i) = static_cast<std::byte>(state_.at(i / 4) >> (24 - 8 * (i % 4)));
    }
    return digest;
  }

 private:
  void add(std::byte byte) {
    block_.at(filled_++) = static_cast<uint8_t>(byte);
    if (filled_ == kBlockBytes) {
      compress();
      filled_ = 0;
    }
  }

  void compress() {
    std::array<uint32_t, 64> words{};
    for (size_t i = 0; i < 16; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        words.at(i) = (words.at(i) << 8U) | block_.at(4 * i + j);
      }
    }
    for (size_t i = 16; i < words.size(); ++i) {
      const uint32_t a = words.at(i - 15);
      const uint32_t b = words.at(i - 2);
      const uint32_t sigma0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U);
      const uint32_t sigma1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U);
      words.at(i) = words.at(i - 16) + sigma0 + words.at(i - 7) + sigma1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (size_t i = 0; i < words.size(); ++i) {
      const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t choice = (e & f) ^ (~e & g);
      const uint32_t mixed = h + sum1 + choice + kRounds.at(i) + words.at(i);
      const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      h = g;
      g = f;
      f = e;
      e = d + mixed;
      d = c;
      c = b;
      b = a;
      a = mixed + sum0 + majority;
    }
    const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < state_.size(); ++i) {
      state_.at(i) += added.at(i);
    }
  }

  // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, kBlockBytes> block_{};
  size_t filled_ = 0; // bytes of `block_`
  uint64_t num_bytes_ = 0;
};

} // namespace

Digest sha256(std::initializer_list<std::span<const std::byte>> parts) {
  Sha256 hash;
  for (const std::span<const std::byte> part : parts) {
    hash.add(part);
  }
  return hash.finish();
}

} // namespace nvfuser
