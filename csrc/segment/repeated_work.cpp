#include "segment/repeated_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "schedule/summary/costs.h"

namespace nvfuser::segment {
namespace {

/// Slots beyond which nothing is decided any more: the search for them ends.
constexpr double kMostSlots = 256;
/// Slots below which a function is computed wherever it is read.
constexpr double kLeastSlots = 8;
/// Bytes of an element that a kernel reads and writes, at most: segments of long definitions access
/// few of the tensors.
constexpr int64_t kMostBytes = 8;
/// Slots of a function that a GPU hides for each byte, about half more than it has: a thread has
/// several rows, and the compiler computes some of what they share once. On an H200 functions of 50
/// slots cost nothing beside 4 bytes, those of 70 slots half of the time.
constexpr double kHiddenByGpu = 14;
/// Time that one more kernel takes.
constexpr int64_t kLaunchUs = 5;

class Search {
 public:
  Search(const Flow& flow, const Facts& facts, const ValGraph& exact, const Target& target)
      : flow_(flow),
        facts_(facts),
        exact_(exact),
        hidden_for_byte_(target.is_cuda() ? kHiddenByGpu : schedule::kSlotsPerByte) {
    find_pure();
    for (TensorId id = 0; id < flow.tensors().size(); ++id) {
      if (facts.tensor(id).is_stored) {
        bytes_[facts.tensor(id).space] += size_bytes(facts.tensor(id).stored_as);
      }
    }
  }

  [[nodiscard]] std::vector<RepeatedWork> run() {
    find_functions();
    std::vector<RepeatedWork> found;
    for (const auto& [reads, functions] : functions_) {
      double all = 0;
      std::set<TensorId> counted;
      for (const RepeatedWork& work : functions) {
        all += counted.insert(work.edge.tensor).second ? work.slots : 0;
      }
      const double exposed = all - hidden_slots(functions.front().reader);
      for (RepeatedWork work : functions) {
        work.slots *= exposed / all;
        if (exposed > 0) {
          found.push_back(work);
        }
      }
    }
    return found;
  }

 private:
  /// The expressions that lead to a tensor.
  struct Cone {
    double slots = 0; // at most a little more than `kMostSlots`
    std::set<TensorId> operands;
  };

  void find_functions() {
    for (ExprId reader = 0; reader < flow_.exprs().size(); ++reader) {
      if (stands_alone(facts_.expr(reader).role)) {
        continue;
      }
      for (const TensorId operand : flow_.expr(reader).operands) {
        const Edge edge = before_views({.tensor = operand, .reader = reader});
        if (!is_pure(edge.tensor) || !has_fewer_axes(operand, reader) ||
            !has_innermost_axis(operand, reader)) {
          continue;
        }
        Cone cone = cone_of(edge.tensor);
        if (cone.slots >= kLeastSlots) {
          functions_[{std::move(cone.operands), facts_.expr(reader).space}].push_back(
              {edge, reader, cone.slots});
        }
      }
    }
  }

  /// Expressions whose results follow element by element from inputs.
  void find_pure() {
    for (ExprId id = 0; id < flow_.exprs().size(); ++id) {
      const ExprFacts& facts = facts_.expr(id);
      const bool is_map = facts.role == Role::Map || facts.role == Role::View;
      is_pure_.push_back(
          is_map && !facts.is_random && !facts.is_boundary && facts.looked_up.empty() &&
          std::ranges::all_of(flow_.expr(id).operands, [&](TensorId operand) {
            const ExprId made_by = flow_.tensor(operand).made_by;
            return made_by == kNoExpr || is_pure_[made_by];
          }));
    }
  }

  [[nodiscard]] bool is_pure(TensorId tensor) const {
    const ExprId made_by = flow_.tensor(tensor).made_by;
    return made_by != kNoExpr && is_pure_[made_by];
  }

  [[nodiscard]] bool has_fewer_axes(TensorId tensor, ExprId reader) const {
    const Space& inner = facts_.tensor(tensor).space;
    const Space& outer = facts_.expr(reader).space;
    return inner.size() < outer.size() && is_within(inner, outer);
  }

