// Signatures: words that stand for everything a plan depends on. Equal words: one plan serves both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/fusion.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

using Signature = std::vector<int64_t>;

struct SignatureHash {
  size_t operator()(const Signature& words) const {
    uint64_t hash = words.size();
    for (const int64_t word : words) {
      hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// By input of `fusion`: is it a scalar that a size, and so a plan, depends on?
[[nodiscard]] std::vector<bool> find_shape_scalars(const Fusion& fusion);

/// Append what a plan may depend on: of tensors type, device, sizes and strides; of numbers their
/// class and, where `sizes_depend_on` says so, their value.
void add_arguments(
    std::span<const Argument> args, const std::vector<bool>& sizes_depend_on, Signature& words);

} // namespace nvfuser
