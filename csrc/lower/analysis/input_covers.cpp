#include "lower/analysis/input_covers.h"

#include <unordered_set>
#include <vector>

#include "graph/val_graph.h"

namespace nvfuser {
namespace {

/// Call fn(class) for each operand of `definition` that is no broadcast.
template <typename Fn>
void for_each_operand(const ValGraph& exact, const Expr& definition, const Fn& fn) {
  for (const Val* in : definition.inputs()) {
    const auto* id = static_cast<const IterDomain*>(in);
    if (!id->is_broadcast()) {
      fn(exact.group(id));
    }
  }
}

} // namespace

const InputCovers::Cover& InputCovers::of(const IterDomain* id) {
  static const Cover none;
  if (id->is_broadcast()) {
    return none;
  }
  forget_if_grown();
  const int64_t group = exact_.group(id);
  if (!known_.contains(group) && !remember(group)) {
    known_[group] = walk(group);
  }
  return known_.at(group);
}

const Expr* InputCovers::definition_of(int64_t group) const {
  const std::vector<Expr*>& definitions = exact_.definitions(group);
  return definitions.empty() || inputs_.contains(group) ? nullptr : definitions.front();
}

bool InputCovers::remember(int64_t root) {
  std::vector<int64_t> stack{root};
  std::unordered_set<int64_t> open; // their operands are on the stack: the path to the top
  while (!stack.empty()) {
    const int64_t group = stack.back();
    const Expr* definition = definition_of(group);
    if (known_.contains(group)) {
      stack.pop_back();
    } else if (definition == nullptr) {
      known_[group] = {group};
      stack.pop_back();
    } else if (open.insert(group).second) {
      bool is_circle = false;
      for_each_operand(exact_, *definition, [&](int64_t operand) {
        is_circle = is_circle || open.contains(operand);
        stack.push_back(operand);
      });
      if (is_circle) {
        return false;
      }
    } else {
      Cover cover;
      for_each_operand(exact_, *definition, [&](int64_t operand) {
        const Cover& part = known_.at(operand);
        cover.insert(part.begin(), part.end());
      });
      known_[group] = std::move(cover);
      open.erase(group);
      stack.pop_back();
    }
  }
  return true;
}

InputCovers::Cover InputCovers::walk(int64_t root) const {
  Cover covered;
  std::vector<int64_t> stack{root};
  std::unordered_set<int64_t> visited;
  while (!stack.empty()) {
    const int64_t group = stack.back();
    stack.pop_back();
    if (!visited.insert(group).second) {
      continue;
    }
    if (const Expr* definition = definition_of(group); definition == nullptr) {
      covered.insert(group);
    } else {
      for_each_operand(exact_, *definition, [&](int64_t operand) { stack.push_back(operand); });
    }
  }
  return covered;
}

void InputCovers::forget_if_grown() {
  const auto& ids = exact_.disjoint_val_sets();
  if (num_ids_ != ids.entries().size() || num_groups_ != ids.num_sets()) {
    known_.clear();
    num_ids_ = ids.entries().size();
    num_groups_ = ids.num_sets();
  }
}

} // namespace nvfuser
