// Products that tensor cores compute while their threads go on: how groups of them are committed
// and waited for. They are no copies, but they have all else in common with asynchronous ones.
#pragma once

#include "lower/analysis/async_copies.h"

namespace nvfuser {

class ProductGroups final : public AsyncMechanism {
 public:
  /// `before`: the wait in front of products, for what threads wrote to what they read and add to.
  constexpr ProductGroups(LoadStoreOpType groups, LoadStoreOpType before, bool is_seen_by_block)
      : groups_(groups), before_(before), is_seen_by_block_(is_seen_by_block) {}

  [[nodiscard]] LoadStoreOpType op() const override {
    return groups_;
  }
  [[nodiscard]] std::optional<Refusal> find_wrong_copy(
      const TensorView* /*tensor*/) const override {
    return std::nullopt; // they are no copies
  }
  [[nodiscard]] bool fills_holes() const override {
    return false;
  }
  [[nodiscard]] bool is_seen_by_block() const override {
    return is_seen_by_block_;
  }
  [[nodiscard]] Scope acquire(Kernel& kernel, int64_t /*keep_stages*/) const override {
    return {kernel.make<AsyncWait>({.async_op = before_})};
  }
  [[nodiscard]] Scope commit(Kernel& kernel) const override {
    return {kernel.make<AsyncCommit>({.async_op = groups_})};
  }
  [[nodiscard]] Scope wait(Kernel& kernel, int64_t keep_stages) const override {
    return {kernel.make<AsyncWait>({.async_op = groups_, .keep_stages = keep_stages})};
  }
  [[nodiscard]] Scope arrive(Kernel& /*kernel*/) const override {
    return {}; // threads that have waited say so
  }

 private:
  LoadStoreOpType groups_;
  LoadStoreOpType before_;
  bool is_seen_by_block_;
};

} // namespace nvfuser
