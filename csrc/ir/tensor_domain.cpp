#include "ir/tensor_domain.h"

#include <algorithm>
#include <unordered_set>

#include "base/pointer_set.h"
#include "ir/all_nodes.h"
#include "ir/rules.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

bool has_stride(const IterDomain* id) {
  return !id->is_broadcast() && !id->is_reduction();
}

std::vector<Val*> as_vals(const IterDomains& ids) {
  return {ids.begin(), ids.end()};
}

template <typename Predicate>
bool any(const IterDomains& ids, const Predicate& predicate) {
  return std::any_of(ids.begin(), ids.end(), predicate);
}

bool contains(const IterDomains& ids, const IterDomain* id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

template <typename Predicate>
IterDomains all_but(const IterDomains& ids, const Predicate& is_dropped) {
  IterDomains kept = ids;
  std::erase_if(kept, is_dropped);
  return kept;
}

int64_t position_in(const IterDomains& ids, const IterDomain* id, const char* domain) {
  const auto found = std::find(ids.begin(), ids.end(), id);
  if (found == ids.end()) {
    std::string axes;
    for (const IterDomain* axis : ids) {
      axes += (axes.empty() ? "" : ", ") + axis->to_string();
    }
    throw UserError(
        {.headline = {id->to_string(), " is not an axis of the ", domain, " domain of the tensor"},
         .node = describe(id),
         .expected = {"one of ", axes},
         .found = {id->to_string()},
         .fix = "print the tensor's domain to see its axes"});
  }
  return found - ids.begin();
}

} // namespace

std::optional<Refusal> find_wrong_contiguity(
    const IterDomains& allocation, const Contiguity& contiguity) {
  if (contiguity.size() != allocation.size()) {
    return refuse(
        {.headline =
             {"Length of contiguity argument (", contiguity.size(),
              ") must match that of shape argument (", allocation.size(), ")"},
         .node = Part::none(),
         .expected = Part::none(),
         .found = Part::none(),
         .fix = Part::none()});
  }
  for (size_t i = 0; i < allocation.size(); ++i) {
    // A symbolic axis may turn out to be a broadcast: both are right.
    if (contiguity[i].has_value() == has_stride(allocation[i]) ||
        allocation[i]->is_symbolic_axis()) {
      continue;
    }
    return refuse(
        {.headline = "The contiguity of a broadcast/reduction dimension must be None. The "
                     "contiguity of a non-broadcast/reduction dimension must be true/false.",
         .node = describe(allocation[i]),
         .expected = {has_stride(allocation[i]) ? "True or False" : "None", " for dimension ", i},
         .found = {contiguity[i].has_value() ? (*contiguity[i] ? "True" : "False") : "None"},
         .fix = "contiguity has one entry per dimension, outermost stride first"});
  }
  return std::nullopt;
}

void check_contiguity(const IterDomains& allocation, const Contiguity& contiguity) {
  check(find_wrong_contiguity(allocation, contiguity));
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
  if (spec_.initial_loop.empty()) {
    spec_.initial_loop = spec_.loop;
  }
}

// ---- Questions ----------------------------------------------------------------------------------

bool TensorDomain::has_reduction() const {
  return any(loop(), [](const IterDomain* id) { return id->is_reduction(); });
}

bool TensorDomain::has_broadcast() const {
  return any(loop(), [](const IterDomain* id) { return id->is_broadcast(); });
}

bool TensorDomain::has_block_reduction() const {
  return any(loop(), [](const IterDomain* id) { return id->is_reduction() && id->is_block_dim(); });
}

bool TensorDomain::has_grid_reduction() const {
  return any(loop(), [](const IterDomain* id) { return id->is_reduction() && id->is_grid_dim(); });
}

bool TensorDomain::has_cluster_reduction() const {
  return any(loop(), [](const IterDomain* id) {
    return id->is_reduction() && id->is_clustered_grid_dim();
  });
}

bool TensorDomain::has_block_broadcast() const {
  return any(loop(), [](const IterDomain* id) { return id->is_broadcast() && id->is_block_dim(); });
}

bool TensorDomain::has_grid_broadcast() const {
  return any(loop(), [](const IterDomain* id) { return id->is_broadcast() && id->is_grid_dim(); });
}

bool TensorDomain::has_vectorize() const {
  return any(
      loop(), [](const IterDomain* id) { return id->parallel_type() == ParallelType::Vectorize; });
}

