// TensorView::rfactor: a reduction in two steps.
//
//   before:  s = sum(x)        s: root [r0, r1], split and merged into a loop domain
//   after:   f = sum(x)        f reduces the loop axes that were named; the others are iterations
//            s = sum(f)        s reduces what is left; its handle, and so its consumers, stay
//
// Every transform on the path of a reduction moves to f, between its root and its logical domain: f
// stores one element per index of what is not reduced yet. An axis of f is a reduction while any
// named axis is derived from it. s has no transforms but those of its other axes.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/source_location_scope.h"
#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/make_like.h"
#include "ir/replay_domain.h"
#include "ir/rules.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"
#include "transform/siblings.h"

namespace nvfuser::transform {
namespace {

using IdSet = std::unordered_set<const Val*>;

/// The two domains that a factored tensor's domain becomes.
class Factoring {
 public:
  /// Requires: `factored` are reduction axes of the loop domain of `tv`, and not all of them.
  Factoring(const TensorView* tv, const IterDomains& factored)
      : domain_(*tv->domain()),
        fusion_(*tv->fusion()),
        factored_(factored.begin(), factored.end()) {
    plan();
  }

  [[nodiscard]] TensorDomain* make_producer();
  /// After make_producer().
  [[nodiscard]] TensorDomain* make_consumer();

 private:
  void plan();
  [[nodiscard]] IterDomain* make_id(const IterDomain* original, bool is_rfactor);
  [[nodiscard]] IterDomains map_loop(const IdMap& map) const;

