#include "schedule/common/loop_roles.h"

#include <algorithm>

#include "base/errors.h"
#include "schedule/common/canonical.h"

namespace nvfuser::schedule {

LoopRoles::LoopRoles(TensorView* tensor, std::vector<LoopRole> roles)
    : tensor_(tensor), roles_(std::move(roles)) {
  NVF_INVARIANT(
      static_cast<int64_t>(roles_.size()) == tensor->ndims(),
      "each loop has a role: ", tensor->to_string());
}

bool LoopRoles::has(LoopRole role) const {
  return std::ranges::find(roles_, role) != roles_.end();
}

int64_t LoopRoles::position(LoopRole role) const {
  const auto found = std::ranges::find(roles_, role);
  NVF_INVARIANT(found != roles_.end(), "no loop of ", tensor_->to_string(), " has the role");
  return found - roles_.begin();
}

void LoopRoles::split(LoopRole role, int64_t factor, LoopRole inner) {
  if (has(role)) {
    const int64_t at = position(role);
    tensor_->split(at, std::max<int64_t>(factor, 1));
    roles_.insert(roles_.begin() + at + 1, inner);
  }
}

void LoopRoles::cut(LoopRole role, int64_t factor, LoopRole outer) {
  if (has(role)) {
    const int64_t at = position(role);
    tensor_->split(at, std::max<int64_t>(factor, 1), /*inner_split=*/false);
    roles_.insert(roles_.begin() + at, outer);
  }
}

void LoopRoles::rename(LoopRole role, LoopRole other) {
  std::ranges::replace(roles_, role, other);
}

void LoopRoles::arrange(std::initializer_list<LoopRole> order) {
  std::vector<int64_t> positions;
  std::vector<LoopRole> roles;
  for (const LoopRole role : order) {
    if (has(role)) {
      positions.push_back(position(role));
      roles.push_back(role);
    }
  }
  NVF_INVARIANT(roles.size() == roles_.size(), "an order has every loop");
  arrange_axes(tensor_, positions);
  roles_ = std::move(roles);
}

void LoopRoles::bind(LoopRole role, ParallelType type) {
  if (has(role)) {
    axis(role)->parallelize(type);
  }
}

std::vector<TensorView*> LoopRoles::factor(
    std::initializer_list<LoopRole> roles, const std::vector<TensorView*>& results) {
  std::vector<int64_t> positions;
  for (const LoopRole role : roles) {
    if (has(role)) {
      positions.push_back(position(role));
    }
  }
  if (positions.empty()) {
    return {};
  }
  std::vector<TensorView*> partial = results.front()->rfactor(positions, results);
  std::erase_if(
      roles_, [&](LoopRole role) { return std::ranges::find(roles, role) != roles.end(); });
  return partial;
}

LoopRoles LoopRoles::of(TensorView* other) const {
  return {other, roles_};
}

} // namespace nvfuser::schedule
