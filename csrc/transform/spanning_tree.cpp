#include "transform/spanning_tree.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "base/numbering.h"
#include "graph/domain_map.h"
#include "ir/domain_exprs.h"
#include "transform/lost_elements.h"

namespace nvfuser::transform {
namespace {

/// An axis of the reference, as a tensor carries it.
struct CarriedAxis {
  IterDomains ids; // logical axes of the tensor
  bool is_complete = true;
  bool is_concrete = true; // in the reference: no broadcast
};
using Carried = std::vector<CarriedAxis>; // by logical axis of the reference; lost ones have no ids

void add_unique(IterDomains& ids, IterDomain* id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
    ids.push_back(id);
  }
}

/// Add the axes of `ids` among those that were reached, a few, to `found`.
void add_reached(
    IterDomains& found, const IterDomains& ids, const std::vector<const Val*>& reached) {
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(found), [&](const IterDomain* axis) {
    return std::ranges::find(reached, axis) != reached.end();
  });
}

bool is_any_reached(const std::vector<Val*>& ids, const std::vector<const Val*>& reached) {
  return std::ranges::any_of(
      ids, [&](const Val* id) { return std::ranges::find(reached, id) != reached.end(); });
}

/// Add the axes of `to` that are built from `id`, an axis of `from`.
void add_built_from(
    IterDomains& found, IterDomain* id, const std::vector<Expr*>& exprs, const IterDomains& to) {
  if (exprs.empty()) { // both domains are one
    if (std::ranges::find(to, id) != to.end()) {
      found.push_back(id);
    }
    return;
  }
  std::vector<const Val*> reached{id};
  for (const Expr* expr : exprs) {
    if (is_any_reached(expr->inputs(), reached)) {
      reached.insert(reached.end(), expr->outputs().begin(), expr->outputs().end());
    }
  }
  add_reached(found, to, reached);
}

/// Add the axes of `from` that `id`, an axis of the target domain, is built from.
void add_built_into(
    IterDomains& found, IterDomain* id, const std::vector<Expr*>& exprs, const IterDomains& from) {
  if (exprs.empty()) { // both domains are one
    if (std::ranges::find(from, id) != from.end()) {
      found.push_back(id);
    }
    return;
  }
  std::vector<const Val*> reached{id};
  for (size_t i = exprs.size(); i-- > 0;) {
    if (is_any_reached(exprs[i]->outputs(), reached)) {
      reached.insert(reached.end(), exprs[i]->inputs().begin(), exprs[i]->inputs().end());
    }
  }
  add_reached(found, from, reached);
}

/// The axis that carries a logical axis of `edge.from` in the logical domain of `edge.to`.
class AxisStep {
 public:
  AxisStep(const TreeEdge& edge, LostElements& lost_elements)
      : edge_(edge), lost_elements_(lost_elements) {
    if (edge.direction == Direction::ToProducer) {
      map_.emplace(edge.to, edge.from);
      root_to_logical_ = exprs_between(edge.from->maybe_root(), edge.from->logical());
    } else if (edge.direction == Direction::ToConsumer) {
      map_.emplace(edge.from, edge.to);
      root_to_logical_ = exprs_between(edge.to->maybe_root(), edge.to->logical());
    }
  }

  [[nodiscard]] CarriedAxis operator()(const CarriedAxis& carried) {
    CarriedAxis next{
        .ids = {}, .is_complete = carried.is_complete, .is_concrete = carried.is_concrete};
    for (IterDomain* id : carried.ids) {
      find_images(id);
      next.is_complete = next.is_complete && !images_.empty() && !is_resized(id);
      for (IterDomain* image : images_) {
        add_unique(next.ids, image);
      }
    }
    return next;
  }

  /// How many axes of producers the consumer has merged or split: loops over them are no loops of
  /// the consumer.
  [[nodiscard]] int64_t used_up() const {
    return used_up_;
  }

 private:
  [[nodiscard]] bool is_used_up(const IterDomain* root) const {
    return std::ranges::any_of(root_to_logical_, [&](const Expr* expr) {
      return !expr->is_a<Resize>() &&
             std::ranges::find(expr->inputs(), root) != expr->inputs().end();
    });
  }

  /// Whether a transform of `id` is none of its images: a resize lies between them. A producer can
  /// repeat one that grows.
  [[nodiscard]] bool is_resized(const IterDomain* id) const {
    if (root_to_logical_.empty()) {
      return false;
    }
    const auto resize_to = [&](const IterDomain* axis) {
      const Expr* made_by = axis->definition();
      const bool is_between =
          std::find(root_to_logical_.begin(), root_to_logical_.end(), made_by) !=
          root_to_logical_.end();
      return is_between && made_by->is_a<Resize>() ? made_by : nullptr;
    };
    if (edge_.direction == Direction::ToProducer) {
      const Expr* resize = resize_to(id);
      return resize != nullptr && lost_elements_.in(resize);
    }
    return std::any_of(images_.begin(), images_.end(), [&](const IterDomain* image) {
      return resize_to(image) != nullptr;
    });
  }

