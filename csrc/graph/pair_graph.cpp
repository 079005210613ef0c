#include "graph/pair_graph.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/pointer_map.h"
#include "base/pointer_set.h"
#include "ir/all_nodes.h"
#include "ir/domain_exprs.h"

namespace nvfuser {
namespace {

using IdSet = std::unordered_set<const Val*>;

bool all_in(const std::vector<Val*>& vals, const IdSet& set) {
  return std::all_of(vals.begin(), vals.end(), [&](const Val* v) { return set.count(v) != 0; });
}

/// `lacking` and all ids that are built from nothing else.
IdSet close_over(const TensorView* tensor, const IterDomains& lacking) {
  IdSet set(lacking.begin(), lacking.end());
  if (!set.empty()) {
    for (const Expr* expr : tensor->domain()->all_exprs()) {
      if (all_in(expr->inputs(), set)) {
        set.insert(expr->outputs().begin(), expr->outputs().end());
      }
    }
  }
  return set;
}

void collect_forwarded(
    const TensorView* tensor,
    const IterDomains& lacking,
    std::vector<std::pair<IterDomain*, IterDomain*>>& forwarded) {
  if (lacking.empty()) {
    return;
  }
  const IdSet lacks = close_over(tensor, lacking);
  for (const Expr* expr : tensor->domain()->all_exprs()) {
    const auto* merge = expr->as<Merge>();
    if (merge == nullptr || lacks.count(merge->outer) == lacks.count(merge->inner)) {
      continue;
    }
    const bool lacks_outer = lacks.count(merge->outer) != 0;
    if (is_forwardable(lacks_outer ? merge->outer : merge->inner)) {
      forwarded.emplace_back(merge->out, lacks_outer ? merge->inner : merge->outer);
    }
  }
}

std::vector<std::pair<IterDomain*, IterDomain*>> forwarded_merges(
    const TensorView* producer, const TensorView* consumer, const PairwiseDomainMap& map) {
  std::vector<std::pair<IterDomain*, IterDomain*>> forwarded;
  collect_forwarded(producer, map.producer_only(), forwarded);
  collect_forwarded(consumer, map.consumer_only(), forwarded);
  return forwarded;
}

ValGraph pair_graph(
    const TensorView* producer, const TensorView* consumer, const PairwiseDomainMap& map) {
  ValGraph graph;
  graph.add_one_of_many(producer);
  graph.add_one_of_many(consumer);
  for (const auto& [producer_id, consumer_id] : map.pairs()) {
    graph.map_one_of_many(producer_id, consumer_id);
  }
  for (const auto& [out, in] : forwarded_merges(producer, consumer, map)) {
    graph.map_one_of_many(out, in);
  }
  graph.tidy();
  return graph;
}

/// The ids of a producer that correspond to others, with their counterparts in the consumer.
/// No value where ids could have several, or merges are skipped: the graph knows those.
class Counterparts {
 public:
  static std::optional<Counterparts> find(
      const TensorView* producer, const TensorView* consumer, const PairwiseDomainMap& map) {
    Counterparts found;
    if (!forwarded_merges(producer, consumer, map).empty() || !found.start(map) ||
        !found.read(consumer) || !found.follow(producer)) {
      return std::nullopt;
    }
    return found;
  }

  [[nodiscard]] const Val* of(const Val* id) const {
    const Val* const* known = partner_.find(id);
    return known == nullptr ? nullptr : *known;
  }

 private:
  bool start(const PairwiseDomainMap& map) {
    PointerSet<Val> taken;
    return std::ranges::all_of(map.pairs(), [&](const PairwiseDomainMap::Pair& pair) {
      return partner_.try_emplace(pair.first, pair.second).second && taken.insert(pair.second);
    });
  }

  bool read(const TensorView* consumer) {
    for (const Expr* expr : consumer->domain()->all_exprs()) {
      for (const Val* in : expr->inputs()) {
        if (!reader_.try_emplace(in, expr).second) {
          return false;
        }
      }
    }
    return true;
  }

  /// Through the producer's transforms, as far as the consumer has the same.
  bool follow(const TensorView* producer) {
    PointerSet<Val> read;
    for (const Expr* expr : producer->domain()->all_exprs()) {
      for (const Val* in : expr->inputs()) {
        if (!read.insert(in)) {
          return false;
        }
      }
      if (const Expr* other = same_expr(expr)) {
        for (size_t i = 0; i < expr->outputs().size(); ++i) {
          partner_.try_emplace(expr->outputs()[i], other->outputs()[i]);
        }
      }
    }
    return true;
  }

