#include "graph/twisted_axes.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "ir/sampled_sizes.h"

namespace nvfuser {
namespace {

constexpr size_t kSamples = 16;
/// Indices of one axis that belong together with those of others at the same positions. kHole:
/// beyond the axis, where a split does not divide, or computed from such an index.
using Indices = std::array<int64_t, kSamples>;
constexpr int64_t kHole = -1;

/// A split or a merge: `whole` is `outer` times the size of `inner`, plus `inner`.
struct Parts {
  IterDomain* whole = nullptr;
  IterDomain* outer = nullptr;
  IterDomain* inner = nullptr;
};

std::optional<Parts> parts_of(const Expr* expr) {
  if (const auto* split = expr->as<Split>()) {
    return Parts{split->in, split->outer, split->inner};
  }
  if (const auto* merge = expr->as<Merge>()) {
    return Parts{merge->out, merge->outer, merge->inner};
  }
  return std::nullopt;
}

/// Numbers below `size`: all of them where they are few.
Indices indices_below(int64_t size) {
  constexpr int64_t kStep = 2654435761; // a prime: neighbours are far from each other
  Indices indices{};
  for (size_t i = 0; i < kSamples; ++i) {
    const auto k = static_cast<int64_t>(i);
    indices[i] = size <= static_cast<int64_t>(kSamples) ? k % size : (k + 1) * kStep % size;
  }
  return indices;
}

class TwistSearch {
 public:
  explicit TwistSearch(const ValGraph& graph) : graph_(graph) {}

  std::optional<TwistedAxis> find() {
    const std::vector<IterDomain*>& ids = graph_.disjoint_val_sets().entries();
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto group = static_cast<int64_t>(i); // named after its oldest member
      if (graph_.group(ids[i]) == group && divisions(group) > 1 && !covered_.contains(group)) {
        follow_from(ids[i]);
      }
      if (twisted_) {
        return twisted_;
      }
    }
    return std::nullopt;
  }

 private:
  /// In how many ways an axis consists of two others.
  int divisions(int64_t whole) const {
    int number = 0;
    for_each_parts(
        whole, [&](const Parts& parts) { number += graph_.group(parts.whole) == whole ? 1 : 0; });
    return number;
  }

  template <typename Fn>
  void for_each_parts(int64_t group, const Fn& fn) const {
    for (const auto* exprs : {&graph_.definitions(group), &graph_.uses(group)}) {
      for (const Expr* expr : *exprs) {
        if (const std::optional<Parts> parts = parts_of(expr)) {
          fn(*parts);
        }
      }
    }
  }

  void follow_from(IterDomain* whole) {
    indices_.clear();
    queue_.clear();
    whole_ = whole;
    size_ = size_of(whole);
    if (size_ < 1) {
      return;
    }
    record(whole, indices_below(size_));
    while (!queue_.empty() && !twisted_) {
      const int64_t group = queue_.front();
      queue_.pop_front();
      for_each_parts(group, [&](const Parts& parts) { follow(parts); });
    }
  }

  void follow(const Parts& parts) {
    const int64_t size = size_of(parts.inner);
    if (size < 1) {
      return;
    }
    const Indices* whole = known(parts.whole);
    const Indices* outer = known(parts.outer);
    const Indices* inner = known(parts.inner);
    Indices first{};
    Indices second{};
    if (whole != nullptr) {
      for (size_t i = 0; i < kSamples; ++i) {
        const bool is_hole = (*whole)[i] == kHole;
        first[i] = is_hole ? kHole : (*whole)[i] / size;
        second[i] = is_hole ? kHole : (*whole)[i] % size;
      }
      record(parts.outer, first);
      record(parts.inner, second);
    } else if (outer != nullptr && inner != nullptr) {
      for (size_t i = 0; i < kSamples; ++i) {
        const bool is_hole = (*outer)[i] == kHole || (*inner)[i] == kHole;
        first[i] = is_hole ? kHole : (*outer)[i] * size + (*inner)[i];
      }
      record(parts.whole, first);
    }
  }

  const Indices* known(const IterDomain* id) const {
    const auto found = indices_.find(graph_.group(id));
    return found == indices_.end() ? nullptr : &found->second;
  }

  void record(IterDomain* id, Indices indices) {
    const int64_t size = size_of(id);
    for (int64_t& index : indices) {
      index = index < size ? index : kHole;
    }
    const int64_t group = graph_.group(id);
    const auto [found, is_new] = indices_.try_emplace(group, indices);
    if (is_new) {
      queue_.push_back(group);
      if (size == size_) {
        covered_.insert(group);
      }
    } else if (!twisted_ && differ(found->second, indices)) {
      twisted_ = TwistedAxis{id, whole_};
    }
  }

  static bool differ(const Indices& a, const Indices& b) {
    for (size_t i = 0; i < kSamples; ++i) {
      if (a[i] != b[i] && a[i] != kHole && b[i] != kHole) {
        return true;
      }
    }
    return false;
  }

  /// One number for all members of a group, whatever they call their sizes; 0: unknown. That of a
  /// merged axis is the product of those of its parts.
  int64_t size_of(const IterDomain* id) {
    const int64_t group = graph_.group(id);
    if (const auto found = sizes_.find(group); found != sizes_.end()) {
      return found->second;
    }
    sizes_[group] = 0; // while it is being asked for
    const IterDomains members = graph_.members(group);
    int64_t size = 0;
    for (const IterDomain* member : members) {
      if (size == 0 && member->extent()->is_const()) {
        size = as_int(member->extent()->value());
      }
    }
    for_each_parts(group, [&](const Parts& parts) {
      if (size == 0 && graph_.group(parts.whole) == group) {
        size = size_of(parts.outer) * size_of(parts.inner);
      }
    });
    if (size == 0) {
      size = samples_.of(members.front()->extent()).value_or(0);
    }
    return sizes_[group] = size;
  }

  const ValGraph& graph_;
  SampledSizes samples_;
  std::unordered_map<int64_t, int64_t> sizes_; // by group
  std::unordered_set<int64_t> covered_;        // groups that follow from one, and it from them
  std::optional<TwistedAxis> twisted_;

  // The search that goes on.
  IterDomain* whole_ = nullptr;
  int64_t size_ = 0;
  std::unordered_map<int64_t, Indices> indices_; // by group
  std::deque<int64_t> queue_;                    // groups whose transforms have to be followed
};

} // namespace

std::optional<TwistedAxis> find_twisted_axis(const ValGraph& graph) {
  return TwistSearch(graph).find();
}

const TensorView* tensor_with(const IterDomain* axis, const std::vector<TensorView*>& tensors) {
  const auto found = std::ranges::find_if(tensors, [&](const TensorView* tensor) {
    const IterDomains ids = tensor->domain()->all_ids();
    return std::ranges::find(ids, axis) != ids.end();
  });
  return found == tensors.end() ? nullptr : *found;
}

} // namespace nvfuser
