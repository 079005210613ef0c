#include "ir/replay_domain.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/make_like.h"

namespace nvfuser {
namespace {

enum class Mapped { None, Some, All };

Mapped count_mapped(const std::vector<Val*>& ids, const IdMap& map) {
  const auto count = std::count_if(ids.begin(), ids.end(), [&](const Val* id) {
    return map.count(static_cast<const IterDomain*>(id)) != 0;
  });
  return count == 0
             ? Mapped::None
             : (count == static_cast<std::ptrdiff_t>(ids.size()) ? Mapped::All : Mapped::Some);
}

IterDomains mapped(const std::vector<Val*>& ids, const IdMap& map) {
  IterDomains out;
  for (const Val* id : ids) {
    out.push_back(map.at(static_cast<const IterDomain*>(id)));
  }
  return out;
}

void replay_forward(const Expr* expr, IdMap& map) {
  const IterDomains outputs = replay_id_expr(expr, mapped(expr->inputs(), map));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto* original = static_cast<const IterDomain*>(expr->outputs()[i]);
    copy_binding(original, outputs[i]);
    map[original] = outputs[i];
  }
}

/// The same transform with given results; its inputs are made for it.
void replay_backward(const Expr* expr, IdMap& map) {
  IterDomains inputs;
  for (const Val* input : expr->inputs()) {
    const auto* original = static_cast<const IterDomain*>(input);
    IterDomain* copy = copy_id(original);
    copy_binding(original, copy);
    map[original] = copy;
    inputs.push_back(copy);
  }
  make_like(expr, inputs, mapped(expr->outputs(), map));
}

/// The transforms between the logical axes of a tensor and `targets`; not the producer's own,
/// between root and logical.
std::vector<Expr*> exprs_around_logical(const TensorDomain* domain, const IterDomains& targets) {
  std::vector<Expr*> exprs = exprs_between(targets, domain->logical());
  const std::vector<Expr*> downstream = exprs_between(domain->logical(), targets);
  exprs.insert(exprs.end(), downstream.begin(), downstream.end());
  return exprs;
}

/// The logical axes of `tv` stand for those of `like` in order, reductions of both left out.
IdMap logical_map(const TensorView* tv, const TensorDomain* like) {
  const IterDomains from = TensorDomain::no_reductions(like->logical());
  const IterDomains to = TensorDomain::no_reductions(tv->logical());
  NVF_INVARIANT(from.size() == to.size(), "both tensors have the same axes");
  IdMap map;
  for (size_t i = 0; i < from.size(); ++i) {
    map[from[i]] = to[i];
  }
  return map;
}

void replay_allocation(
    TensorDomain* domain, const TensorDomain* like, const IdMap& map, ReplayContiguity contiguity) {
  IterDomains allocation;
  Contiguity flags;
  for (size_t i = 0; i < like->allocation().size(); ++i) {
    if (const auto found = map.find(like->allocation()[i]); found != map.end()) {
      allocation.push_back(found->second);
      flags.push_back(like->contiguity()[i]);
    }
  }
  const Contiguity all_true = TensorDomain::contiguity_filled_with(allocation, true);
  for (size_t i = 0; i < flags.size(); ++i) {
    const bool is_same_kind = flags[i].has_value() == all_true[i].has_value();
    if (contiguity == ReplayContiguity::AllTrue || !is_same_kind) { // only one is a broadcast
      flags[i] = all_true[i];
    }
  }
  domain->assign_allocation(std::move(allocation), std::move(flags));
}

/// Both lie as their logical axes say. Reductions of `like` have no flag in `domain`; those of
/// `domain` none in `like`.
void copy_logical_contiguity(TensorDomain* domain, const TensorDomain* like) {
  const IterDomains& logical = domain->logical();
  Contiguity flags = TensorDomain::contiguity_filled_with(logical, true);
  size_t position = 0; // in `like`
  for (size_t i = 0; i < logical.size(); ++i) {
    if (logical[i]->is_reduction()) {
      continue;
    }
    while (like->logical()[position]->is_reduction()) {
      ++position;
    }
    if (flags[i].has_value() && like->contiguity()[position].has_value()) {
      flags[i] = like->contiguity()[position];
    }
    ++position;
  }
  domain->assign_allocation({}, std::move(flags));
}

IterDomains loops_like(const TensorDomain* domain, const TensorDomain* like, const IdMap& map) {
  if (like->loop() == like->logical()) { // nothing is scheduled: reductions stay where they are
    return domain->logical();
  }
  IterDomains loop;
  for (const IterDomain* id : like->loop()) {
    if (const auto found = map.find(id); found != map.end()) {
      loop.push_back(found->second);
    } else if (!id->is_reduction()) { // not made from the logical axes: a loop of a scatter
      loop = TensorDomain::no_reductions(domain->logical());
      break;
    }
  }
  std::copy_if(
      domain->logical().begin(), domain->logical().end(), std::back_inserter(loop),
      [](const IterDomain* id) { return id->is_reduction(); });
  return loop;
}

} // namespace