  [[nodiscard]] const Expr* same_expr(const Expr* expr) const {
    const Val* partner_of_first = of(expr->inputs().front());
    const Expr* const* found =
        partner_of_first == nullptr ? nullptr : reader_.find(partner_of_first);
    const Expr* other = found == nullptr ? nullptr : *found;
    const bool is_same = other != nullptr && expr->same_op(other) &&
                         std::ranges::equal(
                             expr->inputs(), other->inputs(),
                             [&](const Val* in, const Val* partner) { return of(in) == partner; });
    return is_same ? other : nullptr;
  }

  PointerMap<Val, const Val*> partner_;
  PointerMap<Val, const Expr*> reader_; // of the consumer's ids
};

/// `LoopAlignment::consumer_axis` without a graph, where both tensors are transformed alike; no
/// value where a loop of axes that the consumer has is none of its loops: the graph tells why.
std::optional<std::vector<int64_t>> partners_of_like_loops(
    const TensorView* producer, const TensorView* consumer, const PairwiseDomainMap& map) {
  const std::optional<Counterparts> counterparts = Counterparts::find(producer, consumer, map);
  if (!counterparts.has_value()) {
    return std::nullopt;
  }
  const IdSet lacks = close_over(producer, map.producer_only());
  std::vector<int64_t> partners;
  for (const IterDomain* axis : producer->loop()) {
    const auto partner = std::ranges::find(consumer->loop(), counterparts->of(axis));
    const bool exists = partner != consumer->loop().end();
    if (!exists && lacks.count(axis) == 0) {
      return std::nullopt;
    }
    partners.push_back(exists ? partner - consumer->loop().begin() : -1);
  }
  return partners;
}

} // namespace

bool is_forwardable(const IterDomain* id) {
  return id->extent()->is_one();
}

std::vector<std::pair<IterDomain*, IterDomain*>> forwarded_merges(
    const TensorView* producer, const TensorView* consumer) {
  return forwarded_merges(producer, consumer, PairwiseDomainMap(producer, consumer));
}

ValGraph pair_graph(
    const TensorView* producer, const TensorView* consumer, BroadcastPairs broadcasts) {
  return pair_graph(producer, consumer, PairwiseDomainMap(producer, consumer, broadcasts));
}

bool is_resized_apart(const TensorView* producer, const TensorView* consumer) {
  std::vector<const Resize*> resizes;
  for (const Expr* expr : producer->domain()->all_exprs()) {
    const auto* resize = expr->as<Resize>();
    if (resize != nullptr && !resize->out->is_broadcast()) {
      resizes.push_back(resize);
    }
  }
  if (resizes.empty()) {
    return false;
  }
  const std::vector<Expr*> shaping = exprs_between(producer->maybe_root(), producer->logical());
  std::erase_if(resizes, [&](const Resize* resize) {
    return std::find(shaping.begin(), shaping.end(), resize) != shaping.end();
  });
  if (resizes.empty()) {
    return false;
  }
  const ValGraph graph = pair_graph(producer, consumer);
  const IterDomains others = consumer->domain()->all_ids();
  return std::ranges::any_of(resizes, [&](const Resize* resize) {
    return std::ranges::none_of(
        others, [&](const IterDomain* other) { return graph.are_mapped(resize->out, other); });
  });
}

LoopAlignment align_loops(const TensorView* producer, const TensorView* consumer) {
  const PairwiseDomainMap map(producer, consumer);
  const IdSet lacks = close_over(consumer, map.consumer_only());
  LoopAlignment alignment;
  for (const IterDomain* axis : consumer->loop()) {
    alignment.consumer_only.push_back(lacks.count(axis) != 0);
  }
  if (auto partners = partners_of_like_loops(producer, consumer, map)) {
    alignment.consumer_axis = *std::move(partners);
    return alignment;
  }
  const ValGraph graph = pair_graph(producer, consumer, map);
  // Two axes of one tensor in one group are told apart by their order.
  std::vector<bool> taken(consumer->loop().size(), false);
  for (const IterDomain* axis : producer->loop()) {
    int64_t partner = -1;
    for (size_t i = 0; i < taken.size(); ++i) {
      if (!taken[i] && graph.are_mapped(axis, consumer->loop()[i])) {
        taken[i] = true;
        partner = static_cast<int64_t>(i);
        break;
      }
    }
    alignment.consumer_axis.push_back(partner);
  }
  return alignment;
}

} // namespace nvfuser
