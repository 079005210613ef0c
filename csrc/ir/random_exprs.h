// Random numbers: Philox 4x32-10 (Salmon et al. 2011), a pure function of seed, offset and the
// position of the element in the logical shape.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct RNGOp final : ExprNode<RNGOp> {
  static constexpr ExprKind kKind = ExprKind::RNGOp;
  static constexpr const char* kName = "RNGOp";
  static constexpr const char* kDoc =
      "Random elements. Four 32-bit results of one counter serve four neighbours (two of 64 bits).";
  TensorView* out = nullptr;
  std::vector<Val*> shape;
  std::vector<Val*> parameters;
  Val* seed = nullptr;
  Val* offset = nullptr;
  RNGOpType op = RNGOpType::Uniform;
  int64_t stream = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &RNGOp::out, "Result."),
        nvfuser::input("shape", &RNGOp::shape, "Size of every dimension."),
        nvfuser::input(
            "parameters", &RNGOp::parameters,
            "[low, high] of UniformRange, [mean, standard deviation] of NormalGeneral."),
        nvfuser::input(
            "seed", &RNGOp::seed,
            "Seed; None: the framework's generator gives seed and offset at each run."),
        nvfuser::input("offset", &RNGOp::offset, "Offset into the stream of the seed, or None."),
        nvfuser::attr("op", &RNGOp::op, "Distribution."),
        nvfuser::attr(
            "stream", &RNGOp::stream,
            "Which of the fusion's random tensors with implicit seed this is; each takes its own "
            "part of the stream."),
    };
  }
};

} // namespace nvfuser
