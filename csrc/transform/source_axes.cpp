#include "transform/source_axes.h"

#include <vector>

namespace nvfuser::transform {
namespace {

IterDomain* as_id(Val* val) {
  return static_cast<IterDomain*>(val);
}

} // namespace

SourceAxes::SourceAxes(const ValGraph& exact, IterDomain* axis) : exact_(exact) {
  std::vector<int64_t> stack{exact_.group(axis)};
  while (!stack.empty()) {
    const int64_t group = stack.back();
    stack.pop_back();
    if (!groups_.insert(group).second) {
      continue;
    }
    for (const Expr* definition : exact_.definitions(group)) {
      for (Val* in : definition->inputs()) {
        stack.push_back(exact_.group(as_id(in)));
      }
    }
  }
}

bool SourceAxes::are_exceeded_by(IterDomain* id) const {
  std::unordered_set<const IterDomain*> visited;
  std::vector<IterDomain*> stack{id};
  while (!stack.empty()) {
    IterDomain* current = stack.back();
    stack.pop_back();
    if (groups_.count(exact_.group(current)) != 0 || !visited.insert(current).second) {
      continue;
    }
    if (current->definition() != nullptr) {
      for (Val* in : current->definition()->inputs()) {
        stack.push_back(as_id(in));
      }
    } else if (!current->extent()->is_one()) {
      return true;
    }
  }
  return false;
}

} // namespace nvfuser::transform
