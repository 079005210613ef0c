#include "codegen/cuda_positions.h"

#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "lower/analysis/loading_threads.h"

namespace nvfuser {
namespace {

struct Largest {
  int64_t value = 0;
  int64_t positions = 0; // that it is made of
};

std::optional<Largest> largest_position(const Kernel& kernel, const NamedScalar& named) {
  const ParallelType type = named.parallel_index();
  const Val* size = is_block_dim(type) ? kernel.launch.extents[type] : nullptr;
  if (size == nullptr || !size->is_const_int() || as_int(size->value()) < 1 ||
      loading_positions(kernel, traits_of(type).dim) > 0) {
    return std::nullopt;
  }
  return Largest{.value = as_int(size->value()) - 1, .positions = 1};
}

std::optional<Largest> largest_of(const Kernel& kernel, const Val* val) {
  if (val->is_const_int()) {
    const int64_t value = as_int(val->value());
    return value < 0 ? std::nullopt : std::optional(Largest{.value = value});
  }
  if (val->vtype() == ValType::NamedScalar) {
    return largest_position(kernel, *static_cast<const NamedScalar*>(val));
  }
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
  if (op == nullptr || (op->op != BinaryOpType::Add && op->op != BinaryOpType::Mul)) {
    return std::nullopt;
  }
  const std::optional<Largest> lhs = largest_of(kernel, op->lhs);
  const std::optional<Largest> rhs = lhs ? largest_of(kernel, op->rhs) : std::nullopt;
  if (!rhs) {
    return std::nullopt;
  }
  return Largest{
      .value = op->op == BinaryOpType::Add ? lhs->value + rhs->value : lhs->value * rhs->value,
      .positions = lhs->positions + rhs->positions};
}

} // namespace

std::optional<int64_t> end_of_positions(const Kernel& kernel, const Val* index) {
  const std::optional<Largest> largest = largest_of(kernel, index);
  return largest && largest->positions > 1 ? std::optional(largest->value + 1) : std::nullopt;
}

} // namespace nvfuser
