#include "segment/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "segment/copies.h"
#include "segment/parts.h"

namespace nvfuser::segment {
namespace {

class Partitioner {
 public:
  Partitioner(
      const Flow& flow,
      const Facts& facts,
      const HardEdges& hard,
      std::span<const ExprId> exprs,
      Reasons& reasons)
      : flow_(flow), facts_(facts), hard_(hard), exprs_(exprs), parts_(facts), reasons_(reasons) {}

  void join_with_operands() {
    for (const ExprId id : exprs_) {
      parts_.add(id, first_stage(id));
      const std::set<size_t> read = parts_read(id);
      if (const auto conflict = parts_.find_conflict(id, read)) {
        note_conflict(id, read, *conflict);
        parts_.move_to_next_stage(id);
        continue;
      }
      for (const size_t part : read) {
        parts_.join(parts_.of(id), part);
      }
    }
  }

  /// Join parts with the only part that reads them, from the last one on.
  void join_with_only_reader() {
    for (size_t i = exprs_.size(); i-- > 0;) {
      const ExprId id = exprs_[i];
      const size_t part = parts_.of(id);
      if (parts_.first_expr(part) != id) {
        continue; // once for each part, when all its readers were looked at
      }
      const std::optional<size_t> reader = only_reader(part);
      if (reader && !parts_.find_conflict(part, *reader)) {
        const int64_t stage = parts_.stage(*reader);
        parts_.join(part, *reader);
        parts_.set_stage(part, stage);
      }
    }
  }

  void join_siblings() {
    std::map<std::pair<int64_t, TensorId>, std::vector<size_t>> readers; // by stage
    for (const ExprId id : exprs_) {
      for (const TensorId operand : flow_.expr(id).operands) {
        const size_t part = parts_.of(id);
        if (!is_made_in(operand, part)) {
          readers[{parts_.stage(part), operand}].push_back(part);
        }
      }
    }
    for (auto& [shared, siblings] : readers) {
      for (size_t i = 1; i < siblings.size(); ++i) {
        for (size_t k = 0; k < i; ++k) {
          if (try_join_siblings(siblings[k], siblings[i], shared.second)) {
            break;
          }
          if (k >= kMostAttempts) {
            break; // of parts that all differ: tried with the first few
          }
        }
      }
    }
  }

  [[nodiscard]] std::vector<Group> groups() const {
    std::map<std::pair<int64_t, ExprId>, std::vector<ExprId>> sorted; // by stage, first expression
    for (const ExprId id : exprs_) {
      const size_t part = parts_.of(id);
      sorted[{parts_.stage(part), parts_.first_expr(part)}].push_back(id);
    }
    std::vector<Group> groups;
    for (auto& [key, members] : sorted) {
      groups.push_back({.exprs = members, .own = members});
    }
    return groups;
  }

 private:
  static constexpr size_t kMostAttempts = 8;

  [[nodiscard]] bool is_inside(TensorId tensor) const {
    const ExprId made_by = flow_.tensor(tensor).made_by;
    return made_by != kNoExpr && parts_.contains(made_by);
  }
  [[nodiscard]] bool is_made_in(TensorId tensor, size_t part) const {
    return is_inside(tensor) && parts_.of(flow_.tensor(tensor).made_by) == part;
  }

  /// The earliest stage in which its operands are there.
  int64_t first_stage(ExprId id) {
    int64_t stage = 0;
    for (const TensorId operand : flow_.expr(id).operands) {
      if (!is_inside(operand)) {
        continue;
      }
      const int64_t made_in = parts_.stage(parts_.of(flow_.tensor(operand).made_by));
      const std::optional<Reason> crosses = hard_.find({.tensor = operand, .reader = id});
      if (crosses) {
        reasons_.emplace(Edge{.tensor = operand, .reader = id}, *crosses);
      }
      stage = std::max(stage, crosses ? made_in + 1 : made_in);
    }
    return stage;
  }

