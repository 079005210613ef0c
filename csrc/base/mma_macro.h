// Instructions of tensor cores, as a MmaOp names them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/types.h"

namespace nvfuser {

#define NVF_FOR_EACH_MMA_MACRO_ARCH(X) \
  X(NoMma) X(Volta) X(Turing) X(Ampere) X(Hopper) X(Blackwell1CTA) X(Blackwell2CTA)
#define NVF_FOR_EACH_MMA_OPERAND(X) X(A) X(B)

/// The GPUs that an instruction is of.
NVF_DECLARE_ENUM(MmaMacroArch, NVF_FOR_EACH_MMA_MACRO_ARCH)
/// The first or the second factor of a product of matrices.
NVF_DECLARE_ENUM(MmaOperand, NVF_FOR_EACH_MMA_OPERAND)

/// The instruction that multiplies [m, k] by [k, n]. As a number it has 16 bits for each part, the
/// architecture highest; 0 is no instruction.
struct MmaMacro {
  MmaMacroArch arch = MmaMacroArch::NoMma;
  uint16_t m = 0;
  uint16_t n = 0;
  uint16_t k = 0;

  [[nodiscard]] static constexpr MmaMacro from_int(int64_t packed) {
    const auto part = [&](int position) {
      return static_cast<uint16_t>(static_cast<uint64_t>(packed) >> (16 * position));
    };
    return {static_cast<MmaMacroArch>(part(3)), part(2), part(1), part(0)};
  }
  [[nodiscard]] constexpr int64_t as_int() const {
    const auto at = [](uint64_t part, int position) { return part << (16 * position); };
    return static_cast<int64_t>(
        at(static_cast<uint64_t>(arch), 3) | at(m, 2) | at(n, 1) | at(k, 0));
  }
  /// `Ampere_16_8_16`; `NoOp`: none.
  [[nodiscard]] std::string to_string() const {
    if (as_int() == 0) {
      return "NoOp";
    }
    return std::string(enum_name(arch)) + "_" + std::to_string(m) + "_" + std::to_string(n) + "_" +
           std::to_string(k);
  }
  [[nodiscard]] bool operator==(const MmaMacro&) const = default;
};

} // namespace nvfuser

template <>
struct std::hash<nvfuser::MmaMacro> {
  size_t operator()(const nvfuser::MmaMacro& macro) const noexcept {
    return std::hash<int64_t>()(macro.as_int());
  }
};
