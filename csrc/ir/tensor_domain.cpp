#include "ir/tensor_domain.h"

#include <algorithm>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

bool has_stride(const IterDomain* id) {
  return !id->is_broadcast() && !id->is_reduction();
}

std::vector<Val*> as_vals(const IterDomains& ids) {
  return {ids.begin(), ids.end()};
}

} // namespace

void check_contiguity(const IterDomains& allocation, const Contiguity& contiguity) {
  NVF_USER_CHECK(
      contiguity.size() == allocation.size(), "Length of contiguity argument (", contiguity.size(),
      ") must match that of shape argument (", allocation.size(), ")");
  for (size_t i = 0; i < allocation.size(); ++i) {
    // A symbolic axis may turn out to be a broadcast: both are right.
    if (contiguity[i].has_value() == has_stride(allocation[i]) ||
        allocation[i]->is_symbolic_axis()) {
      continue;
    }
    throw UserError(
        {.headline = "The contiguity of a broadcast/reduction dimension must be None. The "
                     "contiguity of a non-broadcast/reduction dimension must be true/false.",
         .node = describe(allocation[i]),
         .expected = {has_stride(allocation[i]) ? "True or False" : "None", " for dimension ", i},
         .found = {contiguity[i].has_value() ? (*contiguity[i] ? "True" : "False") : "None"},
         .fix = "contiguity has one entry per dimension, outermost stride first"});
  }
}

TensorDomain::TensorDomain(TensorDomainSpec spec)
    : Val(ValType::TensorDomain, DataType::Null), spec_(std::move(spec)) {
  if (spec_.root == spec_.logical) {
    spec_.root.clear();
  }
  if (spec_.loop.empty()) {
    spec_.loop = spec_.logical;
  }
  if (spec_.contiguity.empty()) {
    spec_.contiguity = contiguity_filled_with(maybe_allocation(), true);
  }
  check_contiguity(maybe_allocation(), spec_.contiguity);
  initial_loop_ = spec_.loop;
}

std::vector<Expr*> TensorDomain::all_exprs() const {
  std::vector<Val*> ends;
  for (const IterDomains* ids :
       {&spec_.root, &spec_.logical, &spec_.allocation, &spec_.loop, &initial_loop_}) {
    ends.insert(ends.end(), ids->begin(), ids->end());
  }
  return sorted_definitions(ends);
}

IterDomains TensorDomain::all_ids() const {
  IterDomains found;
  std::unordered_set<const Val*> visited;
  const auto add = [&](Val* id) {
    if (visited.insert(id).second) {
      found.push_back(static_cast<IterDomain*>(id));
    }
  };
  for (const IterDomains* ids :
       {&spec_.root, &spec_.logical, &spec_.allocation, &spec_.loop, &initial_loop_}) {
    std::for_each(ids->begin(), ids->end(), add);
  }
  for (const Expr* expr : all_exprs()) {
    std::for_each(expr->inputs().begin(), expr->inputs().end(), add);
    std::for_each(expr->outputs().begin(), expr->outputs().end(), add);
  }
  std::sort(found.begin(), found.end(), [](const IterDomain* a, const IterDomain* b) {
    return a->serial() < b->serial();
  });
  return found;
}

IterDomains TensorDomain::no_reductions(const IterDomains& ids) {
  IterDomains kept;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(kept), [](const IterDomain* id) {
    return !id->is_reduction();
  });
  return kept;
}

IterDomains TensorDomain::no_broadcasts(const IterDomains& ids) {
  IterDomains kept;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(kept), [](const IterDomain* id) {
    return !id->is_broadcast();
  });
  return kept;
}

Contiguity TensorDomain::contiguity_filled_with(const IterDomains& ids, bool flag) {
  Contiguity contiguity;
  for (const IterDomain* id : ids) {
    contiguity.push_back(has_stride(id) ? std::optional<bool>(flag) : std::nullopt);
  }
  return contiguity;
}

std::vector<Expr*> exprs_between(const IterDomains& from, const IterDomains& to) {
  const std::unordered_set<const Val*> start(from.begin(), from.end());
  std::unordered_set<const Val*> derived = start;
  std::vector<Expr*> path;
  for (Expr* expr : sorted_definitions(as_vals(to), start)) {
    const bool is_derived = std::any_of(
        expr->inputs().begin(), expr->inputs().end(),
        [&](const Val* input) { return derived.count(input) != 0; });
    if (is_derived) {
      path.push_back(expr);
      derived.insert(expr->outputs().begin(), expr->outputs().end());
    }
  }
  return path;
}

} // namespace nvfuser