void copy_binding(const IterDomain* from, IterDomain* to) {
  if (from->parallel_type() != to->parallel_type()) {
    to->parallelize(from->parallel_type());
  }
  if (from->has_padding_to_multiple_of_warp()) {
    to->pad_to_multiple_of_warp(from->maybe_size_after_padding());
  }
  if (from->is_clustered_grid_dim()) {
    to->set_clustered_blocks();
  }
}

Expr* make_like(const Expr* expr, const IterDomains& inputs, const IterDomains& outputs) {
  return make_like(
      *expr, std::vector<Val*>(inputs.begin(), inputs.end()),
      std::vector<Val*>(outputs.begin(), outputs.end()));
}

IterDomain* copy_id(const IterDomain* id) {
  IterDomainSpec spec = id->spec();
  spec.parallel_type = ParallelType::Serial;
  spec.is_rfactor = false;
  spec.is_padded = false;
  spec.padded_to_size.reset();
  spec.is_clustered = false;
  return id->fusion()->new_iter_domain(spec);
}

void replay_exprs(const std::vector<Expr*>& exprs, IdMap& map) {
  const auto is_new = [&](const std::vector<Val*>& ids) {
    return count_mapped(ids, map) == Mapped::None;
  };
  const auto is_known = [&](const std::vector<Val*>& ids) {
    return count_mapped(ids, map) == Mapped::All;
  };
  // A path may turn round: repeat until neither direction finds anything.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Expr* expr : exprs) {
      if (is_known(expr->inputs()) && is_new(expr->outputs())) {
        replay_forward(expr, map);
        has_changed = true;
      }
    }
    for (auto expr = exprs.rbegin(); expr != exprs.rend(); ++expr) {
      if (is_known((*expr)->outputs()) && is_new((*expr)->inputs())) {
        replay_backward(*expr, map);
        has_changed = true;
      }
    }
  }
}

void replay_domain_on(TensorView* tv, const TensorDomain* like, ReplayContiguity contiguity) {
  IdMap map = logical_map(tv, like);
  IterDomains targets = like->loop();
  targets.insert(targets.end(), like->allocation().begin(), like->allocation().end());
  replay_exprs(exprs_around_logical(like, targets), map);
  for (const IterDomain* id : TensorDomain::no_reductions(like->logical())) {
    copy_binding(id, map.at(id));
  }
  if (like->has_allocation()) {
    replay_allocation(tv->domain(), like, map, contiguity);
  } else if (contiguity == ReplayContiguity::Copied) {
    copy_logical_contiguity(tv->domain(), like);
  }
  // The loops of a scatter run over what it is given, which are no axes of `like`.
  if (tv->definition() == nullptr || !tv->definition()->is_a<ScatterOp>()) {
    tv->domain()->assign_loop(loops_like(tv->domain(), like, map));
  }
}

void replay_layout_on_updates(const TensorView* input) {
  const TensorDomain* like = input->domain();
  for (const TensorView* output : input->fusion()->updates_of(input)) {
    if (!like->has_allocation()) {
      copy_logical_contiguity(output->domain(), like);
      continue;
    }
    IdMap map = logical_map(output, like);
    replay_exprs(exprs_around_logical(like, like->allocation()), map);
    replay_allocation(output->domain(), like, map, ReplayContiguity::Copied);
  }
}

} // namespace nvfuser