  /// The parts of its own stage that an expression reads from.
  std::set<size_t> parts_read(ExprId id) {
    std::set<size_t> read;
    for (const TensorId operand : flow_.expr(id).operands) {
      if (!is_inside(operand)) {
        continue;
      }
      const size_t part = parts_.of(flow_.tensor(operand).made_by);
      if (parts_.stage(part) == parts_.stage(parts_.of(id))) {
        read.insert(part);
      }
    }
    return read;
  }

  void note_conflict(ExprId id, const std::set<size_t>& read, const Conflict& conflict) {
    for (const TensorId operand : flow_.expr(id).operands) {
      if (is_inside(operand) && read.contains(parts_.of(flow_.tensor(operand).made_by))) {
        reasons_.emplace(
            Edge{.tensor = operand, .reader = id},
            Reason{.rule = conflict.rule, .other = flow_.result_of(conflict.with)});
      }
    }
  }

  /// The part that reads all that leaves `part`, unless some edge to it has to cross.
  std::optional<size_t> only_reader(size_t part) {
    std::optional<size_t> found;
    for (const ExprId id : parts_.members(part)) {
      for (const TensorId result : flow_.expr(id).results) {
        for (const ExprId reader : flow_.tensor(result).readers) {
          if (!parts_.contains(reader) || parts_.of(reader) == part) {
            continue;
          }
          const bool is_other = found && *found != parts_.of(reader);
          if (is_other || hard_.find({.tensor = result, .reader = reader})) {
            return std::nullopt;
          }
          found = parts_.of(reader);
        }
      }
    }
    return found;
  }

  bool try_join_siblings(size_t a, size_t b, TensorId shared) {
    a = parts_.root(a);
    b = parts_.root(b);
    if (a == b || parts_.stage(a) != parts_.stage(b)) {
      return a == b;
    }
    if (!parts_.are_alike(a, b, facts_.tensor(shared).space) || parts_.find_conflict(a, b)) {
      return false;
    }
    parts_.join(a, b);
    return true;
  }

  const Flow& flow_;
  const Facts& facts_;
  const HardEdges& hard_;
  std::span<const ExprId> exprs_;
  Parts parts_;
  Reasons& reasons_;
};

void find_outputs(
    const Flow& flow, std::span<const TensorId> provided, std::vector<Group>& groups) {
  std::unordered_map<ExprId, std::vector<size_t>> places; // only looked up
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const ExprId id : groups[i].exprs) {
      places[id].push_back(i);
    }
  }
  const auto is_read_elsewhere = [&](ExprId made_by, ExprId reader) {
    const auto found = places.find(reader);
    const std::vector<size_t>& copies = places.at(made_by);
    return found != places.end() && std::ranges::any_of(found->second, [&](size_t place) {
             return std::ranges::find(copies, place) == copies.end();
           });
  };
  for (Group& group : groups) {
    for (const ExprId id : group.own) {
      for (const TensorId result : flow.expr(id).results) {
        const bool is_needed = std::ranges::binary_search(provided, result) ||
                               std::ranges::any_of(flow.tensor(result).readers, [&](ExprId reader) {
                                 return is_read_elsewhere(id, reader);
                               });
        if (is_needed) {
          group.outputs.push_back(result);
        }
      }
    }
    std::ranges::sort(group.outputs);
  }
}

} // namespace

std::vector<Group> partition(
    const Flow& flow,
    const Facts& facts,
    const HardEdges& hard,
    std::span<const ExprId> exprs,
    std::span<const TensorId> provided,
    bool joins_siblings,
    Reasons& reasons) {
  Partitioner partitioner(flow, facts, hard, exprs, reasons);
  partitioner.join_with_operands();
  partitioner.join_with_only_reader();
  if (joins_siblings) {
    partitioner.join_siblings();
    partitioner.join_with_only_reader();
  }
  std::vector<Group> groups = partitioner.groups();
  compute_where_read(flow, facts, hard, provided, groups);
  find_outputs(flow, provided, groups);
  return groups;
}

} // namespace nvfuser::segment
