// TensorView::reorder: other positions for the same loop axes.
#include <algorithm>
#include <map>

#include "base/errors.h"
#include "ir/fusion.h"
#include "ir/node_check.h"
#include "transform/axis_checks.h"

namespace nvfuser {

TensorView* TensorView::reorder(const std::unordered_map<int64_t, int64_t>& old2new) {
  if (old2new.empty()) {
    return this;
  }
  check_has_axes(this, "reorder");
  std::map<int64_t, int64_t> new_position; // by old position
  std::vector<bool> is_taken(loop().size(), false);
  // Ordered by old position, so that errors and recorded steps do not depend on hashing.
  for (const auto& [old_axis, new_axis] :
       std::map<int64_t, int64_t>(old2new.begin(), old2new.end())) {
    const int64_t from = wrap_axis(old_axis, ndims(), this);
    const int64_t to = wrap_axis(new_axis, ndims(), this);
    NVF_NODE_CHECK(
        new_position.emplace(from, to).second, this, "reorder: axis ", from, " is given twice");
    NVF_NODE_CHECK(
        !is_taken[static_cast<size_t>(to)], this, "reorder: position ", to, " is given twice");
    is_taken[static_cast<size_t>(to)] = true;
  }

  // The axes that are not mentioned fill the gaps in their order.
  IterDomains ids(loop().size(), nullptr);
  for (const auto& [from, to] : new_position) {
    ids[static_cast<size_t>(to)] = loop()[static_cast<size_t>(from)];
  }
  size_t gap = 0;
  for (int64_t from = 0; from < ndims(); ++from) {
    if (new_position.count(from) == 0) {
      while (ids[gap] != nullptr) {
        ++gap;
      }
      ids[gap] = loop()[static_cast<size_t>(from)];
    }
  }
  for (int64_t position = 0; position < ndims(); ++position) {
    if (ids[static_cast<size_t>(position)] != axis(position)) {
      static_cast<void>(check_free_axis(this, position, "reorder"));
    }
  }

  domain()->assign_loop(std::move(ids));
  record_step(steps::Reorder{.old2new = {new_position.begin(), new_position.end()}});
  return this;
}

TensorView* TensorView::reorder(const std::vector<int64_t>& permutation) {
  NVF_NODE_CHECK(
      permutation.size() == loop().size(), this,
      "reorder: a permutation has one position per axis, but ", permutation.size(),
      " were given for ", loop().size(), " axes");
  std::unordered_map<int64_t, int64_t> old2new;
  for (size_t i = 0; i < permutation.size(); ++i) {
    old2new.emplace(static_cast<int64_t>(i), permutation[i]);
  }
  return reorder(old2new);
}

} // namespace nvfuser
