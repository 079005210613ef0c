#include "segment/copies.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "schedule/summary/costs.h"

namespace nvfuser::segment {
namespace {

/// The expressions that have to stand with a cat that reads them: it finds the place of an operand
/// by the pad that put it there, also behind copies of the padded tensor.
class PlacesInCats {
 public:
  /// Requires: calls for readers before calls for what they read.
  void note(const Flow& flow, ExprId id) {
    const Expr* expr = flow.expr(id).expr;
    const bool may_place = expr->is_a<PadOp>() || expr->is_a<LoadStoreOp>();
    const auto& readers = flow.tensor(flow.expr(id).results.front()).readers;
    if (may_place &&
        std::ranges::any_of(readers, [&](ExprId reader) { return is_bound(flow, reader); })) {
      noted_.insert(id);
    }
  }

  [[nodiscard]] bool has(ExprId id) const {
    return noted_.contains(id);
  }
  /// Whether `reader` needs the expression that computes its operand, if that was noted.
  [[nodiscard]] bool is_bound(const Flow& flow, ExprId reader) const {
    return flow.expr(reader).expr->is_a<CatOp>() || noted_.contains(reader);
  }

 private:
  std::unordered_set<ExprId> noted_; // only looked up
};

/// The price of having a tensor in a group that does not make it: bytes that are moved, and issue
/// slots of an element, if it is computed anew.
struct Supply {
  int64_t bytes = 0;
  double slots = 0;
};

class CopySearch {
 public:
  CopySearch(
      const Flow& flow,
      const Facts& facts,
      const HardEdges& hard,
      std::span<const TensorId> provided,
      std::vector<Group>& groups)
      : flow_(flow), facts_(facts), hard_(hard), provided_(provided), groups_(groups) {
    for (size_t group = 0; group < groups.size(); ++group) {
      for (const ExprId id : groups[group].exprs) {
        home_of_.emplace(id, group);
        exprs_.push_back(id);
      }
      is_view_.push_back(have_all(groups[group], [](Role role) { return role == Role::View; }));
      stands_alone_.push_back(have_all(groups[group], stands_alone));
    }
    std::ranges::sort(exprs_);
    for (const ExprId id : exprs_) {
      find_supply(id);
    }
  }

  void run() {
    for (size_t i = exprs_.size(); i-- > 0;) {
      const ExprId id = exprs_[i];
      places_[id].push_back(home_of_.at(id));
      in_cats_.note(flow_, id);
      if (is_copyable(id) || in_cats_.has(id)) {
        copy_to_readers(id);
      }
    }
    rebuild();
  }

 private:
  /// A group that reads the result of an expression that another one makes.
  struct ReadingGroup {
    bool needs_memory = false;   // it looks elements up, or computes nothing itself
    bool is_cut_between = false; // on purpose: it may have a copy, but not take it all over
    bool is_bound = false;       // it has to compute it
  };

  template <typename Fn>
  bool have_all(const Group& group, const Fn& is_kind) const {
    return std::ranges::all_of(
        group.exprs, [&](ExprId id) { return is_kind(facts_.expr(id).role); });
  }

  bool is_copyable(ExprId id) const {
    const ExprFacts& facts = facts_.expr(id);
    const bool has_elements_of_operands = facts.role == Role::Map || facts.role == Role::View;
    return has_elements_of_operands && !facts.is_random && !facts.is_boundary &&
           facts.looked_up.empty() && flow_.expr(id).results.size() == 1;
  }

  Supply supply_of(TensorId tensor) const {
    const auto known = supply_.find(tensor);
    return known == supply_.end() ? Supply{.bytes = facts_.tensor(tensor).bytes} : known->second;
  }

  /// The price of computing it in another group.
  Supply computed_anew(ExprId id) const {
    Supply sum{.slots = facts_.expr(id).slots};
    for (const TensorId operand : flow_.expr(id).operands) {
      const Supply supply = supply_of(operand);
      sum.bytes += supply.bytes;
      sum.slots += supply.slots;
    }
    return sum;
  }

  int64_t bytes_of_load(TensorId tensor) const {
    const TensorFacts& facts = facts_.tensor(tensor);
    return facts.is_stored ? facts.bytes : 2 * facts.bytes;
  }