  const TensorDomain& domain_;
  Fusion& fusion_;
  IdSet factored_;
  IdSet has_factored_descendant_; // factored axes included
  std::vector<Expr*> moved_;      // between root and logical domain of the producer
  std::vector<Expr*> kept_;       // between logical and loop domain of both
  IdMap producer_ids_;
  /// Logical axes of the producer that it does not reduce, by the original's axes, in order.
  std::vector<std::pair<const IterDomain*, IterDomain*>> partial_axes_;
};

void Factoring::plan() {
  IterDomains reductions;
  std::copy_if(
      domain_.loop().begin(), domain_.loop().end(), std::back_inserter(reductions),
      [](const IterDomain* id) { return id->is_reduction(); });
  const IterDomains& root = domain_.maybe_root();
  std::unordered_set<const Expr*> moved;
  for (const IterDomains& targets : {domain_.logical(), reductions}) {
    const std::vector<Expr*> path = exprs_between(root, targets);
    moved.insert(path.begin(), path.end());
  }
  IterDomains ends = domain_.loop();
  ends.insert(ends.end(), domain_.allocation().begin(), domain_.allocation().end());
  const std::vector<Expr*> path = exprs_between(root, ends);
  for (Expr* expr : path) {
    (moved.count(expr) != 0 ? moved_ : kept_).push_back(expr);
  }

  has_factored_descendant_ = factored_;
  for (auto expr = path.rbegin(); expr != path.rend(); ++expr) {
    const auto& outputs = (*expr)->outputs();
    if (std::any_of(outputs.begin(), outputs.end(), [&](const Val* id) {
          return has_factored_descendant_.count(id) != 0;
        })) {
      has_factored_descendant_.insert((*expr)->inputs().begin(), (*expr)->inputs().end());
    }
  }
}

/// The producer's version of an axis.
IterDomain* Factoring::make_id(const IterDomain* original, bool is_rfactor) {
  IterDomainSpec spec = original->spec();
  if (has_factored_descendant_.count(original) != 0) {
    spec.iter_type = IterType::Reduction;
  } else if (original->is_reduction()) {
    spec.iter_type = IterType::Iteration;
  }
  spec.is_rfactor = is_rfactor;
  IterDomain* id = fusion_.new_iter_domain(spec);
  producer_ids_[original] = id;
  return id;
}

IterDomains Factoring::map_loop(const IdMap& map) const {
  IterDomains loop;
  for (const IterDomain* id : domain_.loop()) {
    if (const auto found = map.find(id); found != map.end()) {
      loop.push_back(found->second);
    }
  }
  return loop;
}

TensorDomain* Factoring::make_producer() {
  IterDomains root;
  for (const IterDomain* id : domain_.maybe_root()) {
    root.push_back(make_id(id, /*is_rfactor=*/false));
  }

  // The transforms are applied to the list of axes in place, as if to a loop domain.
  IterDomains originals = domain_.maybe_root();
  for (const Expr* expr : moved_) {
    IterDomains inputs;
    for (const Val* input : expr->inputs()) {
      inputs.push_back(producer_ids_.at(static_cast<const IterDomain*>(input)));
    }
    IterDomains outputs;
    IterDomains original_outputs;
    for (Val* output : expr->outputs()) {
      original_outputs.push_back(static_cast<IterDomain*>(output));
      outputs.push_back(make_id(original_outputs.back(), /*is_rfactor=*/true));
    }
    make_like(expr, inputs, outputs);

    const IdSet consumed(expr->inputs().begin(), expr->inputs().end());
    const auto is_consumed = [&](const IterDomain* id) { return consumed.count(id) != 0; };
    const auto place =
        std::find_if(originals.begin(), originals.end(), is_consumed) - originals.begin();
    originals.erase(
        std::remove_if(originals.begin(), originals.end(), is_consumed), originals.end());
    originals.insert(originals.begin() + place, original_outputs.begin(), original_outputs.end());
  }

  IterDomains logical;
  for (const IterDomain* original : originals) {
    IterDomain* id = producer_ids_.at(original);
    logical.push_back(id);
    if (!id->is_reduction()) {
      partial_axes_.emplace_back(original, id);
    }
  }
  replay_exprs(kept_, producer_ids_);
  TensorDomainSpec spec{
      .root = root,
      .logical = logical,
      .allocation = {},
      .loop = map_loop(producer_ids_),
      .contiguity = {}};
  return fusion_.new_tensor_domain(std::move(spec));
}

TensorDomain* Factoring::make_consumer() {
  IdMap map; // from the original's axes
  IterDomains logical;
  for (const auto& [original, partial] : partial_axes_) {
    IterDomainSpec spec = original->spec();
    spec.is_rfactor = false;
    logical.push_back(fusion_.new_iter_domain(spec));
    map[original] = logical.back();
  }
  replay_exprs(kept_, map);

  TensorDomainSpec spec{
      .root = {}, .logical = logical, .allocation = {}, .loop = map_loop(map), .contiguity = {}};
  std::unordered_map<const IterDomain*, std::optional<bool>> flags;
  for (size_t i = 0; i < domain_.maybe_allocation().size(); ++i) {
    flags[domain_.maybe_allocation()[i]] = domain_.contiguity()[i];
  }
  if (domain_.has_allocation()) {
    for (const IterDomain* id : domain_.allocation()) {
      if (!id->is_reduction() && map.count(id) != 0) {
        spec.allocation.push_back(map.at(id));
        spec.contiguity.push_back(flags.at(id));
      }
    }
  }
  // An axis that is still reduced has a loop but no place in memory; it stands last in a given
  // order.
  for (const auto& [original, partial] : partial_axes_) {
    if (!domain_.has_allocation()) {
      spec.contiguity.push_back(original->is_reduction() ? std::nullopt : flags.at(original));
    } else if (original->is_reduction()) {
      spec.allocation.push_back(map.at(original));
      spec.contiguity.push_back(std::nullopt);
    }
  }
  return fusion_.new_tensor_domain(std::move(spec));
}

// ---- Rules --------------------------------------------------------------------------------------

std::optional<Refusal> find_inlining(const TensorView* tv) {
  if (!tv->is_inlined()) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "Cannot rfactor an inlined tensor",
       .node = describe(tv),
       .expected = "no compute at position and no max producer position",
       .found =
           {"computePosition = ", tv->compute_at_position(),
            " maxProducerPosition = ", tv->max_producer_position()},
       .fix = "call rfactor before inlining"});
}

