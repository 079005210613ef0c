#include "transform/definition_order.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "transform/graph_steps.h"

namespace nvfuser {
namespace {

bool is_older(const Statement* a, const Statement* b) {
  return a->serial() < b->serial();
}

std::vector<TensorView*> tensors_among(const std::vector<Val*>& vals) {
  std::vector<TensorView*> tensors;
  for (Val* val : vals) {
    if (val != nullptr && val->is_tensor()) {
      tensors.push_back(static_cast<TensorView*>(val));
    }
  }
  return tensors;
}

class DefinitionOrder {
 public:
  explicit DefinitionOrder(Fusion& fusion) : fusion_(fusion), steps_(graph_steps(fusion)) {
    for (const GraphStep& step : steps_) {
      made_.insert(step.effect.made.begin(), step.effect.made.end());
    }
    order_tensors();
    order_scalars();
  }

  [[nodiscard]] std::vector<TensorView*> tensors() const {
    return tensors_;
  }
  /// Scalars first: no tensor expression waits for one.
  [[nodiscard]] std::vector<Statement*> statements() const {
    std::vector<Statement*> all = scalars_;
    all.insert(all.end(), tensors_.begin(), tensors_.end());
    const std::vector<Expr*> exprs = ordered_exprs();
    all.insert(all.end(), exprs.begin(), exprs.end());
    return all;
  }

 private:
  // -- tensors --

  void order_tensors() {
    for (TensorView* input : tensors_among(fusion_.inputs())) {
      place(input);
    }
    for (TensorView* tensor : fusion_.tensors()) { // by age
      if (!made_.contains(tensor)) {
        place_math(tensor);
      }
    }
    for (const GraphStep& step : steps_) {
      for (TensorView* tensor : step.effect.made) {
        place(tensor);
      }
    }
  }

  void place(TensorView* tensor) {
    if (place_.emplace(tensor, tensors_.size()).second) {
      tensors_.push_back(tensor);
    }
  }

  /// Behind the math that it is computed from, with the other results of its expression.
  void place_math(TensorView* last) {
    std::vector<TensorView*> pending{last};
    while (!pending.empty()) {
      TensorView* tensor = pending.back();
      if (!place_.contains(tensor) && entered_.insert(tensor).second) {
        const std::vector<TensorView*> producers = producers_of(tensor);
        pending.insert(pending.end(), producers.rbegin(), producers.rend());
        continue;
      }
      pending.pop_back();
      if (made_.contains(tensor)) { // what is read through it is placed
        continue;
      }
      for (TensorView* result : results_with(tensor)) {
        if (!made_.contains(result)) {
          place(result);
        }
      }
    }
  }

  /// Reductions that a schedule groups are apart in the math.
  static std::vector<TensorView*> producers_of(const TensorView* tensor) {
    const Expr* definition = tensor->definition();
    if (definition == nullptr) {
      return {};
    }
    if (const auto* group = definition->as<GroupedReductionOp>()) {
      const auto member = std::find(group->outs.begin(), group->outs.end(), tensor);
      return tensors_among({group->args.at(static_cast<size_t>(member - group->outs.begin()))});
    }
    return tensors_among(definition->inputs());
  }

  static std::vector<TensorView*> results_with(TensorView* tensor) {
    const Expr* definition = tensor->definition();
    if (definition == nullptr || definition->is_a<GroupedReductionOp>()) {
      return {tensor};
    }
    return tensors_among(definition->outputs());
  }

  // -- expressions --

