// Parts: sets of expressions that grow while segments are sought, with what one kernel has to know
// of a set.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "segment/cut.h"
#include "segment/facts.h"

namespace nvfuser::segment {

/// Why two parts cannot be one: the rule, and the expression that stands against it.
struct Conflict {
  CutRule rule = CutRule::Space;
  ExprId with = kNoExpr;
};

class Parts {
 public:
  explicit Parts(const Facts& facts) : facts_(facts) {}

  /// A part of its own.
  void add(ExprId id, int64_t stage);
  [[nodiscard]] bool contains(ExprId id) const {
    return number_of_.contains(id);
  }
  /// The part of an expression. It stands until that is joined with another one.
  [[nodiscard]] size_t of(ExprId id) const {
    return root(number_of_.at(id));
  }
  [[nodiscard]] size_t root(size_t part) const;

  [[nodiscard]] int64_t stage(size_t part) const {
    return parts_[root(part)].stage;
  }
  void set_stage(size_t part, int64_t stage) {
    parts_[root(part)].stage = stage;
  }
  void move_to_next_stage(ExprId id) {
    ++parts_[of(id)].stage;
  }
  [[nodiscard]] ExprId first_expr(size_t part) const {
    return parts_[root(part)].first;
  }
  [[nodiscard]] const std::vector<ExprId>& members(size_t part) const {
    return parts_[root(part)].members;
  }

  /// The stage is that of both. Cost: that of the smaller one.
  void join(size_t a, size_t b);

  /// Whether one kernel can hold both.
  [[nodiscard]] std::optional<Conflict> find_conflict(size_t a, size_t b) const;
  /// Whether one kernel can hold an expression and all `parts`.
  [[nodiscard]] std::optional<Conflict> find_conflict(
      ExprId id, const std::set<size_t>& parts) const;

  /// Whether reading a tensor of `space` together is worth a kernel for both: they run over these
  /// very axes, and in the same way.
  [[nodiscard]] bool are_alike(size_t a, size_t b, const Space& space) const;

 private:
  struct Part {
    size_t parent = 0;
    int64_t stage = 0;
    Space space = {};        // of the widest expression
    ExprId widest = kNoExpr; // that has it
    int64_t pattern = kNoPattern;
    ExprId reducer = kNoExpr; // that has the pattern
    bool stands_alone = false;
    bool has_only_views = false;
    bool has_resize = false;
    ExprId first = kNoExpr;
    std::vector<ExprId> members = {}; // in no order
  };

  [[nodiscard]] std::optional<Conflict> find_conflict(const Part& a, const Part& b) const;
  /// The facts of both together. Requires: no conflict.
  [[nodiscard]] static Part together(const Part& a, const Part& b);

  const Facts& facts_;
  std::vector<Part> parts_;
  std::unordered_map<ExprId, size_t> number_of_; // only looked up
};

} // namespace nvfuser::segment