/// The loop axes at `positions`: reductions, each once, and not all that there are.
std::optional<Refusal> find_wrong_reductions(
    const TensorView* tv, const std::vector<int64_t>& positions, IterDomains& axes) {
  for (const int64_t position : positions) {
    NVF_RETURN_REFUSAL(find_wrong_axis(position, tv->ndims(), tv));
    IterDomain* id = tv->axis(position);
    if (!id->is_reduction()) {
      return refuse_node(
          tv, {"rFactor: axis ", position, " (", id->to_string(), ") is not a reduction axis"});
    }
    if (std::find(axes.begin(), axes.end(), id) != axes.end()) {
      return refuse_node(tv, {"rFactor: axis ", position, " is given twice"});
    }
    axes.push_back(id);
  }
  if (axes.empty()) {
    return refuse_node(tv, "rFactor: no axes are given");
  }
  const bool is_any_left = std::any_of(tv->loop().begin(), tv->loop().end(), [&](IterDomain* id) {
    return id->is_reduction() && std::find(axes.begin(), axes.end(), id) == axes.end();
  });
  if (!is_any_left) {
    return refuse_node(
        tv, "rFactor: all reduction axes are given; the second step needs at least one");
  }
  return std::nullopt;
}

/// The transforms move to the producer: they start at the root domain, and none joins reductions
/// with other axes, as a swizzle may in a tensor that follows another one's schedule.
std::optional<Refusal> find_unmovable_transform(const TensorView* tv) {
  const IterDomains& root = tv->maybe_root();
  const std::vector<Expr*> path = exprs_between(root, tv->loop());
  IdSet derived(root.begin(), root.end());
  for (const Expr* expr : path) {
    derived.insert(expr->outputs().begin(), expr->outputs().end());
  }
  for (const IterDomain* id : tv->loop()) {
    if (!derived.contains(id)) {
      return refuse_node(
          tv, {"rFactor: loop axis ", id->to_string(), " is not derived from the root domain"});
    }
  }
  const auto is_reduced = [](const Val* id) {
    return static_cast<const IterDomain*>(id)->is_reduction();
  };
  for (const Expr* expr : path) {
    const auto reduced = std::ranges::count_if(expr->inputs(), is_reduced);
    if (reduced != 0 && reduced != std::ssize(expr->inputs())) {
      return refuse_node(
          tv, {"rFactor: a transform joins a reduction axis with one that is none: ",
               expr->to_string()});
    }
  }
  return std::nullopt;
}

/// `axes`: the loop axes at `positions`.
std::optional<Refusal> find_wrong_axes(
    const TensorView* tv, const std::vector<int64_t>& positions, IterDomains& axes) {
  NVF_RETURN_REFUSAL(find_missing_axes(tv, "rFactor"));
  NVF_RETURN_REFUSAL(find_inlining(tv));
  NVF_RETURN_REFUSAL(find_wrong_reductions(tv, positions, axes));
  return find_unmovable_transform(tv);
}

IterDomains axes_at(const TensorView* tv, const std::vector<int64_t>& positions) {
  IterDomains axes;
  check(find_wrong_axes(tv, positions, axes));
  return axes;
}

Refusal refuse_definition(const TensorView* tv) {
  const Expr* definition = tv->definition();
  const bool has_siblings = definition != nullptr && definition->outputs().size() > 1;
  return refuse(
      {.headline =
           {"Error rfactoring ", tv->to_string(), " because its definition is not a reduction."},
       .node = describe(tv),
       .expected = "the result of a reduction",
       .found = definition == nullptr ? "no definition" : definition->op_name(),
       .fix = has_siblings ? "a reduction with several results is factored by rfactor(axes, tvs)"
                           : "factor the tensor that a sum, prod, max or min makes; products of "
                             "matrices are evaluated and have no loops"});
}

struct Factored {
  TensorView* producer;
  TensorDomain* consumer_domain;
};

Factored factor(TensorView* tv, const IterDomains& axes) {
  Factoring factoring(tv, axes);
  TensorView* producer = tv->fusion()->new_tensor(factoring.make_producer(), tv->dtype());
  return {producer, factoring.make_consumer()};
}

} // namespace

