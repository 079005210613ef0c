#include "schedule/summary/vector_runs.h"

#include <algorithm>
#include <unordered_set>

#include "ir/domain_exprs.h"

namespace nvfuser::schedule {
namespace {

class RunSearch {
 public:
  RunSearch(const ValGraph& exact, const TensorView* tensor)
      : exact_(exact), tensor_(tensor), memory_(memory_axes(tensor)) {}

  [[nodiscard]] VectorRun find(IterDomains inner) {
    while (!inner.empty()) {
      if (set_contiguous_run(leaves_of(inner))) {
        add_multiple(inner);
        return run_;
      }
      if (inner.size() == 1) {
        return climb(inner.front());
      }
      inner.erase(inner.begin());
    }
    return {};
  }

 private:
  /// From the innermost axis to one that addresses memory, through reshapes.
  VectorRun climb(IterDomain* current) {
    std::unordered_set<int64_t> climbed; // a reshape that is undone leads back
    while (climbed.insert(exact_.group(current)).second) {
      add_multiple({current});
      if (set_contiguous_run(leaves_of({current}))) {
        return run_;
      }
      const std::vector<Expr*>& made_by = exact_.definitions(exact_.group(current));
      if (made_by.empty()) {
        return {};
      }
      if (const auto* merge = made_by.front()->as<Merge>()) {
        current = merge->inner;
      } else if (
          const auto* split = made_by.front()->as<Split>();
          split != nullptr && exact_.are_mapped(split->inner, current)) {
        current = split->in;
      } else {
        return {};
      }
    }
    return {};
  }

  /// The axes that reshapes merged to get `axes`: down to those that address memory.
  [[nodiscard]] IterDomains leaves_of(const IterDomains& axes) const {
    IterDomains leaves;
    std::unordered_set<int64_t> opened;
    IterDomains pending(axes.rbegin(), axes.rend());
    while (!pending.empty()) {
      IterDomain* axis = pending.back();
      pending.pop_back();
      const Merge* merge = position_of(axis) >= 0 ? nullptr : merge_of(axis);
      if (merge == nullptr || !opened.insert(exact_.group(axis)).second) {
        leaves.push_back(axis);
      } else {
        pending.push_back(merge->inner);
        pending.push_back(merge->outer);
      }
    }
    return leaves;
  }

  [[nodiscard]] const Merge* merge_of(const IterDomain* axis) const {
    const std::vector<Expr*>& made_by = exact_.definitions(exact_.group(axis));
    return made_by.empty() ? nullptr : made_by.front()->as<Merge>();
  }

  /// Whether `leaves` are neighbours in memory that end at its innermost axis.
  bool set_contiguous_run(const IterDomains& leaves) {
    std::vector<int64_t> run;
    int64_t expected = previous_concrete(static_cast<int64_t>(memory_.size()));
    for (size_t i = leaves.size(); i-- > 0;) {
      if (leaves[i]->is_broadcast() && leaves[i]->extent()->is_one()) {
        continue;
      }
      if (expected < 0 || position_of(leaves[i]) != expected || !is_contiguous(expected)) {
        return false;
      }
      run.push_back(expected);
      expected = previous_concrete(expected);
    }
    if (run.empty()) {
      return false;
    }
    std::ranges::reverse(run);
    run_.exists = true;
    run_.memory_axes = std::move(run);
    return true;
  }

  [[nodiscard]] int64_t previous_concrete(int64_t position) const {
    do {
      --position;
    } while (position >= 0 && memory_[static_cast<size_t>(position)]->is_broadcast());
    return position;
  }

  [[nodiscard]] int64_t position_of(const IterDomain* axis) const {
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (exact_.are_mapped(memory_[i], axis)) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

  [[nodiscard]] bool is_contiguous(int64_t position) const {
    const IterDomains& allocation = tensor_->maybe_allocation();
    const auto found = std::ranges::find(allocation, memory_[static_cast<size_t>(position)]);
    return tensor_->domain()
        ->contiguity()[static_cast<size_t>(found - allocation.begin())]
        .value_or(false);
  }

  void add_multiple(const IterDomains& axes) {
    std::vector<const Val*>& extents = run_.multiples.emplace_back();
    for (const IterDomain* axis : axes) {
      extents.push_back(axis->extent());
    }
  }

  const ValGraph& exact_;
  const TensorView* tensor_;
  IterDomains memory_;
  VectorRun run_;
};

} // namespace

VectorRun find_vector_run(
    const ValGraph& exact, const TensorView* tensor, const IterDomains& axes) {
  return RunSearch(exact, tensor).find(axes);
}

IterDomains memory_axes(const TensorView* tensor) {
  return TensorDomain::no_devices(TensorDomain::no_reductions(tensor->maybe_allocation()));
}

} // namespace nvfuser::schedule
