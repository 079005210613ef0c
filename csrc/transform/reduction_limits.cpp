// Loops that a tensor cannot share with others: those of reductions with what needs their results,
// or with what widens them; those of any tensor with a reader at other positions.
#include <algorithm>
#include <deque>
#include <optional>

#include "graph/domain_map.h"
#include "graph/pair_graph.h"
#include "ir/expr.h"
#include "transform/inline_limits.h"
#include "transform/one_loop.h"
#include "transform/source_axes.h"

namespace nvfuser::transform {
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
/// 4 reduced, the 3 is not touched. An axis of one element that is merged with another has no part
/// of it.
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
        if (is_forwardable(as_id(in)) || !touched.insert(in_group).second) {
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

/// Numbers of expressions, operands before results.
using Order = std::unordered_map<const Expr*, size_t>;

Order order_of(const std::vector<Expr*>& exprs) {
  Order order;
  for (const Expr* expr : exprs) {
    order.emplace(expr, order.size());
  }
  return order;
}

/// Values that depend on the result of a reduction, found at the first question: most reductions
/// share their loops with nothing that comes after them.
class Dependents {
 public:
  Dependents(TensorView* reduction, const Order& order) : reduction_(reduction), order_(order) {}

  [[nodiscard]] bool contain(const TensorView* tensor) {
    if (comes_before(tensor)) {
      return false;
    }
    if (!found_) {
      found_ = find();
    }
    return found_->count(tensor) != 0;
  }

 private:
  /// Or beside.
  [[nodiscard]] bool comes_before(const TensorView* tensor) const {
    if (tensor->definition() == nullptr) {
      return true;
    }
    const auto found = order_.find(tensor->definition());
    return found != order_.end() && found->second <= order_.at(reduction_->definition());
  }

  [[nodiscard]] std::unordered_set<const TensorView*> find() const {
    std::unordered_set<const TensorView*> found;
    std::vector<TensorView*> stack = with_siblings(reduction_);
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

  TensorView* reduction_;
  const Order& order_;
  std::optional<std::unordered_set<const TensorView*>> found_;
};

/// Which tensors share, directly or through others, a loop that runs over (a part of) what one
/// reduction reduces.
class SharedLoops {
 public:
  SharedLoops(
      const ValGraph& graph,
      TensorView* reduction,
      const InlineLimits::Positions& positions,
      Alignments& alignments)
      : graph_(graph), reduction_(reduction), positions_(positions), alignments_(alignments) {
    IterDomains reduced;
    for (const TensorView* tensor : with_siblings(reduction)) {
      const IterDomains axes = combined_axes(tensor);
      reduced.insert(reduced.end(), axes.begin(), axes.end());
    }
    touched_ = touched_groups(graph, reduced);
  }

  /// The deepest position at which `tensor` is inside no such loop, neither of its own axes nor of
  /// those it stands inside of in a consumer. Positions may have changed since the last call of
  /// `path_to` only.
  [[nodiscard]] int64_t outside(TensorView* tensor) {
    // Consumers first, as far as they are inlined themselves.
    std::vector<TensorView*> stack;
    if (outside_.count(tensor) == 0) {
      stack.push_back(tensor);
    }
    while (!stack.empty()) {
      TensorView* current = stack.back();
      const size_t size = stack.size();
      for (TensorView* consumer : current->consumers()) {
        if (InlineLimits::position_of(positions_, consumer) > 0 && outside_.count(consumer) == 0) {
          stack.push_back(consumer);
        }
      }
      if (stack.size() == size) {
        stack.pop_back();
        if (outside_.count(current) == 0) {
          outside_.emplace(current, find_outside(current));
        }
      }
    }
    return outside_.at(tensor);
  }

  /// Tensors on the way from the reduction to the nearest of `goals`, from neighbor to neighbor
  /// that share the loop, each with whether the way came up to it from a consumer. Empty if there
  /// is none.
  [[nodiscard]] std::vector<std::pair<TensorView*, bool>> path_to(Dependents& goals) {
    outside_.clear();
    std::unordered_map<TensorView*, std::pair<TensorView*, bool>> came_from; // tensor, upward
    std::deque<TensorView*> queue;
    const auto visit = [&](TensorView* tensor, TensorView* from, bool is_up) {
      if (came_from.try_emplace(tensor, from, is_up).second) {
        queue.push_back(tensor);
      }
    };
    visit(reduction_, nullptr, true);
    while (!queue.empty()) {
      TensorView* tensor = queue.front();
      queue.pop_front();
      if (goals.contain(tensor)) {
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
  [[nodiscard]] bool shares_loop(TensorView* producer) {
    const int64_t position = InlineLimits::position_of(positions_, producer);
    return position > 0 && position > outside(producer);
  }

  [[nodiscard]] bool is_touched(const IterDomain* axis) const {
    return touched_.count(graph_.group(axis)) != 0;
  }

  [[nodiscard]] int64_t find_outside(const TensorView* tensor) {
    const IterDomains& loop = tensor->loop();
    const auto own = std::find_if(
        loop.begin(), loop.end(), [&](const IterDomain* axis) { return is_touched(axis); });
    int64_t position = own - loop.begin();
    for (const TensorView* consumer : tensor->consumers()) {
      // First loop around the consumer, counted in its own axes, that is such a loop.
      const auto& axes = consumer->loop();
      int64_t first =
          std::find_if(
              axes.begin(), axes.end(), [&](const auto* axis) { return is_touched(axis); }) -
          axes.begin();
      const auto around = outside_.find(consumer);
      if (around != outside_.end() &&
          around->second < InlineLimits::position_of(positions_, consumer)) {
        first = std::min(first, around->second);
      }
      const std::vector<int64_t>& partners = alignments_(tensor, consumer).consumer_axis;
      for (int64_t i = 0; i < position; ++i) {
        if (partners[static_cast<size_t>(i)] >= first) {
          position = i;
        }
      }
    }
    return position;
  }

  const ValGraph& graph_;
  TensorView* reduction_;
  const InlineLimits::Positions& positions_;
  Alignments& alignments_;
  std::unordered_set<int64_t> touched_;
  std::unordered_map<const TensorView*, int64_t> outside_; // of present positions
};

/// The first tensor that the way goes up to and then down from, if it may be lowered. Where none of
/// those may, the first that is inlined into a neighbor on the way, so that the call that closes
/// the way is the one that stops, whichever it is.
TensorView* peak_of(
    const std::vector<std::pair<TensorView*, bool>>& path,
    const std::unordered_set<const TensorView*>& adjustable) {
  TensorView* inlined = nullptr;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const auto& [tensor, is_up] = path[i];
    const auto& [next, is_next_up] = path[i + 1];
    if (is_up && !is_next_up && adjustable.count(tensor) != 0) {
      return tensor;
    }
    TensorView* producer = is_next_up ? next : tensor;
    if (inlined == nullptr && next->definition() != tensor->definition() &&
        adjustable.count(producer) != 0) {
      inlined = producer;
    }
  }
  return inlined;
}

} // namespace

const ValGraph& InlineLimits::graph(IdMappingMode mode) {
  if (model_ == nullptr) {
    model_ = shared_id_model(fusion_);
  }
  return model_->maybe_build_graph(mode);
}

void InlineLimits::separate_reductions(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  const Order order = order_of(tensor_exprs(fusion_));
  for (TensorView* tensor : scheduled_tensors(fusion_)) {
    if (tensor->definition() == nullptr || combined_axes(tensor).empty() ||
        with_siblings(tensor).front() != tensor) {
      continue;
    }
    SharedLoops shared(graph(IdMappingMode::broadcast), tensor, positions, alignments_);
    Dependents dependents(tensor, order);
    while (true) {
      const auto path = shared.path_to(dependents);
      TensorView* peak = peak_of(path, adjustable);
      if (peak == nullptr) {
        break;
      }
      int64_t lowered = shared.outside(peak);
      for (TensorView* sibling : with_siblings(peak)) {
        lowered = std::min(lowered, shared.outside(sibling));
      }
      for (const TensorView* sibling : with_siblings(peak)) {
        positions[sibling] = lowered;
      }
    }
  }
}

void InlineLimits::keep_reductions_whole(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  for (TensorView* tensor : scheduled_tensors(fusion_)) {
    if (tensor->definition() == nullptr || !has_reduction_axis(tensor) ||
        with_siblings(tensor).front() != tensor) {
      continue;
    }
    OneLoop loop(positions, alignments_);
    for (int64_t axis = position_of(positions, tensor); axis < tensor->ndims(); ++axis) {
      const SourceAxes own(graph(IdMappingMode::exact), tensor->axis(axis));
      const auto is_wider = [&](const OneLoop::Node& node) {
        return own.are_exceeded_by(node.tensor->axis(node.axis));
      };
      while (const auto peak = loop.peak_before({tensor, axis}, is_wider, adjustable)) {
        for (const TensorView* sibling : with_siblings(peak->tensor)) {
          positions[sibling] = peak->axis;
        }
      }
    }
  }
}

void InlineLimits::keep_readers_outside(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  for (TensorView* tensor : scheduled_tensors(fusion_)) {
    if (tensor->definition() == nullptr) {
      continue;
    }
    OneLoop loop(positions, alignments_);
    for (int64_t axis = position_of(positions, tensor); axis < tensor->ndims(); ++axis) {
      const IterDomain* id = tensor->axis(axis);
      if (id->is_reduction() || id->is_thread() || id->extent()->is_one()) {
        continue;
      }
      OneLoop::Tensors readers; // at other positions
      for (const TensorView* consumer : tensor->consumers()) {
        if (alignments_(tensor, consumer).consumer_axis[static_cast<size_t>(axis)] < 0) {
          readers.insert(consumer);
        }
      }
      const auto reads = [&](const OneLoop::Node& node) { return readers.contains(node.tensor); };
      while (const auto peak = loop.peak_before_inside({tensor, axis}, reads, adjustable)) {
        for (const TensorView* sibling : with_siblings(peak->tensor)) {
          positions[sibling] = peak->axis;
        }
      }
    }
  }
}

} // namespace nvfuser::transform