  void find_images(IterDomain* id) {
    images_.clear();
    if (edge_.direction == Direction::ToSibling) {
      const IterDomains& logical = edge_.from->logical();
      const auto place = std::find(logical.begin(), logical.end(), id) - logical.begin();
      images_.push_back(edge_.to->logical().at(static_cast<size_t>(place)));
    } else if (edge_.direction == Direction::ToConsumer) {
      if (IterDomain* root = map_->consumer_of(id)) {
        add_built_from(images_, root, root_to_logical_, edge_.to->logical());
        used_up_ += is_used_up(root) ? 1 : 0;
      }
    } else {
      roots_.clear();
      add_built_into(roots_, id, root_to_logical_, edge_.from->maybe_root());
      for (const IterDomain* root : roots_) {
        if (IterDomain* image = map_->producer_of(root)) {
          images_.push_back(image);
        }
      }
    }
  }

  const TreeEdge& edge_;
  LostElements& lost_elements_;
  std::optional<PairwiseDomainMap> map_;
  std::vector<Expr*> root_to_logical_;
  IterDomains images_; // of the last axis that was asked for, and its roots
  IterDomains roots_;
  int64_t used_up_ = 0;
};

struct Candidate {
  TreeEdge edge;
  Carried carried;
  size_t complete = 0;
  size_t present = 0;
  size_t concrete = 0;  // of them, those of the reference that are no broadcasts
  int64_t used_up = 0;  // axes that consumers on the path have merged or split
  int64_t inputs = 0;   // the path goes through: no loops are shared across them
  int64_t distance = 0; // edges from the reference
  int64_t number = 0;   // order in which candidates were found

  [[nodiscard]] bool operator<(const Candidate& other) const { // the largest is taken first
    if (complete != other.complete) {
      return complete < other.complete;
    }
    if (present != other.present) {
      return present < other.present;
    }
    if (concrete != other.concrete) {
      return concrete < other.concrete;
    }
    if (used_up != other.used_up) {
      return used_up > other.used_up;
    }
    if (inputs != other.inputs) {
      return inputs > other.inputs;
    }
    if (distance != other.distance) {
      return distance > other.distance;
    }
    return number > other.number;
  }
};

Candidate make_candidate(
    const TreeEdge& edge, const Carried& carried, LostElements& lost_elements) {
  Candidate candidate{.edge = edge, .carried = {}};
  candidate.carried.reserve(carried.size());
  AxisStep step(edge, lost_elements);
  for (const CarriedAxis& axis : carried) {
    candidate.carried.push_back(step(axis));
    const CarriedAxis& next = candidate.carried.back();
    if (!next.ids.empty()) {
      ++candidate.present;
      candidate.complete += next.is_complete ? 1 : 0;
      candidate.concrete += next.is_concrete ? 1 : 0;
    }
  }
  candidate.used_up = step.used_up();
  return candidate;
}

} // namespace

std::vector<TreeEdge> edges_from(TensorView* tensor) {
  std::vector<TreeEdge> edges;
  if (tensor->definition() != nullptr) {
    for (TensorView* sibling : tensor_outputs(tensor->definition())) {
      if (sibling != tensor) {
        edges.push_back({tensor, sibling, Direction::ToSibling});
      }
    }
    for (TensorView* producer : tensor_inputs(tensor->definition())) {
      edges.push_back({tensor, producer, Direction::ToProducer});
    }
  }
  for (TensorView* consumer : tensor->consumers()) {
    edges.push_back({tensor, consumer, Direction::ToConsumer});
  }
  return edges;
}

std::vector<TreeEdge> spanning_tree(TensorView* reference, const EdgeFilter& may_take) {
  std::vector<TreeEdge> tree;
  Numbering<const TensorView*> reached;
  reached.add(reference);
  std::vector<Candidate> candidates; // a heap
  LostElements lost_elements;
  int64_t number = 0;
  const auto grow_from = [&](TensorView* tensor, const Candidate& path) {
    for (const TreeEdge& edge : edges_from(tensor)) {
      if (!reached.find(edge.to).has_value() && (may_take == nullptr || may_take(edge))) {
        Candidate candidate = make_candidate(edge, path.carried, lost_elements);
        candidate.used_up += path.used_up;
        candidate.inputs = path.inputs + (tensor->is_fusion_input() ? 1 : 0);
        candidate.distance = path.distance + 1;
        candidate.number = number++;
        candidates.push_back(std::move(candidate));
        std::ranges::push_heap(candidates, std::less<>());
      }
    }
  };
  Candidate start;
  for (IterDomain* id : reference->logical()) {
    start.carried.push_back({.ids = {id}, .is_complete = true, .is_concrete = !id->is_broadcast()});
  }
  grow_from(reference, start);
  while (!candidates.empty()) {
    std::ranges::pop_heap(candidates, std::less<>());
    const Candidate best = std::move(candidates.back());
    candidates.pop_back();
    if (reached.add(best.edge.to).second) {
      tree.push_back(best.edge);
      grow_from(best.edge.to, best);
    }
  }
  return tree;
}

std::vector<TreeEdge> paths_to(
    const std::vector<TreeEdge>& tree, const std::vector<TensorView*>& wanted) {
  std::unordered_set<const TensorView*> needed(wanted.begin(), wanted.end());
  std::vector<TreeEdge> paths;
  for (size_t i = tree.size(); i-- > 0;) {
    if (needed.count(tree[i].to) != 0) {
      needed.insert(tree[i].from);
      paths.push_back(tree[i]);
    }
  }
  std::reverse(paths.begin(), paths.end());
  return paths;
}

} // namespace nvfuser::transform