  /// The edge before what only shows the elements in another order, or broadcast.
  [[nodiscard]] Edge before_views(Edge edge) const {
    for (;;) {
      const ExprId made_by = flow_.tensor(edge.tensor).made_by;
      if (made_by == kNoExpr || facts_.expr(made_by).role != Role::View ||
          flow_.tensor(edge.tensor).is_output) {
        return edge;
      }
      edge = {.tensor = flow_.expr(made_by).operands.front(), .reader = made_by};
    }
  }

  [[nodiscard]] Cone cone_of(TensorId tensor) const {
    Cone cone;
    std::vector<ExprId> next{flow_.tensor(tensor).made_by};
    std::unordered_set<ExprId> seen{next.front()};
    while (!next.empty() && cone.slots < kMostSlots) {
      const ExprId id = next.back();
      next.pop_back();
      cone.slots += facts_.expr(id).slots;
      for (const TensorId operand : flow_.expr(id).operands) {
        const ExprId made_by = flow_.tensor(operand).made_by;
        if (made_by == kNoExpr) {
          cone.operands.insert(operand);
        } else if (seen.insert(made_by).second) {
          next.push_back(made_by);
        }
      }
    }
    return cone;
  }

  /// Slots that pass while the elements of the reader are moved.
  [[nodiscard]] double hidden_slots(ExprId reader) const {
    const auto found = bytes_.find(facts_.expr(reader).space);
    const int64_t bytes = found == bytes_.end() ? 0 : std::min(found->second, kMostBytes);
    return hidden_for_byte_ * static_cast<double>(bytes);
  }

  /// Elements of a row share what does not have the innermost axis: it is computed once for many.
  [[nodiscard]] bool has_innermost_axis(TensorId tensor, ExprId reader) const {
    const IterDomains axes = TensorDomain::no_reductions(flow_.result_of(reader)->logical());
    const auto innermost = std::find_if(
        axes.rbegin(), axes.rend(), [](const IterDomain* axis) { return !axis->is_broadcast(); });
    if (innermost == axes.rend()) {
      return true; // all is reduced
    }
    const Space axis({exact_.group(*innermost)});
    const bool is_own = is_within(axis, facts_.expr(reader).space); // no reshape's
    return !is_own || is_within(axis, facts_.tensor(tensor).space);
  }

  const Flow& flow_;
  const Facts& facts_;
  const ValGraph& exact_;
  const double hidden_for_byte_;
  std::vector<bool> is_pure_;
  std::map<Space, int64_t> bytes_; // of an element, of stored tensors over these axes
  /// By the stored tensors that they are functions of, and the axes over which they are read: the
  /// sine and the cosine of angles stand together.
  std::map<std::pair<std::set<TensorId>, Space>, std::vector<RepeatedWork>> functions_;
};

/// Elements that the loops of an expression run over.
int64_t elements_of(ExprId id, const Flow& flow, const Facts& facts) {
  int64_t elements = 0;
  for (const auto* tensors : {&flow.expr(id).operands, &flow.expr(id).results}) {
    for (const TensorId tensor : *tensors) {
      elements = std::max(elements, facts.tensor(tensor).elements);
    }
  }
  return elements;
}

} // namespace

std::vector<RepeatedWork> find_repeated_work(
    const Flow& flow, const Facts& facts, const ValGraph& exact, const Target& target) {
  return Search(flow, facts, exact, target).run();
}

bool is_worth_storing(
    const RepeatedWork& work, const Flow& flow, const Facts& facts, const Target& target) {
  const TensorFacts& stored = facts.tensor(work.edge.tensor);
  const auto elements = static_cast<double>(elements_of(work.reader, flow, facts));
  const double repeated = work.slots * (elements - static_cast<double>(stored.elements));
  const double moved = schedule::kSlotsPerByte * 2 * static_cast<double>(stored.bytes);
  const int64_t processors = target.is_cuda() ? target.num_sms : 1;
  const auto launch = static_cast<double>(kLaunchUs * target.slots_per_us * processors);
  return repeated > moved + launch;
}

} // namespace nvfuser::segment
