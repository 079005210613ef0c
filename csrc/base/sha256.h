// SHA-256 (FIPS 180-4): names what is the same in every process and on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

namespace nvfuser {

using Digest = std::array<std::byte, 32>;

/// The digest of the parts, one behind the other.
[[nodiscard]] Digest sha256(std::initializer_list<std::span<const std::byte>> parts);

} // namespace nvfuser
