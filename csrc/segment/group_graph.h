// Which groups read what others make.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "segment/partition.h"

namespace nvfuser::segment {

class GroupGraph {
 public:
  /// Cost: linear in expressions of groups.
  GroupGraph(const Flow& flow, const std::vector<Group>& groups);

  /// Groups that have to run later.
  [[nodiscard]] const std::set<size_t>& next(size_t group) const {
    return next_[group];
  }
  /// Let `later` run behind `group`.
  void add_edge(size_t group, size_t later) {
    next_[group].insert(later);
  }
  /// Groups that read a tensor that they do not make.
  [[nodiscard]] const std::set<size_t>& readers(TensorId tensor) const;

  /// Whether `to` has to run later; a group leads to itself. Cost: O(groups + edges).
  [[nodiscard]] bool leads_to(size_t from, size_t to) const;
  /// `ends`, and the groups that have to run between two of them. Cost: O(groups + edges), for
  /// each pair of an end and a group.
  [[nodiscard]] std::set<size_t> between(const std::set<size_t>& ends) const;
  /// Whether no other group has to run between the two. Cost: O(groups + edges), for each
  /// neighbour.
  [[nodiscard]] bool may_join(size_t a, size_t b) const;

 private:
  [[nodiscard]] bool has_way_around(size_t from, size_t to) const;

  std::vector<std::set<size_t>> next_;
  std::unordered_map<TensorId, std::set<size_t>> readers_; // only looked up
};

} // namespace nvfuser::segment
