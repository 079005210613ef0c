// TensorView::reorder: other positions for the same loop axes.
#include <algorithm>
#include <map>

#include "ir/fusion.h"
#include "ir/rules.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

/// New positions by old ones: ordered, so that refusals and recorded steps do not depend on
/// hashing.
using Positions = std::map<int64_t, int64_t>;

/// The positions counted from the first axis.
std::optional<Refusal> find_wrong_positions(
    const TensorView* tv, const std::unordered_map<int64_t, int64_t>& old2new, Positions& wrapped) {
  NVF_RETURN_REFUSAL(find_missing_axes(tv, "reorder"));
  std::vector<bool> is_taken(tv->loop().size(), false);
  for (const auto& [old_axis, new_axis] : Positions(old2new.begin(), old2new.end())) {
    NVF_RETURN_REFUSAL(find_wrong_axis(old_axis, tv->ndims(), tv));
    NVF_RETURN_REFUSAL(find_wrong_axis(new_axis, tv->ndims(), tv));
    const int64_t from = wrap_axis(old_axis, tv->ndims(), tv);
    const int64_t to = wrap_axis(new_axis, tv->ndims(), tv);
    if (!wrapped.emplace(from, to).second) {
      return refuse_node(tv, {"reorder: axis ", from, " is given twice"});
    }
    if (is_taken[static_cast<size_t>(to)]) {
      return refuse_node(tv, {"reorder: position ", to, " is given twice"});
    }
    is_taken[static_cast<size_t>(to)] = true;
  }
  return std::nullopt;
}

/// The axes that are not mentioned fill the gaps in their order.
IterDomains reordered_loop(const TensorView* tv, const Positions& new_position) {
  IterDomains ids(tv->loop().size(), nullptr);
  for (const auto& [from, to] : new_position) {
    ids[static_cast<size_t>(to)] = tv->loop()[static_cast<size_t>(from)];
  }
  size_t gap = 0;
  for (int64_t from = 0; from < tv->ndims(); ++from) {
    if (!new_position.contains(from)) {
      while (ids[gap] != nullptr) {
        ++gap;
      }
      ids[gap] = tv->loop()[static_cast<size_t>(from)];
    }
  }
  return ids;
}

std::optional<Refusal> find_shared_axis_that_moves(const TensorView* tv, const IterDomains& ids) {
  for (int64_t position = 0; position < tv->ndims(); ++position) {
    if (ids[static_cast<size_t>(position)] != tv->axis(position)) {
      NVF_RETURN_REFUSAL(find_shared_axis(tv, position, "reorder"));
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_reorder(
    const TensorView* tv, const std::unordered_map<int64_t, int64_t>& old2new) {
  if (old2new.empty()) {
    return std::nullopt;
  }
  Positions new_position;
  NVF_RETURN_REFUSAL(find_wrong_positions(tv, old2new, new_position));
  return find_shared_axis_that_moves(tv, reordered_loop(tv, new_position));
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::reorder(const std::unordered_map<int64_t, int64_t>& old2new) {
  if (old2new.empty()) {
    return this;
  }
  transform::Positions new_position;
  check(transform::find_wrong_positions(this, old2new, new_position));
  IterDomains ids = transform::reordered_loop(this, new_position);
  check(transform::find_shared_axis_that_moves(this, ids));
  domain()->assign_loop(std::move(ids));
  record_step(steps::Reorder{.old2new = {new_position.begin(), new_position.end()}});
  return this;
}

TensorView* TensorView::reorder(const std::vector<int64_t>& permutation) {
  if (permutation.size() != loop().size()) {
    throw_refusal(refuse_node(
        this, {"reorder: a permutation has one position per axis, but ", permutation.size(),
               " were given for ", loop().size(), " axes"}));
  }
  std::unordered_map<int64_t, int64_t> old2new;
  for (size_t i = 0; i < permutation.size(); ++i) {
    old2new.emplace(static_cast<int64_t>(i), permutation[i]);
  }
  return reorder(old2new);
}

} // namespace nvfuser
