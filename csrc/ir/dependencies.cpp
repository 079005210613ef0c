#include "ir/dependencies.h"

#include <algorithm>
#include <utility>

#include "base/pointer_set.h"
#include "ir/kernel_nodes.h"
#include "ir/pointwise.h"

namespace nvfuser {
namespace {

/// The values met so far: few ones, as most expressions have, are looked for one by one.
class Visited {
 public:
  explicit Visited(const std::vector<const Val*>& list) : list_(list) {}

  /// Whether `val`, which is added to the list then, is new.
  [[nodiscard]] bool insert(const Val* val) {
    constexpr size_t kFew = 16;
    if (list_.size() < kFew) {
      return std::ranges::find(list_, val) == list_.end();
    }
    if (!std::exchange(has_set_, true)) {
      std::ranges::for_each(list_, [this](const Val* met) { set_.insert(met); });
    }
    return set_.insert(val);
  }

 private:
  const std::vector<const Val*>& list_;
  PointerSet<Val> set_;
  bool has_set_ = false;
};

} // namespace

bool is_arithmetic(const Expr& expr) {
  return expr.is_a<UnaryOp>() || expr.is_a<BinaryOp>() || expr.is_a<TernaryOp>();
}

bool has_dependencies(const Val& val) {
  return val.vtype() == ValType::TensorIndex ||
         (val.definition() != nullptr && is_arithmetic(*val.definition()));
}

std::vector<const Val*> dependencies(const Val* val) {
  constexpr size_t kUsual = 8; // operands; growing twice would cost more than the walk
  std::vector<const Val*> found;
  std::vector<const Val*> pending;
  found.reserve(kUsual);
  pending.reserve(kUsual);
  pending.push_back(val);
  Visited visited(found);
  while (!pending.empty()) {
    const Val* current = pending.back();
    pending.pop_back();
    if (!visited.insert(current)) {
      continue;
    }
    found.push_back(current);
    if (current->vtype() == ValType::TensorIndex) {
      pending.push_back(static_cast<const TensorIndex*>(current)->index());
    } else if (current->definition() != nullptr && is_arithmetic(*current->definition())) {
      const std::vector<Val*>& operands = current->definition()->inputs();
      pending.insert(pending.end(), operands.begin(), operands.end());
    }
  }
  return found;
}

bool depends_on(const Val* val, const Val* source) {
  if (val == source || !has_dependencies(*val)) {
    return val == source;
  }
  const std::vector<const Val*> found = dependencies(val);
  return std::find(found.begin(), found.end(), source) != found.end();
}

} // namespace nvfuser
