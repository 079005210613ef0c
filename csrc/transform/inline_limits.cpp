#include "transform/inline_limits.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "graph/domain_map.h"
#include "ir/expr.h"

namespace nvfuser::schedule {
namespace {

IterDomain* as_id(Val* val) {
  return static_cast<IterDomain*>(val);
}

bool has_reduction_axis(const TensorView* tensor) {
  const IterDomains& loop = tensor->loop();
  return std::any_of(
      loop.begin(), loop.end(), [](const IterDomain* axis) { return axis->is_reduction(); });
}

/// Groups of axes whose loops run over (a part of) a reduced axis: what it is built from and what
/// is built from that, except what is built from other parts only: of 12 split into [3, 4] with the
/// 4 reduced, the 3 is not touched.
std::unordered_set<int64_t> touched_groups(const ValGraph& graph, const IterDomains& reduced) {
  std::unordered_set<int64_t> touched;
  std::vector<int64_t> forward; // their uses are still to be followed
  const auto add_outputs = [&](const Expr* expr) {
    for (Val* out : expr->outputs()) {
      if (touched.insert(graph.group(as_id(out))).second) {
        forward.push_back(graph.group(as_id(out)));
      }
    }
  };
  std::vector<int64_t> backward;
  for (const IterDomain* id : reduced) {
    if (touched.insert(graph.group(id)).second) {
      backward.push_back(graph.group(id));
      forward.push_back(graph.group(id));
    }
  }
  while (!backward.empty()) {
    const int64_t group = backward.back();
    backward.pop_back();
    for (const Expr* definition : graph.definitions(group)) {
      for (Val* in : definition->inputs()) {
        const int64_t in_group = graph.group(as_id(in));
        if (!touched.insert(in_group).second) {
          continue;
        }
        backward.push_back(in_group);
        for (const Expr* use : graph.uses(in_group)) {
          if (use != definition) {
            add_outputs(use);
          }
        }
      }
    }
  }
  while (!forward.empty()) {
    const int64_t group = forward.back();
    forward.pop_back();
    for (const Expr* use : graph.uses(group)) {
      add_outputs(use);
    }
  }
  return touched;
}

/// Everything that depends on the result.
std::unordered_set<const TensorView*> dependents_of(TensorView* tensor) {
  std::unordered_set<const TensorView*> found;
  std::vector<TensorView*> stack = with_siblings(tensor);
  while (!stack.empty()) {
    const TensorView* current = stack.back();
    stack.pop_back();
    for (TensorView* consumer : current->consumers()) {
      if (found.insert(consumer).second) {
        stack.push_back(consumer);
      }
    }
  }
  return found;
}

int64_t position_of(const InlineLimits::Positions& positions, const TensorView* tensor) {
  const auto listed = positions.find(tensor);
  return listed == positions.end() ? tensor->compute_at_position() : listed->second;
}

/// The expressions that read any of the tensors.
std::unordered_set<const Expr*> users_of(const std::vector<TensorView*>& tensors) {
  std::unordered_set<const Expr*> users;
  for (const TensorView* tensor : tensors) {
    for (const Expr* use : tensor->uses()) {
      users.insert(use);
    }
  }
  return users;
}

/// The search for tensors that share a reduced loop with a reduction: from neighbor to neighbor as
/// long as the producer of the two is inlined past the first axis that runs over the reduced one.
class SharedLoops {
 public:
  SharedLoops(
      const ValGraph& graph, TensorView* reduction, const InlineLimits::Positions& positions)
      : graph_(graph), reduction_(reduction), positions_(positions) {
    IterDomains reduced;
    for (TensorView* tensor : with_siblings(reduction)) {
      std::copy_if(
          tensor->loop().begin(), tensor->loop().end(), std::back_inserter(reduced),
          [](const IterDomain* axis) { return axis->is_reduction(); });
    }
    touched_ = touched_groups(graph, reduced);
  }

