// Random numbers: Philox 4x32-10 (Salmon et al. 2011), a pure function of seed, offset and the
// position of the element in the logical shape.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct RNGOpFields {
  static constexpr const char* kDoc =
      "Random elements. Four 32-bit results of one counter serve four neighbours (two of 64 bits).";
  TensorView* out = nullptr;
  std::vector<Val*> shape{};
  std::vector<Val*> parameters{};
  Val* seed = nullptr;
  Val* offset = nullptr;
  RNGOpType op = RNGOpType::Uniform;
  int64_t stream = 0;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &RNGOpFields::out, "Result."),
        input("shape", &RNGOpFields::shape, "Size of every dimension."),
        input(
            "parameters", &RNGOpFields::parameters,
            "[low, high] of UniformRange, [mean, standard deviation] of NormalGeneral."),
        input(
            "seed", &RNGOpFields::seed,
            "Seed; None: the framework's generator gives seed and offset at each run.")
            .or_none(),
        input("offset", &RNGOpFields::offset, "Offset into the stream of the seed, or None.")
            .or_none(),
        attr("op", &RNGOpFields::op, "Distribution."),
        attr(
            "stream", &RNGOpFields::stream,
            "Which of the fusion's random tensors with implicit seed this is; each takes its own "
            "part of the stream."),
    };
  }
};
struct RNGOp final : ExprNode<RNGOp, RNGOpFields> {};

} // namespace nvfuser
