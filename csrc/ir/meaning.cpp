#include "ir/meaning.h"

#include <algorithm>
#include <unordered_set>

#include "ir/iter_domain.h"

namespace nvfuser {
namespace {

using IdSet = std::unordered_set<const IterDomain*>;

IdSet set_of(const IterDomains& ids) {
  return {ids.begin(), ids.end()};
}

} // namespace

const IterDomains& first_loop(const TensorDomain& domain) {
  const IterDomains& initial = domain.initial_loop();
  if (initial == domain.logical()) {
    return initial;
  }
  const IdSet axes = set_of(initial);
  const IdSet logical = set_of(domain.logical());
  const IdSet root = set_of(domain.root());
  const bool is_foreign = std::ranges::any_of(
      initial, [&](const IterDomain* id) { return !logical.contains(id) && !root.contains(id); });
  const bool is_made = std::ranges::any_of(
      initial, [](const IterDomain* id) { return id->definition() != nullptr; });
  const bool has_all_logical = std::ranges::all_of(
      domain.logical(), [&](const IterDomain* id) { return axes.contains(id); });
  return is_foreign && !is_made && !has_all_logical ? initial : domain.logical();
}

TensorDomainSpec meaning_of(const TensorDomain& domain) {
  TensorDomainSpec spec = domain.spec();
  const IterDomains& first = first_loop(domain);
  spec.initial_loop = first == domain.logical() ? IterDomains{} : first;
  return spec;
}

} // namespace nvfuser