  /// First loop axis that runs over the reduced one; the number of axes if there is none.
  [[nodiscard]] int64_t first_touched(const TensorView* tensor) {
    const auto [found, is_new] = first_touched_.try_emplace(tensor, tensor->ndims());
    for (int64_t i = 0; is_new && i < tensor->ndims(); ++i) {
      if (touched_.count(graph_.group(tensor->axis(i))) != 0) {
        found->second = i;
        break;
      }
    }
    return found->second;
  }

  /// Tensors on the way from the reduction to the nearest of `goals`, each with whether the way
  /// came up to it from a consumer; empty if none shares the loop.
  [[nodiscard]] std::vector<std::pair<TensorView*, bool>> path_to(
      const std::unordered_set<const TensorView*>& goals) {
    std::unordered_map<TensorView*, std::pair<TensorView*, bool>> came_from; // tensor, upward
    std::deque<TensorView*> queue;
    const auto visit = [&](TensorView* tensor, TensorView* from, bool is_up) {
      if (came_from.try_emplace(tensor, from, is_up).second) {
        queue.push_back(tensor);
      }
    };
    visit(reduction_, nullptr, false);
    while (!queue.empty()) {
      TensorView* tensor = queue.front();
      queue.pop_front();
      if (goals.count(tensor) != 0) {
        std::vector<std::pair<TensorView*, bool>> path;
        while (tensor != nullptr) {
          const auto [from, is_up] = came_from.at(tensor);
          path.emplace_back(tensor, is_up);
          tensor = from;
        }
        std::reverse(path.begin(), path.end());
        return path;
      }
      for (TensorView* sibling : tensor->siblings()) {
        visit(sibling, tensor, came_from.at(tensor).second);
      }
      for (TensorView* producer : tensor->producers()) {
        if (shares_loop(producer)) {
          visit(producer, tensor, true);
        }
      }
      if (shares_loop(tensor)) {
        for (TensorView* consumer : tensor->consumers()) {
          visit(consumer, tensor, false);
        }
      }
    }
    return {};
  }

 private:
  /// With its consumers.
  [[nodiscard]] bool shares_loop(const TensorView* producer) {
    return position_of(positions_, producer) > first_touched(producer);
  }

