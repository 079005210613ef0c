#include "lower/validate_schedule.h"

#include <map>

#include "graph/domain_map.h"
#include "lower/async_copies.h"
#include "lower/kernel_forms.h"
#include "lower/statements.h"

namespace nvfuser {
namespace {

[[noreturn]] void reject(
    const TensorView* tensor,
    const Part& headline,
    const Part& expected,
    const Part& found,
    const Part& fix) {
  throw UserError(
      {.headline = headline,
       .node = {describe(tensor)},
       .expected = expected,
       .found = found,
       .fix = fix});
}

void check_axis(const TensorView* tensor, const IterDomain* axis) {
  switch (axis->parallel_type()) {
    case ParallelType::Mma:
    case ParallelType::Bulk:
    case ParallelType::Stream:
    case ParallelType::DIDx:
    case ParallelType::DIDy:
    case ParallelType::DIDz:
      throw UserError(
          {
              .headline = {"Parallel type ", axis->parallel_type(), " has no kernel form"},
              .node = {describe(tensor)},
              .expected = {"grid, block, serial, unroll, unswitch or vectorize"},
              .found = {axis->to_string()},
              .fix = {"parallelize the axis differently"},
          },
          ErrorKind::NotImplemented);
    case ParallelType::Group:
      if (!is_reduction_expr(tensor->definition()) || axis->is_reduction()) {
        reject(
            tensor, {"Only an axis that a reduction keeps can be grouped"},
            {"an iteration axis of the result of a reduction"}, {axis->to_string()},
            {"vectorize or unroll the axis in other tensors"});
      }
      break;
    case ParallelType::Vectorize:
      if (axis->is_reduction()) {
        reject(
            tensor, {"A reduction axis cannot be vectorized"}, {"a vectorized axis of a copy"},
            {axis->to_string()},
            {"rfactor the axis, so that the lanes become an axis of a tensor of their own"});
      }
      break;
    default: break;
  }
}

/// A hardware index, and the vector axis, are used once in a tensor.
void check_unique_bindings(const TensorView* tensor) {
  std::map<ParallelType, const IterDomain*> bound;
  for (const IterDomain* axis : tensor->loop()) {
    const ParallelType type = axis->parallel_type();
    if (!is_thread(type) && type != ParallelType::Vectorize) {
      continue;
    }
    const auto [other, is_new] = bound.try_emplace(type, axis);
    if (!is_new) {
      reject(
          tensor, {"Two axes of a tensor are bound to ", type}, {"one axis"},
          {other->second->to_string(), " and ", axis->to_string()},
          {"merge the axes, or bind one of them to another index"});
    }
  }
}

void check_memory(const TensorView* tensor) {
  const MemoryType memory = tensor->memory_type();
  if (memory == MemoryType::Tensor || memory == MemoryType::Symmetric) {
    throw UserError(
        {
            .headline = {"Memory type ", enum_name(memory), " has no kernel form"},
            .node = {describe(tensor)},
            .expected = {"local, shared or global"},
            .found = {enum_name(memory)},
            .fix = {"choose another memory type"},
        },
        ErrorKind::NotImplemented);
  }
}

} // namespace

void validate_schedule(Kernel& kernel) {
  for (const Expr* expr : tensor_exprs(kernel)) {
    if (!has_kernel_form(*expr)) {
      throw_no_kernel_form(*expr);
    }
  }
  for (const TensorView* tensor : kernel.tensors()) {
    check_memory(tensor);
    if (tensor->definition() == nullptr) {
      continue; // the axes of inputs drive no loop
    }
    for (const IterDomain* axis : tensor->loop()) {
      check_axis(tensor, axis);
    }
    check_unique_bindings(tensor);
    check_async_copy(tensor);
  }
}

} // namespace nvfuser
