#include "transform/replay.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "graph/pair_graph.h"
#include "ir/all_nodes.h"
#include "ir/rules.h"
#include "transform/lost_elements.h"

namespace nvfuser::transform {
namespace {

IterDomain* as_id(Val* val) {
  return static_cast<IterDomain*>(val);
}

bool contains(const IterDomains& ids, const Val* id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// Target's axes that are still to be transformed, in order. Starts with its first axes.
class Frontier {
 public:
  explicit Frontier(IterDomains ids) : ids_(std::move(ids)) {}

  [[nodiscard]] const IterDomains& ids() const {
    return ids_;
  }
  [[nodiscard]] bool has_all(const std::vector<Val*>& ids) const {
    return std::all_of(ids.begin(), ids.end(), [&](const Val* id) { return contains(ids_, id); });
  }
  /// The results take the place of the first operand.
  void apply(const Expr* expr) {
    const auto place = std::find(ids_.begin(), ids_.end(), expr->inputs().front()) - ids_.begin();
    IterDomains outs;
    for (Val* out : expr->outputs()) {
      outs.push_back(as_id(out));
    }
    ids_.insert(ids_.begin() + place, outs.begin(), outs.end());
    std::erase_if(ids_, [&](IterDomain* id) {
      return std::find(expr->inputs().begin(), expr->inputs().end(), id) != expr->inputs().end();
    });
  }

 private:
  IterDomains ids_;
};

class Replayer {
 public:
  Replayer(const TensorView* source, const TensorView* target, Direction direction)
      : target_(target),
        frontier_(first_axes(target)),
        own_exprs_(target->domain()->all_exprs()),
        own_expr_set_(own_exprs_.begin(), own_exprs_.end()) {
    if (direction == Direction::ToSibling) {
      for (size_t i = 0; i < source->maybe_root().size(); ++i) {
        counterpart_[source->maybe_root()[i]] = target->maybe_root().at(i);
      }
      start_ = source->maybe_root();
      return;
    }
    const bool is_producer = direction == Direction::ToProducer;
    const PairwiseDomainMap map(is_producer ? target : source, is_producer ? source : target);
    for (const auto& [producer_id, consumer_id] : map.pairs()) {
      counterpart_[is_producer ? consumer_id : producer_id] =
          is_producer ? producer_id : consumer_id;
    }
    const IterDomains& lacking = is_producer ? map.consumer_only() : map.producer_only();
    lacking_.insert(lacking.begin(), lacking.end());
    const IterDomains& touching = is_producer ? source->maybe_root() : source->logical();
    start_ = loops_over_operands(source) ? first_axes(source) : touching;
  }

  std::optional<Refusal> run(const IterDomains& source_axes, Replay& result) {
    for (const Expr* expr : exprs_between(start_, source_axes)) {
      NVF_RETURN_REFUSAL(step(expr));
    }
    for (IterDomain* axis : source_axes) {
      IterDomain* mapped = counterpart(axis);
      if (mapped != nullptr && contains(frontier_.ids(), mapped)) {
        result.axes.emplace_back(axis, mapped);
      }
    }
    finish(result);
    return std::nullopt;
  }

 private:
  [[nodiscard]] IterDomain* counterpart(const Val* source_id) const {
    const auto found = counterpart_.find(source_id);
    return found == counterpart_.end() ? nullptr : found->second;
  }

  /// Repeat one transform of the source, or skip it.
  std::optional<Refusal> step(const Expr* expr) {
    IterDomains inputs;
    size_t lacking = 0;
    for (const Val* in : expr->inputs()) {
      if (IterDomain* mapped = counterpart(in)) {
        inputs.push_back(mapped);
      }
      lacking += lacking_.count(in);
    }
    const size_t size = expr->inputs().size();
    if (inputs.size() == size) {
      return repeat(expr, inputs);
    }
    if (lacking == size) {
      lacking_.insert(expr->outputs().begin(), expr->outputs().end());
    } else if (expr->is_a<Merge>() && inputs.size() == 1 && lacking == 1) {
      const size_t lacks = lacking_.count(expr->inputs()[0]) != 0 ? 0 : 1;
      if (is_forwardable(as_id(expr->inputs()[lacks]))) {
        counterpart_[expr->outputs().front()] = inputs.front();
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> repeat(const Expr* expr, const IterDomains& inputs) {
    const std::vector<Val*> in_vals(inputs.begin(), inputs.end());
    const Expr* own = find_own(expr, in_vals);
    const bool is_free = frontier_.has_all(in_vals);
    if (own == nullptr) {
      if (!is_free || lost_elements_.in(expr)) {
        return std::nullopt; // used up between the target's root and logical domains, or not to be
                             // repeated
      }
      NVF_RETURN_REFUSAL(find_wrong_types(expr, inputs));
      const IterDomains outputs = replay_id_expr(expr, inputs);
      if (outputs == inputs) { // a resize that neither adds nor cuts off makes no axis
        counterpart_[expr->outputs().front()] = inputs.front();
        return std::nullopt;
      }
      own = outputs.front()->definition();
    }
    if (is_free) {
      frontier_.apply(own);
    }
    for (size_t i = 0; i < expr->outputs().size(); ++i) {
      counterpart_[expr->outputs()[i]] = as_id(own->outputs()[i]);
    }
    return std::nullopt;
  }

  [[nodiscard]] const Expr* find_own(const Expr* expr, const std::vector<Val*>& inputs) const {
    for (const Expr* use : inputs.front()->all_uses()) {
      if (own_expr_set_.count(use) != 0 && use->same_op(expr) && use->inputs() == inputs) {
        return use;
      }
    }
    return nullptr;
  }

  [[nodiscard]] std::optional<Refusal> find_wrong_types(
      const Expr* expr, const IterDomains& inputs) const {
    if (expr->is_a<Merge>() && inputs[0]->is_reduction() != inputs[1]->is_reduction()) {
      return refuse({
          .headline =
              {"Merging IterDomains requires that their iteration types match. Outer: ",
               inputs[0]->to_string(), ", Inner: ", inputs[1]->to_string()},
          .node = {describe(target_)},
          .expected =
              {"two reductions or none, as ", expr->inputs()[0]->to_string(), " and ",
               expr->inputs()[1]->to_string(), " that are merged"},
          .found = {"one reduction axis of T", target_->name()},
          .fix = {"do not merge a reduced axis with another one in the tensor that is propagated"},
      });
    }
    for (const IterDomain* in : inputs) {
      if (in->is_parallelized()) {
        return refuse({
            .headline =
                {expr->is_a<Merge>() ? "Merging" : "Splitting", " an axis (", in->to_string(),
                 ") of non-Serial parallel type is not supported at this time. "
                 "Parallelization strategy must be set after calling ",
                 expr->is_a<Merge>() ? "merge" : "split"},
            .node = {describe(target_)},
            .expected =
                {"a serial axis, to be transformed like ", expr->inputs().front()->to_string()},
            .found = {in->to_string()},
            .fix = {"propagate transforms first, then parallelize"},
        });
      }
    }
    return expr->is_a<Merge>() ? find_wrong_merge(inputs[0], inputs[1]) : std::nullopt;
  }

  /// The target's own further transforms of exactly these axes, in order.
  [[nodiscard]] IterDomains with_own_transforms(IterDomains ids) const {
    Frontier frontier(std::move(ids));
    for (const Expr* expr : own_exprs_) {
      if (frontier.has_all(expr->inputs()) && leads_to_loop(expr)) {
        frontier.apply(expr);
      }
    }
    return frontier.ids();
  }

  [[nodiscard]] bool leads_to_loop(const Expr* expr) const {
    return std::any_of(expr->outputs().begin(), expr->outputs().end(), [&](const Val* out) {
      return toward_loop_.count(out) != 0;
    });
  }

  void collect_toward_loop() {
    toward_loop_.insert(target_->loop().begin(), target_->loop().end());
    for (size_t i = own_exprs_.size(); i-- > 0;) {
      const Expr* expr = own_exprs_[i];
      if (leads_to_loop(expr)) {
        toward_loop_.insert(expr->inputs().begin(), expr->inputs().end());
      }
    }
  }

  void finish(Replay& result) {
    collect_toward_loop();
    const IterDomains chosen = result.corresponding();
    const IterDomains& old_loop = target_->loop();
    if (chosen.size() <= old_loop.size() &&
        std::equal(chosen.begin(), chosen.end(), old_loop.begin())) {
      result.loop = old_loop;
      result.position = static_cast<int64_t>(chosen.size());
      return;
    }
    for (IterDomain* id : chosen) {
      const IterDomains deeper = with_own_transforms({id});
      result.loop.insert(result.loop.end(), deeper.begin(), deeper.end());
    }
    result.position = static_cast<int64_t>(result.loop.size());
    IterDomains others = frontier_.ids();
    std::erase_if(others, [&](IterDomain* id) { return contains(chosen, id); });
    others = with_own_transforms(std::move(others));
    // In the order they had, if they had one.
    const auto place = [&](const IterDomain* id) {
      return std::find(old_loop.begin(), old_loop.end(), id) - old_loop.begin();
    };
    const bool all_old = std::all_of(
        others.begin(), others.end(), [&](const IterDomain* id) { return contains(old_loop, id); });
    if (all_old) {
      std::sort(others.begin(), others.end(), [&](const IterDomain* a, const IterDomain* b) {
        return place(a) < place(b);
      });
    }
    result.loop.insert(result.loop.end(), others.begin(), others.end());
  }

  const TensorView* target_;
  Frontier frontier_;
  LostElements lost_elements_;
  std::vector<Expr*> own_exprs_; // operands before results
  std::unordered_set<const Expr*> own_expr_set_;
  std::unordered_set<const Val*> toward_loop_; // ids that the target's loop axes are built from
  IterDomains start_;                          // where the source touches the target
  std::unordered_map<const Val*, IterDomain*> counterpart_; // source id -> target id
  std::unordered_set<const Val*> lacking_;                  // source ids the target has no part of
};

} // namespace

IterDomains Replay::corresponding() const {
  IterDomains ids;
  for (const auto& [source, target] : axes) {
    if (!contains(ids, target)) {
      ids.push_back(target);
    }
  }
  return ids;
}

std::optional<Refusal> try_replay(
    const TensorView* source,
    const IterDomains& source_axes,
    const TensorView* target,
    Direction direction,
    Replay& result) {
  result = {};
  return Replayer(source, target, direction).run(source_axes, result);
}

std::optional<Refusal> find_wrong_replay(const TensorView* target, const IterDomains& loop) {
  const auto find_changed_axis = [&](int64_t position, const char* name,
                                     const char* variable) -> std::optional<Refusal> {
    for (int64_t i = 0; i < position; ++i) {
      if (static_cast<size_t>(i) < loop.size() && loop[i] == target->axis(i)) {
        continue;
      }
      return refuse({
          .headline =
              {"Cannot transform axis within ", name, " position. Axis = ", i, " ", variable, " = ",
               position},
          .node = {describe(target)},
          .expected = {"transforms of axes behind that position"},
          .found = {"a propagated transform of ", target->axis(i)->to_string()},
          .fix = {"transform before inlining, or call clear_compute_position first"},
      });
    }
    return std::nullopt;
  };
  NVF_RETURN_REFUSAL(find_changed_axis(
      std::max(target->compute_at_position(), target->compute_with_position()), "compute at",
      "computePosition"));
  return find_changed_axis(
      target->maybe_max_producer_position(), "max producer", "maxProducerPosition");
}

void apply_replay(TensorView* target, const IterDomains& loop) {
  if (loop != target->loop()) {
    target->domain()->assign_loop(loop);
  }
}

} // namespace nvfuser::transform
