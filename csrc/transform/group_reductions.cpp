#include "transform/group_reductions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/id_model.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/rules.h"
#include "transform/inline_limits.h"
#include "transform/inline_positions.h"

namespace nvfuser::transform {
namespace {

Refusal refuse_member(const TensorView* tv, Part headline, Part expected, Part found) {
  return refuse_node(
      tv, std::move(headline), std::move(expected), std::move(found),
      "group reductions with equal axes and schedules, or leave this one alone");
}

/// The reductions that make `tvs`, into `members`.
std::optional<Refusal> find_wrong_member(
    const std::vector<TensorView*>& tvs, std::vector<const ReductionOp*>& members) {
  for (const TensorView* tv : tvs) {
    tvs.front()->fusion()->check_contains(tv);
    const Expr* definition = tv->definition();
    const auto* reduction = definition == nullptr ? nullptr : definition->as<ReductionOp>();
    if (reduction == nullptr) {
      return refuse_member(
          tv, {"Only reductions can be grouped"}, {"the result of a ReductionOp"},
          {definition == nullptr ? "no definition" : definition->op_name()});
    }
    if (reduction->serial_grid) {
      return refuse_member(
          tv, {"A serial grid reduction cannot be grouped"},
          {"reductions whose blocks do not take turns"}, {"request_serial_grid_reduction()"});
    }
    if (std::find(members.begin(), members.end(), reduction) != members.end()) {
      return refuse_node(tv, {"group_reductions: ", describe(tv), " is given twice"});
    }
    members.push_back(reduction);
  }
  return std::nullopt;
}

/// Whether the domains of two tensors correspond: the same axes in the same places, made by the
/// same transforms.
class DomainComparison {
 public:
  DomainComparison(const TensorView* a, const TensorView* b) : a_(*a->domain()), b_(*b->domain()) {}

  /// Nothing, or what differs. `are_equal(id, other)`: whether two axes are one by the math.
  template <typename AreEqual>
  [[nodiscard]] std::optional<Part> difference(const AreEqual& are_equal) {
    if (a_.maybe_root().size() != b_.maybe_root().size()) {
      return Part("another number of axes");
    }
    for (size_t i = 0; i < a_.maybe_root().size(); ++i) {
      const IterDomain* id = a_.maybe_root()[i];
      IterDomain* other = b_.maybe_root()[i];
      if (id->iter_type() != other->iter_type()) {
        return Part(other->to_string(), " beside ", id->to_string());
      }
      if (!id->extent()->same_as(other->extent()) && !are_equal(id, other)) {
        return Part(other->to_string(), " and ", id->to_string(), ", which may differ in size");
      }
      partner_[id] = other;
    }
    if (!match_transforms()) {
      return Part("other transforms");
    }
    for (const auto& [ids, others] :
         {std::pair(&a_.logical(), &b_.logical()), std::pair(&a_.loop(), &b_.loop())}) {
      if (ids->size() != others->size()) {
        return Part("another number of axes");
      }
      for (size_t i = 0; i < ids->size(); ++i) {
        const IterDomain* other = (*others)[i];
        if (partner_.count((*ids)[i]) == 0 || partner_.at((*ids)[i]) != other) {
          return Part("axes in another order");
        }
        if ((*ids)[i]->parallel_type() != other->parallel_type()) {
          return Part(other->to_string(), " beside ", (*ids)[i]->to_string());
        }
      }
    }
    return std::nullopt;
  }

 private:
  bool match_transforms() {
    std::vector<Expr*> others = b_.all_exprs();
    for (const Expr* expr : a_.all_exprs()) {
      const auto is_same = [&](const Expr* other) {
        return expr->same_op(other) &&
               std::equal(
                   expr->inputs().begin(), expr->inputs().end(), other->inputs().begin(),
                   [&](const Val* in, const Val* other_in) {
                     return partner_.count(in) != 0 && partner_.at(in) == other_in;
                   });
      };
      const auto other = std::find_if(others.begin(), others.end(), is_same);
      if (other == others.end()) {
        return false;
      }
      for (size_t i = 0; i < expr->outputs().size(); ++i) {
        partner_[expr->outputs()[i]] = (*other)->outputs()[i];
      }
      others.erase(other);
    }
    return others.empty();
  }