  const ValGraph& graph_;
  TensorView* reduction_;
  const InlineLimits::Positions& positions_;
  std::unordered_set<int64_t> touched_;
  std::unordered_map<const TensorView*, int64_t> first_touched_;
};

} // namespace

std::vector<TensorView*> with_siblings(TensorView* tensor) {
  return tensor->definition() == nullptr ? std::vector<TensorView*>{tensor}
                                         : tensor_outputs(tensor->definition());
}

const LoopAlignment& Alignments::operator()(
    const TensorView* producer, const TensorView* consumer) {
  const auto key = std::make_pair(producer->serial(), consumer->serial());
  const auto found = known_.find(key);
  return found != known_.end() ? found->second
                               : known_.emplace(key, align_loops(producer, consumer)).first->second;
}

InlineLimits::InlineLimits(Fusion& fusion, const std::vector<IterDomain*>& uninlinable)
    : fusion_(fusion), uninlinable_(uninlinable.begin(), uninlinable.end()) {}

bool InlineLimits::stops_either(const IterDomain* axis) const {
  const ParallelType type = axis->parallel_type();
  return type == ParallelType::Vectorize || type == ParallelType::Bulk ||
         type == ParallelType::Mma || uninlinable_.count(axis) != 0;
}

bool InlineLimits::stops_producer(const IterDomain* axis) const {
  return stops_either(axis) || axis->is_reduction() ||
         axis->parallel_type() == ParallelType::Unroll;
}

int64_t InlineLimits::consumer_limit(
    const TensorView* producer, const TensorView* consumer, bool is_only_consumer) {
  const LoopAlignment& alignment = alignments_(producer, consumer);
  int64_t next = 0; // consumer's axes before it are taken or passed over
  for (int64_t i = 0; i < producer->ndims(); ++i) {
    const int64_t partner = alignment.consumer_axis[static_cast<size_t>(i)];
    if (partner < next || (partner > next && !is_only_consumer)) {
      return i;
    }
    for (; next <= partner; ++next) {
      const bool may_pass = next == partner || alignment.consumer_only[static_cast<size_t>(next)];
      if (!may_pass || stops_either(consumer->axis(next))) {
        return i;
      }
    }
  }
  return producer->ndims();
}

int64_t InlineLimits::pair_limit(TensorView* tensor) {
  if (tensor->is_fusion_input() || tensor->definition() == nullptr) {
    return 0;
  }
  const std::vector<TensorView*> outs = with_siblings(tensor);
  std::vector<std::pair<TensorView*, TensorView*>> pairs;
  for (TensorView* out : outs) {
    for (TensorView* consumer : out->consumers()) {
      pairs.emplace_back(out, consumer);
    }
  }
  if (pairs.empty()) {
    return 0;
  }
  const bool is_only_user = users_of(outs).size() == 1;
  int64_t limit = tensor->ndims();
  for (const TensorView* out : outs) {
    const auto stop = std::find_if(out->loop().begin(), out->loop().end(), [&](const auto* axis) {
      return stops_producer(axis);
    });
    limit = std::min<int64_t>(limit, stop - out->loop().begin());
  }
  for (const auto& [producer, consumer] : pairs) {
    limit = std::min(limit, consumer_limit(producer, consumer, is_only_user));
  }
  return limit;
}

void InlineLimits::keep_common_nests(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  // First axis of a tensor that stands inside a loop which is none of its own. Consumers come
  // first.
  std::unordered_map<const TensorView*, int64_t> first_foreign;
  const std::vector<Expr*> exprs = tensor_exprs(fusion_);
  for (size_t e = exprs.size(); e-- > 0;) {
    const std::vector<TensorView*> outs = tensor_outputs(exprs[e]);
    int64_t position = position_of(positions, outs.front());
    int64_t foreign = outs.front()->ndims();
    for (const TensorView* out : outs) {
      for (const TensorView* consumer : out->consumers()) {
        for (int64_t i = 0; i < std::min(position, foreign); ++i) {
          const int64_t partner = alignments_(out, consumer).consumer_axis[static_cast<size_t>(i)];
          if (partner > i || partner >= first_foreign.at(consumer)) {
            foreign = i;
          }
        }
      }
    }
    if (foreign < position && users_of(outs).size() > 1 && adjustable.count(outs.front()) != 0) {
      position = foreign;
      for (const TensorView* out : outs) {
        positions[out] = position;
      }
    }
    for (const TensorView* out : outs) {
      first_foreign[out] = foreign < position ? foreign : out->ndims();
    }
  }
}

const ValGraph& InlineLimits::graph() {
  if (model_ == nullptr) {
    model_ = std::make_unique<IdModel>(&fusion_);
  }
  return model_->maybe_build_graph(IdMappingMode::broadcast);
}

void InlineLimits::separate_reductions(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  for (TensorView* tensor : scheduled_tensors(fusion_)) {
    if (tensor->definition() == nullptr || !has_reduction_axis(tensor) ||
        with_siblings(tensor).front() != tensor) {
      continue;
    }
    SharedLoops shared(graph(), tensor, positions);
    const std::unordered_set<const TensorView*> dependents = dependents_of(tensor);
    while (true) {
      const auto path = shared.path_to(dependents);
      // The first tensor that the way goes up to and then down from, if it may be lowered.
      TensorView* peak = nullptr;
      for (size_t i = 0; i + 1 < path.size() && peak == nullptr; ++i) {
        const bool is_peak = path[i].second && !path[i + 1].second;
        peak = is_peak && adjustable.count(path[i].first) != 0 ? path[i].first : nullptr;
      }
      if (peak == nullptr) {
        break;
      }
      int64_t lowered = shared.first_touched(peak);
      for (const TensorView* sibling : with_siblings(peak)) {
        lowered = std::min(lowered, shared.first_touched(sibling));
      }
      for (const TensorView* sibling : with_siblings(peak)) {
        positions[sibling] = lowered;
      }
    }
  }
}

} // namespace nvfuser::schedule
