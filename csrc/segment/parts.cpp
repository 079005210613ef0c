#include "segment/parts.h"

#include <algorithm>

namespace nvfuser::segment {

void Parts::add(ExprId id, int64_t stage) {
  const ExprFacts& facts = facts_.expr(id);
  const size_t number = parts_.size();
  number_of_.emplace(id, number);
  parts_.push_back(
      {.parent = number,
       .stage = stage,
       .space = facts.space,
       .widest = id,
       .pattern = facts.pattern,
       .reducer = facts.pattern == kNoPattern ? kNoExpr : id,
       .stands_alone = segment::stands_alone(facts.role),
       .has_only_views = facts.role == Role::View,
       .has_resize = facts.role == Role::Resize,
       .first = id,
       .members = {id}});
}

size_t Parts::root(size_t part) const {
  while (parts_[part].parent != part) {
    part = parts_[part].parent;
  }
  return part;
}

Parts::Part Parts::together(const Part& a, const Part& b) {
  const bool is_b_wider = a.space.size() < b.space.size();
  const Part& wide = is_b_wider ? b : a;
  const Part& reducing = a.pattern == kNoPattern ? b : a;
  return {
      .stage = a.stage,
      .space = wide.space,
      .widest = wide.widest,
      .pattern = reducing.pattern,
      .reducer = reducing.reducer,
      .stands_alone = a.stands_alone || b.stands_alone,
      .has_only_views = a.has_only_views && b.has_only_views,
      .has_resize = a.has_resize || b.has_resize,
      .first = std::min(a.first, b.first)};
}

void Parts::join(size_t a, size_t b) {
  a = root(a);
  b = root(b);
  if (a == b) {
    return;
  }
  Part both = together(parts_[a], parts_[b]);
  if (parts_[a].members.size() < parts_[b].members.size()) {
    std::swap(a, b);
  }
  both.members = std::move(parts_[a].members);
  both.members.insert(both.members.end(), parts_[b].members.begin(), parts_[b].members.end());
  both.parent = a;
  parts_[a] = std::move(both);
  parts_[b] = {.parent = a};
}

std::optional<Conflict> Parts::find_conflict(const Part& a, const Part& b) const {
  if (a.stands_alone || b.stands_alone) {
    return Conflict{.rule = CutRule::Library, .with = a.stands_alone ? a.first : b.first};
  }
  const bool has_two_patterns =
      a.pattern != kNoPattern && b.pattern != kNoPattern && a.pattern != b.pattern;
  if (has_two_patterns) {
    return Conflict{.rule = CutRule::Pattern, .with = b.reducer};
  }
  if (!is_within(a.space, b.space) && !is_within(b.space, a.space)) {
    return Conflict{.rule = CutRule::Space, .with = b.widest};
  }
  const Part both = together(a, b);
  const bool is_in_pattern =
      both.pattern == kNoPattern || is_within(both.space, facts_.space_of_pattern(both.pattern));
  if (!is_in_pattern) {
    return Conflict{.rule = CutRule::Space, .with = b.pattern == kNoPattern ? b.widest : b.reducer};
  }
  return std::nullopt;
}

std::optional<Conflict> Parts::find_conflict(size_t a, size_t b) const {
  return find_conflict(parts_[root(a)], parts_[root(b)]);
}

std::optional<Conflict> Parts::find_conflict(ExprId id, const std::set<size_t>& parts) const {
  Part both = parts_[of(id)];
  for (const size_t part : parts) {
    if (const auto conflict = find_conflict(both, parts_[root(part)])) {
      return conflict;
    }
    both = together(both, parts_[root(part)]);
  }
  return std::nullopt;
}

bool Parts::are_alike(size_t a, size_t b, const Space& space) const {
  const Part& first = parts_[root(a)];
  const Part& second = parts_[root(b)];
  if (first.has_only_views || second.has_only_views) {
    return first.has_only_views && second.has_only_views;
  }
  return first.pattern == second.pattern && first.has_resize == second.has_resize &&
         first.space == space && second.space == space;
}

} // namespace nvfuser::segment