  const TensorDomain& a_;
  const TensorDomain& b_;
  std::unordered_map<const Val*, const Val*> partner_; // axis of a: axis of b
};

std::optional<Refusal> find_unlike_member(const std::vector<TensorView*>& tvs) {
  std::shared_ptr<IdModel> model; // asked for where extents are not the same
  const auto are_equal = [&](const IterDomain* id, const IterDomain* other) {
    if (model == nullptr) {
      model = shared_id_model(*tvs.front()->fusion());
    }
    return model->maybe_build_graph(IdMappingMode::exact).are_mapped(id, other);
  };
  const TensorView* first = tvs.front();
  for (const TensorView* tv : tvs) {
    if (const auto found = DomainComparison(first, tv).difference(are_equal)) {
      return refuse_member(
          tv, {"Reductions that are not alike cannot be grouped"},
          {"the axes and transforms of ", describe(first)}, *found);
    }
    if (tv->compute_at_position() != first->compute_at_position() ||
        tv->compute_with_position() != first->compute_with_position()) {
      return refuse_member(
          tv, {"Reductions that are not alike cannot be grouped"},
          {"the compute at position of ", describe(first)},
          {"computePosition = ", tv->compute_at_position()});
    }
  }
  return std::nullopt;
}

/// No member may need the result of another.
std::optional<Refusal> find_dependent_member(
    const std::vector<TensorView*>& tvs, const std::vector<const ReductionOp*>& members) {
  const std::unordered_set<const Val*> results(tvs.begin(), tvs.end());
  for (const ReductionOp* member : members) {
    std::vector<const Val*> stack{member->arg};
    std::unordered_set<const Val*> visited;
    while (!stack.empty()) {
      const Val* val = stack.back();
      stack.pop_back();
      if (!visited.insert(val).second) {
        continue;
      }
      if (results.count(val) != 0) {
        return refuse_member(
            static_cast<const TensorView*>(member->out),
            {"Reductions that depend on each other cannot be grouped"}, {"independent reductions"},
            {"an operand that depends on ", describe(val)});
      }
      if (const Expr* definition = val->definition()) {
        stack.insert(stack.end(), definition->inputs().begin(), definition->inputs().end());
      }
    }
  }
  return std::nullopt;
}

/// One expression for all of `tvs`, whose definitions it replaces.
void make_group(const std::vector<TensorView*>& tvs) {
  std::vector<Val*> args;
  std::vector<Val*> inits;
  std::vector<BinaryOpType> ops;
  for (const TensorView* tv : tvs) {
    const auto* member = tv->definition()->as<ReductionOp>();
    args.push_back(member->arg);
    inits.push_back(member->init);
    ops.push_back(member->op);
  }
  tvs.front()->fusion()->make<GroupedReductionOp>(
      {.outs = std::vector<Val*>(tvs.begin(), tvs.end()),
       .args = args,
       .inits = inits,
       .ops = ops});
}

/// The deepest legal positions that tensors may be inlined at.
InlineLimits::Positions legal_positions(Fusion& fusion) {
  InlineLimits::Positions positions;
  std::unordered_set<const TensorView*> inlined;
  for (const TensorView* tensor : fusion.tensors()) {
    if (tensor->compute_at_position() > 0) {
      positions[tensor] = tensor->compute_at_position();
      inlined.insert(tensor);
    }
  }
  if (!inlined.empty()) {
    InlineLimits(fusion).lower(positions, inlined);
  }
  return positions;
}

/// Results that are made together are needed together: what shares a loop with one member and with
/// a tensor that depends on another no longer can. Found out in a copy.
std::optional<Refusal> find_deeper_inlined(const std::vector<TensorView*>& tvs) {
  Fusion& fusion = *tvs.front()->fusion();
  const InlineLimits::Positions before = legal_positions(fusion);
  if (before.empty()) {
    return std::nullopt;
  }
  const std::shared_ptr<Fusion> copy = Fusion::create();
  Cloner cloner = copy->copy_from(fusion);
  make_group(cloner(tvs));
  const InlineLimits::Positions after = legal_positions(*copy);
  for (TensorView* tensor : fusion.tensors()) {
    const int64_t position = InlineLimits::position_of(before, tensor);
    const int64_t limit = InlineLimits::position_of(after, cloner(tensor));
    if (limit < position) {
      return refuse({
          .headline = {"A tensor is inlined deeper than a group of reductions allows"},
          .node = describe(tensor),
          .expected = {"a compute at position of at most ", limit},
          .found = {position},
          .fix = {"group the reductions first, then inline"},
      });
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_group(const std::vector<TensorView*>& tvs) {
  NVF_USER_CHECK(!tvs.empty(), "group_reductions: no tensors are given");
  std::vector<const ReductionOp*> members;
  NVF_RETURN_REFUSAL(find_wrong_member(tvs, members));
  NVF_RETURN_REFUSAL(find_dependent_member(tvs, members));
  NVF_RETURN_REFUSAL(find_unlike_member(tvs));
  return find_deeper_inlined(tvs);
}

void group_reductions(const std::vector<TensorView*>& tvs) {
  check(find_wrong_group(tvs));
  make_group(tvs);
  Alignments alignments;
  update_produce_positions(tvs.front(), alignments); // those of all
  for (TensorView* tv : tvs) {
    const GraphEffect effect{
        .change = GraphChange::GroupReductions,
        .tensors = tvs,
        .made = {},
        .before = {},
        .axes = {}};
    tv->record_step(steps::GroupReductions{.tvs = tvs}, tv == tvs.front() ? effect : GraphEffect{});
  }
}

} // namespace nvfuser::transform