  /// Whether computing it anew is cheaper than loading it: a slot costs as much as a quarter of a
  /// byte (schedule/summary/costs.h).
  bool is_worth_it(TensorId tensor, const Supply& anew) const {
    const int64_t saved = bytes_of_load(tensor) - anew.bytes;
    const auto elements = static_cast<double>(facts_.tensor(tensor).elements);
    return saved > 0 &&
           anew.slots * elements <= schedule::kSlotsPerByte * static_cast<double>(saved);
  }

  void find_supply(ExprId id) {
    for (const TensorId result : flow_.expr(id).results) {
      Supply supply{.bytes = bytes_of_load(result)};
      if (is_copyable(id)) {
        const Supply anew = computed_anew(id);
        supply = is_worth_it(result, anew) ? anew : supply;
      }
      supply_.emplace(result, supply);
    }
  }

  void copy_to_readers(ExprId id) {
    const TensorId result = flow_.expr(id).results.front();
    const size_t home = home_of_.at(id);
    bool is_needed_at_home = std::ranges::binary_search(provided_, result);
    std::map<size_t, ReadingGroup> elsewhere;
    for (const ExprId reader : flow_.tensor(result).readers) {
      const auto found = places_.find(reader);
      if (found == places_.end()) {
        continue; // in a group that is not among these
      }
      const Edge edge{.tensor = result, .reader = reader};
      for (const size_t place : found->second) {
        if (place == home) {
          is_needed_at_home = true;
          continue;
        }
        ReadingGroup& group = elsewhere[place];
        const auto looked_up = facts_.expr(reader).looked_up;
        const bool computes_nothing =
            stands_alone_[place] || (is_view_[place] && facts_.expr(id).role != Role::View);
        group.needs_memory = group.needs_memory || computes_nothing ||
                             std::ranges::find(looked_up, result) != looked_up.end();
        group.is_cut_between = group.is_cut_between || hard_.is_added(edge);
        group.is_bound = group.is_bound || (in_cats_.has(id) && in_cats_.is_bound(flow_, reader));
      }
    }
    place_copies(id, elsewhere, is_needed_at_home);
  }

  void place_copies(
      ExprId id, const std::map<size_t, ReadingGroup>& elsewhere, bool is_needed_at_home) {
    const bool is_cheap = !elsewhere.empty() && is_copyable(id) &&
                          is_worth_it(flow_.expr(id).results.front(), computed_anew(id));
    bool is_loaded = false;
    std::vector<size_t>& places = places_[id];
    for (const auto& [place, group] : elsewhere) {
      const bool may_have_copy =
          !group.needs_memory && (is_needed_at_home || !group.is_cut_between);
      if (group.is_bound || (is_cheap && may_have_copy)) {
        places.push_back(place);
      } else {
        is_loaded = true;
      }
    }
    if (places.size() > 1 && !is_needed_at_home && !is_loaded) {
      places.erase(places.begin());
    }
  }

  void rebuild() {
    for (Group& group : groups_) {
      group = {};
    }
    for (const ExprId id : exprs_) {
      for (const size_t place : places_.at(id)) {
        groups_[place].exprs.push_back(id);
      }
      if (places_.at(id).front() == home_of_.at(id)) {
        groups_[home_of_.at(id)].own.push_back(id);
      }
    }
    std::erase_if(groups_, [](const Group& group) { return group.exprs.empty(); });
  }

  const Flow& flow_;
  const Facts& facts_;
  const HardEdges& hard_;
  std::span<const TensorId> provided_;
  std::vector<Group>& groups_;
  PlacesInCats in_cats_;
  std::vector<bool> is_view_;
  std::vector<bool> stands_alone_;
  std::vector<ExprId> exprs_;
  std::unordered_map<ExprId, size_t> home_of_;             // only looked up
  std::unordered_map<TensorId, Supply> supply_;            // only looked up
  std::unordered_map<ExprId, std::vector<size_t>> places_; // groups that compute it
};

} // namespace

void compute_where_read(
    const Flow& flow,
    const Facts& facts,
    const HardEdges& hard,
    std::span<const TensorId> provided,
    std::vector<Group>& groups) {
  if (groups.size() > 1) {
    CopySearch(flow, facts, hard, provided, groups).run();
  }
}

} // namespace nvfuser::segment
