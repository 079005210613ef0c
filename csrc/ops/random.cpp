#include "ops/random.h"

#include <algorithm>

#include "ir/random_exprs.h"
#include "ops/create.h"
#include "ops/operands.h"

namespace nvfuser::ops {

namespace {

/// fp4 is storage only.
bool is_drawn(DataType dtype) {
  return is_floating_point(dtype) && dtype != DataType::Float4_e2m1fn &&
         dtype != DataType::Float4_e2m1fn_x2;
}

bool is_number(const Val* val, double number) {
  return val->is_const() && !is_complex(val->dtype()) && as_double(val->value()) == number;
}

/// Each random tensor with implicit seed has a part of the stream of its own.
int64_t next_stream(const Fusion& fusion) {
  int64_t next = 0;
  for (const Expr* expr : fusion.all_exprs()) {
    if (const auto* other = expr->as<RNGOp>(); other != nullptr && other->seed == nullptr) {
      next = std::max(next, other->stream + 1);
    }
  }
  return next;
}

void check_parameter(const Val* parameter) {
  NVF_NODE_CHECK(
      !is_complex(parameter->dtype()), parameter,
      "A parameter of a random distribution is a real number, but got ",
      parameter->to_inline_string(), " of type ", parameter->dtype());
}

TensorView* draw(
    RNGOpType op,
    const std::vector<Val*>& shape,
    const std::vector<Val*>& parameters,
    RandomStream stream,
    DataType dtype) {
  Fusion& fusion = fusion_for(shape);
  NVF_USER_CHECK(is_drawn(dtype), "Random distributions only create floating point types! ", dtype);
  NVF_USER_CHECK(
      (stream.seed == nullptr) == (stream.offset == nullptr),
      "rng_seed and rng_offset must be provided together!");
  for (Val* val : {stream.seed, stream.offset}) {
    if (val != nullptr) {
      fusion_for({val});
      NVF_NODE_CHECK(
          is_integral(val->dtype()), val, "rng_seed and rng_offset must be integers, but got ",
          val->dtype());
    }
  }
  for (Val* parameter : parameters) {
    fusion_for({parameter});
    check_parameter(parameter);
  }
  const int64_t number = stream.seed == nullptr ? next_stream(fusion) : 0;
  TensorView* out = new_tensor(factory_axes(shape), dtype);
  fusion.make<RNGOp>(
      {.out = out,
       .shape = out->shape(),
       .parameters = parameters,
       .seed = stream.seed,
       .offset = stream.offset,
       .op = op,
       .stream = number});
  return out;
}

void check_like(TensorView* arg) {
  fusion_for({arg});
  NVF_NODE_CHECK(
      is_floating_point(arg->dtype()), arg, "input must have floating point type, but got ",
      arg->dtype());
}

} // namespace

TensorView* uniform(
    Val* low, Val* high, const std::vector<Val*>& shape, RandomStream stream, DataType dtype) {
  fusion_for({low, high});
  if (is_number(low, 0) && is_number(high, 1)) {
    return draw(RNGOpType::Uniform, shape, {}, stream, dtype);
  }
  return draw(RNGOpType::UniformRange, shape, {low, high}, stream, dtype);
}

TensorView* normal(
    Val* mean, Val* std, const std::vector<Val*>& shape, RandomStream stream, DataType dtype) {
  fusion_for({mean, std});
  if (is_number(mean, 0) && is_number(std, 1)) {
    return draw(RNGOpType::NormalStandard, shape, {}, stream, dtype);
  }
  return draw(RNGOpType::NormalGeneral, shape, {mean, std}, stream, dtype);
}

TensorView* rand(const std::vector<Val*>& shape, DataType dtype, RandomStream stream) {
  return draw(RNGOpType::Uniform, shape, {}, stream, dtype);
}

TensorView* randn(const std::vector<Val*>& shape, DataType dtype, RandomStream stream) {
  return draw(RNGOpType::NormalStandard, shape, {}, stream, dtype);
}

TensorView* rand_like(TensorView* arg) {
  check_like(arg);
  return rand(arg->shape(), arg->dtype());
}

TensorView* randn_like(TensorView* arg) {
  check_like(arg);
  return randn(arg->shape(), arg->dtype());
}

} // namespace nvfuser::ops