  /// Those of the math by the places of their results, then those that steps made, by age.
  [[nodiscard]] std::vector<Expr*> ordered_exprs() const {
    std::unordered_map<const TensorView*, const TensorView*> computed_by; // by cache_before
    for (const GraphStep& step : steps_) {
      if (step.effect.change == GraphChange::CacheBefore) {
        computed_by.emplace(step.effect.made.front(), step.effect.tensors.front());
      }
    }
    const auto place_in_math = [&](const TensorView* result) {
      for (auto copy = computed_by.find(result);
           copy != computed_by.end() && place_.contains(copy->second);
           copy = computed_by.find(result)) {
        result = copy->second;
      }
      return place_.at(result);
    };
    std::vector<std::tuple<bool, size_t, Expr*>> keys;
    for (Expr* expr : fusion_.exprs()) {
      const std::vector<TensorView*> results = tensors_among(expr->outputs());
      if (results.empty()) {
        continue;
      }
      const bool is_step = is_made_by_step(*expr);
      size_t key = is_step ? static_cast<size_t>(expr->serial()) : place_in_math(results.front());
      for (const TensorView* result : results) {
        key = is_step ? key : std::min(key, place_in_math(result));
      }
      keys.emplace_back(is_step, key, expr);
    }
    std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::vector<Expr*> exprs;
    for (const auto& [is_step, key, expr] : keys) {
      exprs.push_back(expr);
    }
    return exprs;
  }

  /// A step makes its tensors, then its expressions, then its record.
  [[nodiscard]] bool is_made_by_step(const Expr& expr) const {
    const auto step = std::upper_bound(
        steps_.begin(), steps_.end(), expr.serial(),
        [](int64_t serial, const GraphStep& other) { return serial < other.serial; });
    if (step == steps_.end()) {
      return false;
    }
    const std::vector<TensorView*>& made = step->effect.made;
    return made.empty() ? expr.is_a<GroupedReductionOp>() : is_older(made.front(), &expr);
  }

  // -- scalars --

  void order_scalars() {
    for (Val* input : fusion_.inputs()) {
      if (input->is_scalar()) {
        add_scalar(input);
      } else {
        add_sizes(static_cast<TensorView*>(input)->logical());
      }
    }
    // Operands first: whether a size of a tensor and an operand of a later one are the same object
    // or just equal is history.
    for (const TensorView* tensor : tensors_) {
      if (tensor->definition() != nullptr) {
        add_operands(*tensor->definition());
      }
    }
    for (const TensorView* tensor : tensors_) {
      add_sizes(tensor->root());
      add_sizes(tensor->logical());
      for (const Expr* transform : tensor->domain()->all_exprs()) {
        add_operands(*transform);
      }
    }
  }

  void add_sizes(const IterDomains& axes) {
    for (const IterDomain* axis : axes) {
      add_scalar(axis->maybe_expanded_extent());
      add_scalar(axis->extent());
    }
  }

  void add_operands(const Expr& expr) {
    for (Val* input : expr.inputs()) {
      add_scalar(input);
    }
    expr.for_each_attr([&](const char*, const AttrValue& value) {
      if (Val* const* val = std::get_if<Val*>(&value)) {
        add_scalar(*val);
      }
    });
  }

  /// Behind what it is computed from, with its expression.
  void add_scalar(Val* last) {
    std::vector<Val*> pending{last};
    while (!pending.empty()) {
      Val* val = pending.back();
      const bool is_done = val == nullptr || !val->is_scalar() || placed_scalars_.contains(val);
      if (!is_done && val->definition() != nullptr && entered_.insert(val).second) {
        const std::vector<Val*>& operands = val->definition()->inputs();
        pending.insert(pending.end(), operands.rbegin(), operands.rend());
        continue;
      }
      pending.pop_back();
      if (is_done) {
        continue;
      }
      placed_scalars_.insert(val);
      scalars_.push_back(val);
      if (val->definition() != nullptr) {
        scalars_.push_back(val->definition());
      }
    }
  }

  Fusion& fusion_;
  const std::vector<GraphStep> steps_;           // oldest first
  std::unordered_set<const Val*> made_;          // by steps
  std::unordered_map<const Val*, size_t> place_; // in `tensors_`
  std::vector<TensorView*> tensors_;
  std::unordered_set<const Val*> placed_scalars_;
  std::vector<Statement*> scalars_;        // and their expressions
  std::unordered_set<const Val*> entered_; // what they are computed from is placed before them
};

} // namespace

std::vector<TensorView*> put_in_order_of_definition(Fusion& fusion) {
  const DefinitionOrder order(fusion);
  fusion.reorder(order.statements());
  return order.tensors();
}

} // namespace nvfuser
