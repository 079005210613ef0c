#include "optimize/axis_parts.h"

#include <algorithm>
#include <utility>

#include "ir/domain_exprs.h"
#include "ir/scalar.h"

namespace nvfuser::optimize {

bool AxisParts::add(const Expr* expr) {
  if (const auto* merge = expr->as<Merge>()) {
    return equate({part_of(merge->out)}, {part_of(merge->outer), part_of(merge->inner)});
  }
  if (const auto* split = expr->as<Split>()) {
    return equate({part_of(split->in)}, {part_of(split->outer), part_of(split->inner)});
  }
  return false;
}

bool AxisParts::add_broadcast(const IterDomain* broadcast, const IterDomain* resolved) {
  const size_t count = extents(resolved).size();
  return of_broadcast_.emplace(exact_.group(broadcast), count).first->second == count;
}

std::vector<Val*> AxisParts::extents(const IterDomain* axis) {
  if (axis->is_broadcast()) {
    const auto count = of_broadcast_.find(exact_.group(axis));
    return std::vector<Val*>(count == of_broadcast_.end() ? 1 : count->second, axis->extent());
  }
  std::vector<Val*> found;
  for (const Part leaf : leaves_of({part_of(axis)})) {
    found.push_back(parts_[leaf].extent);
  }
  if (found.size() == 1) {
    found.front() = axis->extent(); // one of equal ones
  }
  return found;
}

AxisParts::Part AxisParts::new_part(Val* extent) {
  parts_.push_back({.extent = extent, .same_as = parts_.size(), .inside = {}});
  return parts_.size() - 1;
}

AxisParts::Part AxisParts::part_of(const IterDomain* axis) {
  const auto [found, is_new] = of_class_.try_emplace(exact_.group(axis), parts_.size());
  return is_new ? new_part(axis->extent()) : found->second;
}

AxisParts::Part AxisParts::root(Part part) const {
  while (parts_[part].same_as != part) {
    part = parts_[part].same_as;
  }
  return part;
}

void AxisParts::append_leaves(Part part, std::vector<Part>& leaves) const {
  const Node& node = parts_[root(part)];
  if (node.inside.empty()) {
    leaves.push_back(root(part));
  }
  for (const Part inner : node.inside) {
    append_leaves(inner, leaves);
  }
}

std::vector<AxisParts::Part> AxisParts::leaves_of(const std::vector<Part>& parts) const {
  std::vector<Part> leaves;
  for (const Part part : parts) {
    append_leaves(part, leaves);
  }
  return leaves;
}

bool AxisParts::equate(const std::vector<Part>& a, const std::vector<Part>& b) {
  std::vector<Part> left = leaves_of(a);
  std::vector<Part> right = leaves_of(b);
  const auto is_whole = [](const std::vector<Part>& one, const std::vector<Part>& many) {
    return one.size() == 1 && many.size() > 1 && std::ranges::find(many, one[0]) == many.end();
  };
  if (is_whole(left, right)) {
    parts_[left.front()].inside = std::move(right);
    return true;
  }
  if (is_whole(right, left)) {
    parts_[right.front()].inside = std::move(left);
    return true;
  }
  while (!left.empty() && !right.empty()) {
    if (!match_innermost(left, right)) {
      return false;
    }
  }
  return left.empty() && right.empty();
}

bool AxisParts::match_innermost(std::vector<Part>& a, std::vector<Part>& b) {
  const Part x = root(a.back());
  const Part y = root(b.back());
  for (auto [part, parts] : {std::pair(x, &a), std::pair(y, &b)}) {
    if (!parts_[part].inside.empty()) { // divided since it was listed
      parts->pop_back();
      append_leaves(part, *parts);
      return true;
    }
  }
  const Val* x_size = parts_[x].extent;
  const Val* y_size = parts_[y].extent;
  if (x == y || x_size->same_as(y_size)) {
    parts_[x].same_as = y;
    a.pop_back();
    b.pop_back();
    return true;
  }
  if (!x_size->is_const() || !y_size->is_const()) {
    return false;
  }
  const int64_t x_count = as_int(x_size->value());
  const int64_t y_count = as_int(y_size->value());
  const auto [less, more] = std::minmax(x_count, y_count);
  if (less < 1 || more % less != 0) {
    return false;
  }
  divide(x_count > y_count ? x : y, less);
  return true;
}

void AxisParts::divide(Part part, int64_t inner) {
  const int64_t size = as_int(parts_[part].extent->value());
  Fusion& fusion = Fusion::active();
  const Part outer_part = new_part(fusion.new_index(size / inner));
  const Part inner_part = new_part(fusion.new_index(inner));
  parts_[part].inside = {outer_part, inner_part};
}

} // namespace nvfuser::optimize
