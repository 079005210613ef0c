#include "lower/analysis/async_copies.h"

#include "lower/analysis/memory_layout.h"

namespace nvfuser {
namespace {

/// Elements that one statement copies; 0 if that is not a constant.
int64_t lanes_of(const TensorView* tensor) {
  for (const IterDomain* axis : tensor->loop()) {
    if (axis->parallel_type() == ParallelType::Vectorize) {
      return axis->extent()->is_const_int() ? as_int(axis->extent()->value()) : 0;
    }
  }
  return 1;
}

std::optional<Refusal> find_wrong_memory(const TensorView* tensor, const TensorView* source) {
  if (source->memory_type() == MemoryType::Global && !source->is_cpu_scalar() &&
      tensor->memory_type() == MemoryType::Shared) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"cp.async copies from global to shared memory"},
      .node = {describe(tensor), "\ncopied from ", describe(source)},
      .expected = {"a producer in global memory and a copy in shared memory"},
      .found =
          {source->is_cpu_scalar() ? "a scalar of the host" : enum_name(source->memory_type()),
           " to ", enum_name(tensor->memory_type())},
      .fix = {"set_memory_type(MemoryType.shared) on the copy, or copy with LoadStoreOpType.set"},
  });
}

/// An asynchronous copy moves bytes as they are.
std::optional<Refusal> find_pairs(const TensorView* tensor, const TensorView* source) {
  if (!is_stored_in_pairs(source)) {
    return std::nullopt;
  }
  return refuse(
      {
          .headline = {"cp.async cannot take pairs of fp4 apart"},
          .node = {describe(tensor), "\ncopied from ", describe(source)},
          .expected = {"elements that have the same size in global and shared memory"},
          .found = {"two elements in a byte, which have a byte each in shared memory"},
          .fix = {"copy with LoadStoreOpType.set"},
      },
      ErrorKind::NotImplemented);
}

std::optional<Refusal> find_wrong_width(const TensorView* tensor, CacheOp cache_op) {
  const int64_t bytes = lanes_of(tensor) * size_bytes(tensor->dtype());
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    return refuse({
        .headline = {"cp.async copies 4, 8 or 16 bytes at once"},
        .node = {describe(tensor)},
        .expected = {"a vectorized axis of 4, 8 or 16 bytes"},
        .found = {lanes_of(tensor), " elements of ", size_bytes(tensor->dtype()), " bytes"},
        .fix = {"split the innermost axis and vectorize it, or copy with LoadStoreOpType.set"},
    });
  }
  if (cache_op == CacheOp::Global && bytes != 16) {
    return refuse({
        .headline = {"cp.async.cg copies 16 bytes at once"},
        .node = {describe(tensor)},
        .expected = {"a vectorized axis of 16 bytes"},
        .found = {bytes, " bytes"},
        .fix = {"vectorize the copy, or use CacheOp.all_levels"},
    });
  }
  return std::nullopt;
}

} // namespace

bool is_async_copy(const Kernel& kernel, const Expr* expr) {
  const auto* copy = expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::CpAsync &&
         kernel.target().has_async_copies;
}

std::optional<Refusal> find_wrong_async_copy(const TensorView* tensor) {
  const auto* copy =
      tensor->definition() == nullptr ? nullptr : tensor->definition()->as<LoadStoreOp>();
  if (copy == nullptr || copy->op != LoadStoreOpType::CpAsync) {
    return std::nullopt;
  }
  const auto* source = static_cast<const TensorView*>(copy->arg);
  NVF_RETURN_REFUSAL(find_wrong_memory(tensor, source));
  NVF_RETURN_REFUSAL(find_pairs(tensor, source));
  return find_wrong_width(tensor, copy->cache_op);
}

} // namespace nvfuser
