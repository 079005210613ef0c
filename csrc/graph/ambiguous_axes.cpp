#include "graph/ambiguous_axes.h"

#include <bit>
#include <cstdint>
#include <deque>
#include <map>

namespace nvfuser {
namespace {

using Sources = uint64_t; // bits are positions of axes of the tensor

constexpr size_t kMostAxes = 64; // no framework has tensors of more dimensions

/// For every group that follows from axes of one tensor: from which ones.
class SourceSearch {
 public:
  SourceSearch(const ValGraph& graph, std::vector<IterDomain*> axes)
      : graph_(graph), axes_(std::move(axes)) {}

  std::optional<AmbiguousAxis> run() {
    for (size_t i = 0; i < axes_.size() && i < kMostAxes; ++i) {
      record(axes_[i], Sources{1} << i);
    }
    while (!queue_.empty() && !result_) {
      const int64_t group = queue_.front();
      queue_.pop_front();
      for (const auto* exprs : {&graph_.definitions(group), &graph_.uses(group)}) {
        for (const Expr* expr : *exprs) {
          visit(expr);
        }
      }
    }
    return result_;
  }

 private:
  void visit(const Expr* expr) {
    if (const auto* split = expr->as<Split>()) {
      follow({split->in}, {split->outer, split->inner});
      follow({split->outer, split->inner}, {split->in});
    } else if (const auto* merge = expr->as<Merge>()) {
      follow({merge->outer, merge->inner}, {merge->out});
      follow({merge->out}, {merge->outer, merge->inner});
    }
  }

  void follow(const std::vector<IterDomain*>& from, const std::vector<IterDomain*>& to) {
    Sources sources = 0;
    for (const IterDomain* id : from) {
      const auto known = sources_.find(graph_.group(id));
      if (known == sources_.end()) {
        return;
      }
      sources |= known->second;
    }
    for (IterDomain* id : to) {
      record(id, sources);
    }
  }

  /// `id` follows from `sources`.
  void record(IterDomain* id, Sources sources) {
    if (result_) {
      return;
    }
    const int64_t group = graph_.group(id);
    const auto [known, is_new] = sources_.try_emplace(group, sources);
    const Sources common = known->second & sources;
    if (!is_new && common != known->second && common != sources) {
      result_ = AmbiguousAxis{id, first_of(known->second & ~common), first_of(sources & ~common)};
    } else if (is_new || common != known->second) { // new, or it follows from fewer axes
      known->second = common;
      queue_.push_back(group);
    }
  }

  IterDomain* first_of(Sources sources) const {
    return axes_[std::countr_zero(sources)];
  }

  const ValGraph& graph_;
  std::vector<IterDomain*> axes_;
  std::map<int64_t, Sources> sources_;
  std::deque<int64_t> queue_; // groups whose expressions have to be visited
  std::optional<AmbiguousAxis> result_;
};

} // namespace

std::optional<AmbiguousAxis> find_ambiguous_axis(const ValGraph& graph, const TensorView* tensor) {
  std::vector<IterDomain*> axes;
  for (IterDomain* axis : tensor->logical()) {
    if (graph.contains(axis)) {
      axes.push_back(axis);
    }
  }
  return SourceSearch(graph, std::move(axes)).run();
}

} // namespace nvfuser
