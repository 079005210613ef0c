// Readers come before what they read. Each use of a tensor says which of its axes are which axes of
// the reader; axes that are the same are one class. A use that would make one class of two axes of
// some tensor gets a tensor of its own instead.

#include "optimize/passes/separate_uses.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "graph/output_order.h"
#include "ir/index_exprs.h"
#include "ir/random_exprs.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// Axes that are the same, over all tensors. No class has two axes of one domain of one tensor.
class AxisClasses {
 public:
  using Pair = std::pair<const IterDomain*, const IterDomain*>;

  void add(const TensorView* tensor) {
    const auto add_domain = [&](const IterDomains& ids) {
      for (const IterDomain* id : ids) {
        owners_[root(node_of(id))].insert(&ids);
      }
    };
    add_domain(tensor->logical());
    if (tensor->has_root()) {
      add_domain(tensor->root());
    }
  }

  /// Make both axes of every pair the same, unless two axes of one domain would be the same then:
  /// false, and nothing is changed.
  bool join(const std::vector<Pair>& pairs) {
    Classes joined; // what becomes of the classes that the pairs name
    for (const auto& [a, b] : pairs) {
      join_in(joined, root(node_of(a)), root(node_of(b)));
    }
    std::unordered_map<size_t, std::vector<size_t>> groups; // only looked up, by their keys
    for (const auto& [node, parent] : joined) {
      groups[find_in(joined, node)].push_back(node);
    }
    const bool are_apart = std::ranges::all_of(
        groups, [&](const auto& group) { return have_different_owners(group.second); });
    if (are_apart) {
      for (const auto& [key, nodes] : groups) {
        std::ranges::for_each(nodes, [&](size_t node) { merge(nodes.front(), node); });
      }
    }
    return are_apart;
  }

 private:
  using Classes = std::unordered_map<size_t, size_t>; // parents
  using Domain = const IterDomains*;                  // of a tensor, which does not change them

  size_t node_of(const IterDomain* id) {
    const auto [found, is_new] = nodes_.try_emplace(id, parents_.size());
    if (is_new) {
      parents_.push_back(parents_.size());
      owners_.emplace_back();
    }
    return found->second;
  }

  size_t root(size_t node) {
    while (parents_[node] != node) {
      node = parents_[node] = parents_[parents_[node]];
    }
    return node;
  }

  static size_t find_in(const Classes& classes, size_t node) {
    for (auto found = classes.find(node); found->second != node; found = classes.find(node)) {
      node = found->second;
    }
    return node;
  }

  static void join_in(Classes& classes, size_t a, size_t b) {
    classes.emplace(a, a);
    classes.emplace(b, b);
    classes[find_in(classes, a)] = find_in(classes, b);
  }

  [[nodiscard]] bool have_different_owners(const std::vector<size_t>& nodes) const {
    const auto size_of = [&](size_t node) { return owners_[node].size(); };
    const size_t largest = std::ranges::max(nodes, {}, size_of);
    std::unordered_set<Domain> seen;
    return std::ranges::all_of(nodes, [&](size_t node) {
      return node == largest || std::ranges::all_of(owners_[node], [&](Domain owner) {
               return !owners_[largest].contains(owner) && seen.insert(owner).second;
             });
    });
  }

  void merge(size_t a, size_t b) {
    a = root(a);
    b = root(b);
    if (a == b) {
      return;
    }
    if (owners_[a].size() < owners_[b].size()) {
      std::swap(a, b);
    }
    parents_[b] = a;
    owners_[a].merge(owners_[b]);
    owners_[b].clear();
  }

  std::unordered_map<const IterDomain*, size_t> nodes_; // only looked up
  std::vector<size_t> parents_;
  std::vector<std::unordered_set<Domain>> owners_; // of the classes, by their roots
};

/// Reads more than one kernel can have of its operands.
bool ends_a_kernel(const Expr& expr) {
  const OperandRead read = semantics_of(expr).read;
  return read == OperandRead::Whole ||
         (read == OperandRead::Reduced && tensor_inputs(&expr).size() > 1);
}

/// Whether computing it twice costs less than storing and reading it.
bool is_cheap(const Expr& expr) {
  const OpSemantics& semantics = semantics_of(expr);
  const bool moves =
      semantics.elements == ElementSource::Copied || semantics.elements == ElementSource::Reshaped;
  return !expr.is_a<RNGOp>() && expr.outputs().size() == 1 &&
         (semantics.read <= OperandRead::Same || moves);
}

class Separator {
 public:
  explicit Separator(OptimizedFusion& fusion) : fusion_(fusion) {}

