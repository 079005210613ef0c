#include "graph/id_model.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "graph/pair_graph.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"

namespace nvfuser {
namespace {

/// Every neighboring pair of producer and consumer, in the order of the expressions.
template <typename Fn>
void for_each_neighbors(const Fusion& fusion, Fn&& fn) {
  for (const Expr* expr : tensor_exprs(fusion)) {
    const std::vector<TensorView*> consumers = tensor_outputs(expr);
    for (TensorView* producer : tensor_inputs(expr)) {
      for (TensorView* consumer : consumers) {
        fn(producer, consumer);
      }
    }
  }
}

void map_by_position(ValGraph& graph, const IterDomains& ids0, const IterDomains& ids1) {
  const size_t size = std::min(ids0.size(), ids1.size());
  for (size_t i = 0; i < size; ++i) {
    graph.map_one_of_many(ids0[i], ids1[i]);
  }
}

/// The oldest transform of each group of equal ones: what is mapped for it is mapped for all, since
/// the graph is closed. A copy: groups may be joined while it is walked.
std::vector<Expr*> one_of_each(const ValGraph& graph) {
  const DisjointSets<Expr*>& sets = graph.disjoint_expr_sets();
  std::vector<Expr*> oldest;
  for (size_t i = 0; i < sets.entries().size(); ++i) {
    if (sets.first_at(i) == i) {
      oldest.push_back(sets.entries()[i]);
    }
  }
  return oldest;
}

struct NamedDomain {
  const char* name;
  const IterDomains& ids;
};

std::vector<NamedDomain> domains_of(const TensorView* tensor) {
  std::vector<NamedDomain> domains;
  if (tensor->has_root()) {
    domains.push_back({"root", tensor->root()});
  }
  domains.push_back({"logical", tensor->logical()});
  if (tensor->has_allocation()) {
    domains.push_back({"allocation", tensor->maybe_allocation()});
  }
  domains.push_back({"loop", tensor->loop()});
  return domains;
}

/// Maps axes that a transform with a provable 1 leaves unchanged: the input and an output of a
/// split by 1, the output of a merge and the input beside the 1.
///
/// That two extents are both 1 says nothing: 8 split by 10 is [1, 10], and the 1 split by 4 is
/// [1, 4], but the two 1s have different indices. Mapping two axes of one domain would lose one of
/// them (merging [1, 1] must not map both to the product), so such a mapping is skipped.
class UnchangedAxes {
 public:
  UnchangedAxes(ValGraph& graph, const Fusion& fusion) : graph_(graph), fusion_(fusion) {}

  void map() {
    for (const Expr* expr : one_of_each(graph_)) {
      if (const auto* split = expr->as<Split>(); split && split->factor->is_one()) {
        map_unless_same_domain(split->in, split->inner_split ? split->outer : split->inner);
      } else if (const auto* merge = expr->as<Merge>()) {
        if (is_always_one(merge->inner)) {
          map_unless_same_domain(merge->out, merge->outer);
        } else if (is_always_one(merge->outer)) {
          map_unless_same_domain(merge->out, merge->inner);
        }
      }
    }
  }

 private:
  bool is_always_one(const IterDomain* id) const {
    if (!id->extent()->is_one()) {
      return false;
    }
    const IterDomains members = graph_.members(graph_.group(id));
    return std::all_of(members.begin(), members.end(), [](const IterDomain* member) {
      return member->extent()->is_one();
    });
  }

  /// At the first question: most fusions have no axis that a transform leaves unchanged.
  void number_domains() {
    int64_t number = 0;
    for (const TensorView* tensor : scheduled_tensors(fusion_)) {
      for (const NamedDomain& domain : domains_of(tensor)) {
        for (const IterDomain* id : domain.ids) {
          domains_of_id_[id].push_back(number);
        }
        ++number;
      }
    }
  }