std::optional<int64_t> TensorDomain::reduction_axis() const {
  const auto found = std::find_if(
      loop().begin(), loop().end(), [](const IterDomain* id) { return id->is_reduction(); });
  return found == loop().end() ? std::nullopt : std::optional<int64_t>(found - loop().begin());
}

IterDomain* TensorDomain::axis(int64_t position) const {
  return loop()[static_cast<size_t>(wrap_axis(position, ndims(), this))];
}

int64_t TensorDomain::pos_of(const IterDomain* id) const {
  return position_in(loop(), id, "loop");
}

int64_t TensorDomain::root_pos_of(const IterDomain* id) const {
  return position_in(maybe_root(), id, "root");
}

bool TensorDomain::has_symbolic_axis() const {
  return any(logical(), [](const IterDomain* id) { return id->is_symbolic_axis(); });
}

bool TensorDomain::has_view_like_rfactor() const {
  return has_root() && !any(logical(), [](const IterDomain* id) {
           return id->is_rfactor_product() && (id->is_reduction() || id->is_stride());
         });
}

bool TensorDomain::is_root(const IterDomain* id) const {
  return contains(maybe_root(), id);
}

bool TensorDomain::is_logical(const IterDomain* id) const {
  return contains(logical(), id);
}

bool TensorDomain::is_allocation(const IterDomain* id) const {
  return contains(maybe_allocation(), id);
}

bool TensorDomain::is_loop(const IterDomain* id) const {
  return contains(loop(), id);
}

std::vector<int64_t> TensorDomain::stride_order() const {
  std::vector<int64_t> order;
  if (!has_allocation()) {
    return order;
  }
  for (const IterDomain* id : logical()) {
    if (id->is_reduction() && !is_allocation(id)) {
      continue; // what was reduced has no place in memory
    }
    const int64_t position = position_in(allocation(), id, "allocation");
    order.push_back(static_cast<int64_t>(allocation().size()) - 1 - position);
  }
  return order;
}

// ---- Statements ---------------------------------------------------------------------------------

std::vector<Expr*> TensorDomain::all_exprs() const {
  std::vector<Val*> ends;
  ends.reserve(
      spec_.root.size() + spec_.logical.size() + spec_.allocation.size() + spec_.loop.size() +
      spec_.initial_loop.size());
  for (const IterDomains* ids :
       {&spec_.root, &spec_.logical, &spec_.allocation, &spec_.loop, &spec_.initial_loop}) {
    ends.insert(ends.end(), ids->begin(), ids->end());
  }
  return sorted_definitions(ends);
}

IterDomains TensorDomain::all_ids() const {
  const std::vector<Expr*> exprs = all_exprs();
  IterDomains found;
  found.reserve(2 * exprs.size() + spec_.loop.size()); // most transforms make two axes of one
  PointerSet<Val> visited;
  const auto add = [&](Val* id) {
    if (visited.insert(id)) {
      found.push_back(static_cast<IterDomain*>(id));
    }
  };
  for (const IterDomains* ids :
       {&spec_.root, &spec_.logical, &spec_.allocation, &spec_.loop, &spec_.initial_loop}) {
    std::for_each(ids->begin(), ids->end(), add);
  }
  for (const Expr* expr : exprs) {
    std::for_each(expr->inputs().begin(), expr->inputs().end(), add);
    std::for_each(expr->outputs().begin(), expr->outputs().end(), add);
  }
  std::sort(found.begin(), found.end(), [](const IterDomain* a, const IterDomain* b) {
    return a->serial() < b->serial();
  });
  return found;
}

IterDomains TensorDomain::no_reductions(const IterDomains& ids) {
  return all_but(ids, [](const IterDomain* id) { return id->is_reduction(); });
}

IterDomains TensorDomain::no_broadcasts(const IterDomains& ids) {
  return all_but(ids, [](const IterDomain* id) { return id->is_broadcast(); });
}

IterDomains TensorDomain::no_devices(const IterDomains& ids) {
  return all_but(ids, [](const IterDomain* id) { return id->is_device_dim(); });
}

Contiguity TensorDomain::contiguity_filled_with(const IterDomains& ids, bool flag) {
  Contiguity contiguity;
  for (const IterDomain* id : ids) {
    contiguity.push_back(has_stride(id) ? std::optional<bool>(flag) : std::nullopt);
  }
  return contiguity;
}

std::vector<Expr*> exprs_between(const IterDomains& from, const IterDomains& to) {
  if (from == to) {
    return {}; // as the root and the logical domain of most tensors
  }
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