  bool run() {
    for (const Expr* expr : exprs_from_outputs(fusion_)) {
      separate_index<GatherOp>(expr);
      separate_index<IndexSelectOp>(expr);
    }
    const std::vector<Expr*> exprs = exprs_from_outputs(fusion_);
    for (const Expr* expr : exprs) {
      place_of_.emplace(expr, place_of_.size());
    }
    for (const TensorView* tensor : scheduled_tensors(fusion_)) {
      classes_.add(tensor);
    }
    for (const Expr* expr : exprs | std::views::reverse) {
      const std::vector<TensorView*> outs = tensor_outputs(expr);
      for (size_t i = 1; semantics_of(*expr).has_like_results && i < outs.size(); ++i) {
        join_by_position(outs.front(), outs[i]);
      }
      std::ranges::for_each(outs, [&](TensorView* out) { separate(out); });
    }
    for (Val* input : std::vector<Val*>(fusion_.inputs())) {
      if (input->is_tensor()) {
        separate(static_cast<TensorView*>(input));
      }
    }
    return has_changed_;
  }

 private:
  /// Which axis of a tensor, by its position, is which axis of the result of a reader.
  using AxisMap = std::vector<std::pair<size_t, const IterDomain*>>;

  void join_by_position(const TensorView* a, const TensorView* b) {
    std::vector<AxisClasses::Pair> pairs;
    for (size_t i = 0; i < std::min(a->logical().size(), b->logical().size()); ++i) {
      pairs.emplace_back(a->logical()[i], b->logical()[i]);
    }
    classes_.join(pairs);
  }

  static AxisMap map_of(const TensorView* tensor, const Expr& reader) {
    AxisMap map;
    const std::vector<TensorView*> results = tensor_outputs(&reader);
    const size_t count = semantics_of(reader).has_like_results ? 1 : results.size();
    for (size_t i = 0; i < count; ++i) {
      const PairwiseDomainMap axes(tensor, results[i], BroadcastPairs::Drop);
      for (size_t position = 0; position < tensor->logical().size(); ++position) {
        if (const IterDomain* axis = axes.consumer_of(tensor->logical()[position])) {
          map.emplace_back(position, axis);
        }
      }
    }
    return map;
  }

  bool join(const TensorView* version, const AxisMap& map) {
    std::vector<AxisClasses::Pair> pairs;
    for (const auto& [position, axis] : map) {
      pairs.emplace_back(version->logical().at(position), axis);
    }
    return classes_.join(pairs);
  }

  /// Give every reader of `tensor` a version of it whose axes are those of the reader.
  void separate(TensorView* tensor) {
    std::vector<TensorView*> versions{tensor};
    for (Expr* reader : readers_in_order(tensor)) {
      if (ends_a_kernel(*reader)) {
        continue;
      }
      const AxisMap map = map_of(tensor, *reader);
      const auto fits = [&](const TensorView* version) { return join(version, map); };
      auto found = std::ranges::find_if(versions, fits);
      if (found == versions.end()) {
        TensorView* version = new_version(tensor);
        if (version == nullptr) {
          continue;
        }
        classes_.add(version);
        if (!join(version, map)) {
          continue;
        }
        found = versions.insert(versions.end(), version);
      }
      if (*found != tensor) {
        fusion_.replace_uses(tensor, *found, {reader});
        has_changed_ = true;
      }
    }
  }

  /// A look-up in the tensor that has its indices reads it at two positions: the indices get a
  /// version of their own.
  template <typename LookUp>
  void separate_index(const Expr* expr) {
    const auto* look_up = expr->as<LookUp>();
    if (look_up == nullptr || look_up->arg != look_up->index) {
      return;
    }
    TensorView* version = new_version(look_up->index);
    if (version == nullptr) {
      return;
    }
    const MadeFor line(expr);
    ValMap axes;
    typename LookUp::Fields fields = *look_up;
    fields.index = version;
    fields.out = copy_tensor(look_up->out, look_up->out->dtype(), axes);
    TensorView* result = fields.out;
    fusion_.make<LookUp>(std::move(fields));
    define_as(look_up->out, result);
    has_changed_ = true;
  }

  /// In the order of outputs, not of statements. Versions that were added read last.
  [[nodiscard]] std::vector<Expr*> readers_in_order(const TensorView* tensor) const {
    std::vector<Expr*> readers = tensor->all_uses();
    std::ranges::stable_sort(readers, {}, [&](const Expr* reader) {
      const auto place = place_of_.find(reader);
      return place == place_of_.end() ? place_of_.size() : place->second;
    });
    return readers;
  }

  /// nullptr: there can be no other.
  TensorView* new_version(TensorView* tensor) {
    TensorView* version = nullptr;
    if (tensor->is_fusion_input()) {
      const bool is_one = is_updated(tensor) || tensor->is_cpu_scalar();
      version = is_one ? nullptr : fusion_.repeat_input(tensor);
    } else if (is_cheap(*tensor->definition())) {
      const MadeFor line(tensor->definition());
      version = apply_to(*tensor->definition(), {}).front();
    }
    return version;
  }

  OptimizedFusion& fusion_;
  AxisClasses classes_;
  std::unordered_map<const Expr*, size_t> place_of_; // only looked up
  bool has_changed_ = false;
};

} // namespace

bool separate_uses(OptimizedFusion& fusion) {
  return Separator(fusion).run();
}

} // namespace nvfuser::optimize