  std::vector<int64_t> domains_of_group(const IterDomain* id) {
    if (domains_of_id_.empty()) {
      number_domains();
    }
    std::vector<int64_t> numbers;
    for (const IterDomain* member : graph_.members(graph_.group(id))) {
      const auto found = domains_of_id_.find(member);
      if (found != domains_of_id_.end()) {
        numbers.insert(numbers.end(), found->second.begin(), found->second.end());
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  void map_unless_same_domain(IterDomain* id0, IterDomain* id1) {
    if (graph_.are_mapped(id0, id1)) {
      return;
    }
    std::vector<int64_t> shared;
    const std::vector<int64_t> domains0 = domains_of_group(id0);
    const std::vector<int64_t> domains1 = domains_of_group(id1);
    std::set_intersection(
        domains0.begin(), domains0.end(), domains1.begin(), domains1.end(),
        std::back_inserter(shared));
    if (shared.empty()) {
      graph_.map_one_of_many(id0, id1);
    }
  }

  ValGraph& graph_;
  const Fusion& fusion_;
  std::unordered_map<const IterDomain*, std::vector<int64_t>> domains_of_id_; // only looked up
};

void map_resizes(ValGraph& graph) {
  for (const Expr* expr : one_of_each(graph)) {
    if (const auto* resize = expr->as<Resize>()) {
      graph.map_one_of_many(resize->in, resize->out);
    }
  }
}

void map_innermost(ValGraph& graph) {
  for (const Expr* expr : one_of_each(graph)) {
    if (const auto* merge = expr->as<Merge>()) {
      graph.map_one_of_many(merge->inner, merge->out);
    }
  }
}

} // namespace

// ---- Self mapping -------------------------------------------------------------------------------

std::string SelfMapping::to_string() const {
  return "T" + std::to_string(tensor->name()) + ": " + first->to_string() + " and " +
         second->to_string() + " of its " + domain + " domain";
}

std::optional<SelfMapping> find_self_mapping(const ValGraph& graph, TensorView* tensor) {
  std::vector<std::pair<int64_t, IterDomain*>> seen; // a few axes
  for (const NamedDomain& domain : domains_of(tensor)) {
    seen.clear();
    for (IterDomain* id : domain.ids) {
      if (!graph.contains(id)) {
        continue;
      }
      const int64_t group = graph.group(id);
      const auto known = std::ranges::find(seen, group, &std::pair<int64_t, IterDomain*>::first);
      if (known != seen.end()) {
        return SelfMapping{tensor, known->second, id, domain.name};
      }
      seen.emplace_back(group, id);
    }
  }
  return std::nullopt;
}

std::optional<SelfMapping> find_self_mapping(const ValGraph& graph, const Fusion& fusion) {
  for (TensorView* tensor : scheduled_tensors(fusion)) {
    if (const auto found = find_self_mapping(graph, tensor)) {
      return found;
    }
  }
  return std::nullopt;
}

// ---- IdModel ------------------------------------------------------------------------------------

IdModel::IdModel(Fusion* fusion, bool build_graphs, bool allow_self_mapping, bool validate)
    : fusion_(fusion), allow_self_mapping_(allow_self_mapping), validate_(validate) {
  if (build_graphs) {
    for (const IdMappingMode mode :
         {IdMappingMode::exact, IdMappingMode::almost_exact, IdMappingMode::broadcast,
          IdMappingMode::permissive, IdMappingMode::loop}) {
      maybe_build_graph(mode);
    }
  } else if (!allow_self_mapping) {
    maybe_build_graph(IdMappingMode::exact);
  }
}

ValGraph& IdModel::maybe_build_graph(IdMappingMode mode) {
  if (const auto found = graphs_.find(mode); found != graphs_.end()) {
    return *found->second;
  }
  check(try_build_graph(mode));
  return *graphs_.at(mode);
}

std::optional<Refusal> IdModel::try_build_graph(IdMappingMode mode) {
  if (graphs_.contains(mode)) {
    return std::nullopt;
  }
  auto graph = std::make_unique<ValGraph>();
  NVF_RETURN_REFUSAL(build(mode, *graph));
  graph->tidy();
  if (validate_) {
    graph->validate();
  }
  graphs_.emplace(mode, std::move(graph));
  return std::nullopt;
}

std::optional<Refusal> IdModel::build(IdMappingMode mode, ValGraph& graph) {
  if (mode == IdMappingMode::loop) {
    return build_loop(graph);
  }
  if (mode == IdMappingMode::exact) {
    graph = build_exact();
    if (const auto found = find_self_mapping(graph, *fusion_); found && !allow_self_mapping_) {
      return refuse({
          .headline = {"Two axes of one tensor correspond to each other: ", found->to_string()},
          .node = {describe(found->tensor)},
          .expected = {"axes that can be told apart"},
          .found =
              {"operations that map ", found->first->to_string(), " to ",
               found->second->to_string()},
          .fix = {"compute the two uses in different kernels"},
      });
    }
    return std::nullopt;
  }
  const bool is_on_exact = mode == IdMappingMode::almost_exact || mode == IdMappingMode::broadcast;
  const bool is_permissive = mode == IdMappingMode::permissive;
  const IdMappingMode below = is_on_exact     ? IdMappingMode::exact
                              : is_permissive ? IdMappingMode::broadcast
                                              : IdMappingMode::permissive;
  NVF_RETURN_REFUSAL(try_build_graph(below));
  graph = *graphs_.at(below);
  if (mode == IdMappingMode::broadcast) {
    map_resolved_broadcasts(graph);
  }
  if (is_on_exact) {
    UnchangedAxes(graph, *fusion_).map();
  } else if (is_permissive) {
    map_forwarded(graph);
  } else if (mode == IdMappingMode::permissive_resize) {
    map_resizes(graph);
  } else {
    map_innermost(graph);
  }
  return std::nullopt;
}

void map_exactly(ValGraph& graph, const Fusion& fusion) {
  for (const Expr* expr : tensor_exprs(fusion)) {
    const std::vector<TensorView*> outs = tensor_outputs(expr);
    const bool are_alike = semantics_of(*expr).has_like_results;
    for (size_t i = 0; i < (are_alike ? 1 : outs.size()); ++i) {
      for (const TensorView* producer : tensor_inputs(expr)) {
        const PairwiseDomainMap map(producer, outs[i], BroadcastPairs::Drop);
        for (const auto& [producer_id, consumer_id] : map.pairs()) {
          graph.map_one_of_many(producer_id, consumer_id);
        }
      }
    }
    for (size_t i = 1; are_alike && i < outs.size(); ++i) {
      map_by_position(graph, outs.front()->maybe_root(), outs[i]->maybe_root());
      map_by_position(graph, outs.front()->logical(), outs[i]->logical());
    }
  }
}

ValGraph IdModel::build_exact() const {
  ValGraph graph;
  for (const TensorView* tensor : scheduled_tensors(*fusion_)) {
    graph.add_one_of_many(tensor);
  }
  map_exactly(graph, *fusion_);
  return graph;
}

void IdModel::map_resolved_broadcasts(ValGraph& graph) const {
  for_each_neighbors(*fusion_, [&](const TensorView* producer, const TensorView* consumer) {
    const PairwiseDomainMap map(producer, consumer, BroadcastPairs::Keep);
    for (const auto& [producer_id, consumer_id] : map.pairs()) {
      graph.map_one_of_many(producer_id, consumer_id);
    }
  });
}

void IdModel::map_forwarded(ValGraph& graph) const {
  for_each_neighbors(*fusion_, [&](const TensorView* producer, const TensorView* consumer) {
    for (const auto& [out, in] : forwarded_merges(producer, consumer)) {
      graph.map_one_of_many(out, in);
    }
  });
}

std::optional<Refusal> IdModel::build_loop(ValGraph& graph) const {
  for (const TensorView* tensor : scheduled_tensors(*fusion_)) {
    graph.add_ids(tensor->loop());
  }
  for (const Expr* expr : tensor_exprs(*fusion_)) {
    const std::vector<TensorView*> outs = tensor_outputs(expr);
    for (size_t i = 1; semantics_of(*expr).has_like_results && i < outs.size(); ++i) {
      map_by_position(graph, outs.front()->loop(), outs[i]->loop());
    }
  }
  std::optional<Refusal> refusal;
  for_each_neighbors(*fusion_, [&](const TensorView* producer, const TensorView* consumer) {
    const int64_t position = producer->compute_position(consumer);
    if (position == 0 || refusal.has_value()) {
      return;
    }
    const LoopAlignment alignment = align_loops(producer, consumer);
    for (int64_t i = 0; i < position; ++i) {
      const int64_t partner = alignment.consumer_axis[static_cast<size_t>(i)];
      const IterDomain* axis = producer->axis(i);
      if (partner < 0 && axis->is_reduction() && axis->is_thread()) {
        continue; // bound to a hardware index: no loop, so none to share
      }
      if (partner < 0) {
        refusal = refuse({
            .headline = {"An inlined axis has no counterpart in a consumer"},
            .node = {describe(producer)},
            .expected =
                {"a loop axis of ", consumer->to_string(), " for ", producer->axis(i)->to_string()},
            .found = {"none"},
            .fix = {"inline it less deep, or transform both tensors alike"},
        });
        return;
      }
      graph.map_one_of_many(producer->axis(i), consumer->axis(partner));
    }
  });
  return refusal;
}

std::string IdModel::to_string() const {
  std::string text = "IterDomainGraphs { \n";
  for (const auto& [mode, graph] : graphs_) {
    text += std::string("  IdGraph ") + enum_name(mode) + "{ \n" + graph->groups_text(1) +
            "  } IdGraph\n\n";
  }
  return text + " } IterDomainGraphs\n";
}

// ---- One model for many calls -------------------------------------------------------------------

namespace {

/// A fusion as it was, and its model.
struct SharedModel {
  std::weak_ptr<Fusion> fusion; // its address may be that of another one later
  int64_t version = 0;
  int64_t axes_version = 0;
  std::shared_ptr<IdModel> model;

  [[nodiscard]] bool is_of(const Fusion& now) const {
    // Positions decide the loop graph.
    return axes_version == now.axes_version() &&
           (version == now.version() || !model->has_graph(IdMappingMode::loop));
  }
};

} // namespace

std::shared_ptr<IdModel> shared_id_model(Fusion& fusion) {
  constexpr size_t kMost = 4; // fusions that a thread schedules by turns
  static thread_local std::vector<SharedModel> models;
  std::erase_if(models, [](const SharedModel& shared) { return shared.fusion.expired(); });
  const std::weak_ptr<Fusion> self = fusion.weak_from_this();
  if (self.expired()) {
    return std::make_shared<IdModel>(&fusion);
  }
  const auto known = std::ranges::find_if(
      models, [&](const SharedModel& shared) { return shared.fusion.lock().get() == &fusion; });
  if (known != models.end() && known->is_of(fusion)) {
    known->version = fusion.version();
    return known->model;
  }
  if (known != models.end()) {
    models.erase(known);
  } else if (models.size() == kMost) {
    models.erase(models.begin());
  }
  models.push_back(
      {self, fusion.version(), fusion.axes_version(), std::make_shared<IdModel>(&fusion)});
  return models.back().model;
}

} // namespace nvfuser
