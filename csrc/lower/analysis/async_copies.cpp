#include "lower/analysis/async_copies.h"

#include "lower/analysis/bulk_copies.h"
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

class CpAsyncMechanism final : public AsyncMechanism {
 public:
  [[nodiscard]] LoadStoreOpType op() const override {
    return LoadStoreOpType::CpAsync;
  }
  [[nodiscard]] std::optional<Refusal> find_wrong_copy(const TensorView* tensor) const override {
    const auto& copy = *tensor->definition()->as<LoadStoreOp>();
    const auto* source = static_cast<const TensorView*>(copy.arg);
    NVF_RETURN_REFUSAL(find_wrong_memory(tensor, source));
    NVF_RETURN_REFUSAL(find_pairs(tensor, source));
    return find_wrong_width(tensor, copy.cache_op);
  }
  [[nodiscard]] bool fills_holes() const override {
    return true;
  }
  [[nodiscard]] bool is_seen_by_block() const override {
    return false;
  }
  [[nodiscard]] Scope acquire(Kernel& /*kernel*/, int64_t /*keep_stages*/) const override {
    return {}; // a barrier of the block says so
  }
  [[nodiscard]] Scope commit(Kernel& kernel) const override {
    return {kernel.make<AsyncCommit>({.async_op = op()})};
  }
  [[nodiscard]] Scope wait(Kernel& kernel, int64_t keep_stages) const override {
    return {kernel.make<AsyncWait>({.async_op = op(), .keep_stages = keep_stages})};
  }
  [[nodiscard]] Scope arrive(Kernel& /*kernel*/) const override {
    return {}; // a barrier of the block says so
  }
};

/// Boxes that one thread loads. Where they lie is up to their tensor maps.
class BulkLoadMechanism final : public AsyncMechanism {
 public:
  [[nodiscard]] LoadStoreOpType op() const override {
    return LoadStoreOpType::CpAsyncBulkTensorTile;
  }
  [[nodiscard]] std::optional<Refusal> find_wrong_copy(const TensorView* tensor) const override {
    return find_wrong_bulk_copy(tensor);
  }
  [[nodiscard]] bool fills_holes() const override {
    return false; // no condition of ours decides what a hole is
  }
  [[nodiscard]] bool is_seen_by_block() const override {
    return true;
  }
  [[nodiscard]] Scope acquire(Kernel& /*kernel*/, int64_t /*keep_stages*/) const override {
    return {}; // a barrier of the block says so
  }
  [[nodiscard]] Scope commit(Kernel& kernel) const override {
    return {kernel.make<AsyncCommit>({.async_op = op()})};
  }
  [[nodiscard]] Scope wait(Kernel& kernel, int64_t keep_stages) const override {
    return {kernel.make<AsyncWait>({.async_op = op(), .keep_stages = keep_stages})};
  }
  [[nodiscard]] Scope arrive(Kernel& /*kernel*/) const override {
    return {}; // a barrier of the block says so
  }
};

/// Boxes in stages that have two barriers each.
class StageMechanism final : public AsyncMechanism {
 public:
  [[nodiscard]] LoadStoreOpType op() const override {
    return LoadStoreOpType::CpAsyncBulkTensorTile;
  }
  [[nodiscard]] std::optional<Refusal> find_wrong_copy(const TensorView* tensor) const override {
    return find_wrong_bulk_copy(tensor);
  }
  [[nodiscard]] bool fills_holes() const override {
    return false;
  }
  [[nodiscard]] bool is_seen_by_block() const override {
    return true;
  }
  [[nodiscard]] Scope acquire(Kernel& kernel, int64_t keep_stages) const override {
    return {kernel.make<AsyncWait>({.async_op = kReadsOfStage, .keep_stages = keep_stages})};
  }
  [[nodiscard]] Scope commit(Kernel& kernel) const override {
    return {kernel.make<AsyncCommit>({.async_op = kLoadsOfStage})};
  }
  [[nodiscard]] Scope wait(Kernel& kernel, int64_t keep_stages) const override {
    return {kernel.make<AsyncWait>({.async_op = kLoadsOfStage, .keep_stages = keep_stages})};
  }
  [[nodiscard]] Scope arrive(Kernel& kernel) const override {
    return {kernel.make<AsyncCommit>({.async_op = kReadsOfStage})};
  }
};

} // namespace

const AsyncMechanism* mechanism_of(const Expr* expr) {
  static const CpAsyncMechanism cp_async;
  static const BulkLoadMechanism bulk_load;
  if (is_bulk_load(expr)) {
    return &bulk_load;
  }
  const auto* copy = expr == nullptr ? nullptr : expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == cp_async.op() ? &cp_async : nullptr;
}

const AsyncMechanism* async_mechanism(const Kernel& kernel, const Expr* expr) {
  const AsyncMechanism* mechanism = mechanism_of(expr);
  const bool is_bulk = is_bulk_load(expr);
  const Target& target = kernel.target();
  return (is_bulk ? target.has_bulk_copies : target.has_async_copies) ? mechanism : nullptr;
}

const AsyncMechanism& stages_handed_back() {
  static const StageMechanism stages;
  return stages;
}

StageSide stage_side(const Expr& statement) {
  const auto* commit = statement.as<AsyncCommit>();
  const auto* wait = statement.as<AsyncWait>();
  const bool is_commit = commit != nullptr;
  if (!is_commit && wait == nullptr) {
    return StageSide::None;
  }
  const LoadStoreOpType op = is_commit ? commit->async_op : wait->async_op;
  if (op != kLoadsOfStage && op != kReadsOfStage) {
    return StageSide::None;
  }
  return is_commit == (op == kLoadsOfStage) ? StageSide::Load : StageSide::Read;
}

bool fills_holes(const Kernel& kernel, const Expr* expr) {
  const AsyncMechanism* mechanism = async_mechanism(kernel, expr);
  return mechanism != nullptr && mechanism->fills_holes();
}

std::optional<Refusal> find_wrong_async_copy(const TensorView* tensor) {
  NVF_RETURN_REFUSAL(find_wrong_bulk_copy(tensor)); // stores among them
  const AsyncMechanism* mechanism = mechanism_of(tensor->definition());
  return mechanism == nullptr ? std::nullopt : mechanism->find_wrong_copy(tensor);
}

} // namespace nvfuser