std::optional<Refusal> find_wrong_rfactor(const TensorView* tv, const std::vector<int64_t>& axes) {
  if (tv->definition() == nullptr || !tv->definition()->is_a<ReductionOp>()) {
    return refuse_definition(tv);
  }
  IterDomains ids;
  return find_wrong_axes(tv, axes, ids);
}

std::optional<Refusal> find_wrong_rfactor(
    const TensorView* tv, const std::vector<int64_t>& axes, const std::vector<TensorView*>& tvs) {
  if (tvs.size() == 1 && tvs.front() == tv) {
    return find_wrong_rfactor(tv, axes);
  }
  const Expr* definition = tv->definition();
  if (definition == nullptr || definition->is_a<ReductionOp>() ||
      !semantics_of(*definition).has_steps) {
    return refuse_definition(tv);
  }
  const std::vector<Val*>& outputs = definition->outputs();
  const bool is_complete =
      tvs.size() == outputs.size() && std::is_permutation(tvs.begin(), tvs.end(), outputs.begin());
  if (!is_complete) {
    return refuse_node(definition, "rFactor of a reduction with several results needs all of them");
  }
  IterDomains ids;
  return find_wrong_axes(tv, axes, ids);
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::rfactor(const std::vector<int64_t>& axes) {
  using namespace transform;
  check(find_wrong_rfactor(this, axes));
  const SourceLocationScope at_call(current_source_location()); // asked for once
  const auto* reduction = definition()->as<ReductionOp>();
  const Factored parts = factor(this, axes_at(this, axes));
  GraphEffect effect{
      .change = GraphChange::Rfactor,
      .tensors = {this},
      .made = {parts.producer},
      .before = {domain()},
      .axes = axes};
  fusion()->make<ReductionOp>(
      {.out = parts.producer, .arg = reduction->arg, .init = reduction->init, .op = reduction->op});
  assign_domain(parts.consumer_domain);
  fusion()->make<ReductionOp>(
      {.out = this,
       .arg = parts.producer,
       .init = reduction->init,
       .op = reduction->op,
       .allreduce = reduction->allreduce,
       .serial_grid = reduction->serial_grid});
  record_step(steps::Rfactor{.axes = axes}, std::move(effect));
  return parts.producer;
}

std::vector<TensorView*> TensorView::rfactor(
    const std::vector<int64_t>& axes, const std::vector<TensorView*>& tvs) {
  if (tvs.size() == 1 && tvs.front() == this) {
    return {rfactor(axes)};
  }
  using namespace transform;
  check(find_wrong_rfactor(this, axes, tvs));
  const SourceLocationScope at_call(current_source_location()); // asked for once
  Expr* reduction = definition();
  const std::vector<Val*>& outputs = reduction->outputs();
  align_siblings(reduction, this); // from here on nothing fails: what holds for one holds for all

  std::unordered_map<const Val*, Factored> parts;
  for (TensorView* tv : tvs) {
    parts.emplace(tv, factor(tv, axes_at(tv, axes)));
  }
  std::vector<Val*> partials; // in the order of the expression
  for (const Val* output : outputs) {
    partials.push_back(parts.at(output).producer);
  }
  make_like(*reduction, reduction->inputs(), partials);
  GraphEffect effect{
      .change = GraphChange::Rfactor, .tensors = tvs, .made = {}, .before = {}, .axes = axes};
  for (TensorView* tv : tvs) {
    effect.before.push_back(tv->domain());
    effect.made.push_back(parts.at(tv).producer);
    tv->assign_domain(parts.at(tv).consumer_domain);
  }
  std::vector<TensorView*> producers = effect.made;
  for (TensorView* tv : tvs) {
    tv->record_step(steps::Rfactor{.axes = axes, .tvs = tvs}, tv == this ? effect : GraphEffect{});
  }
  make_like(*reduction, partials, std::vector<Val*>(outputs));
  return producers;
}

} // namespace nvfuser
