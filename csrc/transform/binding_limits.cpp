// Inlining positions that leave every loop with one binding, and every tensor with one loop for
// each hardware index.
//
// Axes that are inlined into each other share a loop, which has the binding of any of them. So a
// binding may reach a tensor that does not have it: through a producer, a consumer, or both.
//
// The axes of all tensors are nodes of a graph; a loop is a connected part of it. Lowering a
// position takes edges away, so loops only fall apart. The facts of a loop about its axes are kept
// up to date: the smaller part moves to a loop of its own, at the cost of its axes alone.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "ir/all_nodes.h"
#include "transform/inline_limits.h"

namespace nvfuser::transform {

/// The loops that positions lead to, and what is wrong with their bindings.
class InlineLimits::LoopBindings {
 public:
  LoopBindings(InlineLimits& limits, Positions& positions)
      : limits_(limits), positions_(positions) {
    const std::vector<Expr*> exprs = tensor_exprs(limits.fusion_);
    for_each_tensor(exprs, [&](const TensorView* tensor) { add(tensor); });
    num_tensors_ = tensors_.size();
    for (const Expr* expr : exprs) {
      connect(tensor_outputs(expr));
    }
    find_loops();
  }

  /// Lower positions of `adjustable` tensors, producers first, until none shares a loop that
  /// clashes or that a reduction in it must not have.
  void lower(const std::unordered_set<const TensorView*>& adjustable) {
    while (lower_once(adjustable)) {
    }
  }

 private:
  struct Tensor {
    const TensorView* view;
    size_t first_axis;
  };
  struct Axis {
    const IterDomain* id;
    size_t tensor;
    std::vector<size_t> neighbors;
    size_t loop = 0;
  };
  struct Loop {
    // Bound axes, in the order of tensors. Broadcasts follow the others.
    std::set<size_t> bound;
    std::set<size_t> bound_broadcasts;
    std::map<ParallelType, int> types; // of `bound`, and how often
    std::map<size_t, int> beside;      // other loops, and how many tensors are in both
  };

  template <typename Fn>
  static void for_each_tensor(const std::vector<Expr*>& exprs, const Fn& fn) {
    for (const Expr* expr : exprs) {
      for (const TensorView* out : tensor_outputs(expr)) {
        fn(out);
      }
    }
  }

  /// One pass over all tensors. Whether a position was lowered: a reduction that was looked at
  /// before may then have lost a binding.
  bool lower_once(const std::unordered_set<const TensorView*>& adjustable) {
    bool is_lowered = false;
    for (size_t tensor = 0; tensor < num_tensors_;) {
      const bool may_be_lowered = adjustable.contains(tensors_[tensor].view);
      const std::optional<int64_t> axis =
          may_be_lowered ? first_clash(tensor) : std::optional<int64_t>();
      if (!axis) {
        ++tensor;
        continue;
      }
      is_lowered = true;
      if (lower(tensor, *axis)) {
        tensor = 0;
      }
    }
    return is_lowered;
  }

  // -- The graph --

  size_t add(const TensorView* tensor) {
    const auto [known, is_new] = number_.try_emplace(tensor, tensors_.size());
    if (is_new) {
      tensors_.push_back({tensor, axes_.size()});
      for (const IterDomain* axis : tensor->loop()) {
        axes_.push_back({axis, known->second, {}});
      }
    }
    return known->second;
  }

  [[nodiscard]] size_t node_of(const TensorView* tensor, int64_t axis) {
    return tensors_[add(tensor)].first_axis + static_cast<size_t>(axis);
  }

  /// Axes of siblings, and those left of the position with their partners.
  void connect(const std::vector<TensorView*>& outs) {
    for (TensorView* out : outs) {
      for (int64_t i = 0; out != outs.front() && i < out->ndims(); ++i) {
        if (i < outs.front()->ndims()) {
          connect(node_of(out, i), node_of(outs.front(), i));
        }
      }
      for_each_edge(out, 0, position_of(positions_, out), [&](size_t axis, size_t partner) {
        connect(axis, partner);
      });
    }
  }

  void connect(size_t a, size_t b) {
    axes_[a].neighbors.push_back(b);
    axes_[b].neighbors.push_back(a);
  }

  /// Call fn(axis, partner) for the axes of `tensor` in [begin, end) and those of its consumers.
  template <typename Fn>
  void for_each_edge(const TensorView* tensor, int64_t begin, int64_t end, const Fn& fn) {
    for (const TensorView* consumer : tensor->consumers()) {
      const auto& partners = limits_.alignments_(tensor, consumer).consumer_axis;
      for (int64_t i = begin; i < end; ++i) {
        if (const int64_t partner = partners[static_cast<size_t>(i)]; partner >= 0) {
          const size_t of_consumer = node_of(consumer, partner);
          fn(node_of(tensor, i), of_consumer);
        }
      }
    }
  }

  /// The nodes that hang together with `a`, or those with `b`, whichever are fewer; empty: these
  /// are the same.
  [[nodiscard]] std::vector<size_t> smaller_part(size_t a, size_t b) const {
    std::array<std::vector<size_t>, 2> parts{std::vector{a}, std::vector{b}};
    std::array<std::unordered_set<size_t>, 2> met{
        std::unordered_set<size_t>{a}, std::unordered_set<size_t>{b}};
    for (size_t next = 0;; ++next) {
      for (const size_t side : {0, 1}) {
        if (next == parts[side].size()) {
          return parts[side];
        }
        for (const size_t neighbor : axes_[parts[side][next]].neighbors) {
          if (met[1 - side].contains(neighbor)) {
            return {};
          }
          if (met[side].insert(neighbor).second) {
            parts[side].push_back(neighbor);
          }
        }
      }
    }
  }

  // -- Loops --

  void find_loops() {
    std::vector<bool> is_met(axes_.size(), false);
    for (size_t first = 0; first < axes_.size(); ++first) {
      if (is_met[first]) {
        continue;
      }
      is_met[first] = true;
      std::vector<size_t> part{first};
      for (size_t next = 0; next < part.size(); ++next) {
        axes_[part[next]].loop = loops_.size();
        for (const size_t neighbor : axes_[part[next]].neighbors) {
          if (!is_met[neighbor]) {
            is_met[neighbor] = true;
            part.push_back(neighbor);
          }
        }
      }
      loops_.emplace_back();
    }
    for (size_t axis = 0; axis < axes_.size(); ++axis) {
      count_binding(axis, 1);
    }
    for (size_t tensor = 0; tensor < num_tensors_; ++tensor) {
      count_loops(tensor, 1);
    }
  }

  /// Let the loop of an axis know its binding (`change` 1) or forget it (-1).
  void count_binding(size_t axis, int change) {
    const IterDomain* id = axes_[axis].id;
    if (!id->is_parallelized() || axes_[axis].tensor >= num_tensors_) {
      return;
    }
    Loop& loop = loops_[axes_[axis].loop];
    std::set<size_t>& bound = id->is_broadcast() ? loop.bound_broadcasts : loop.bound;
    change > 0 ? static_cast<void>(bound.insert(axis)) : static_cast<void>(bound.erase(axis));
    if (!id->is_broadcast()) {
      add_to(loop.types, id->parallel_type(), change);
    }
  }

  /// Let the loops around a tensor know of each other (`change` 1), or forget it (-1).
  void count_loops(size_t tensor, int change) {
    std::set<size_t> around;
    for (size_t i = 0; i < tensors_[tensor].view->loop().size(); ++i) {
      around.insert(axes_[tensors_[tensor].first_axis + i].loop);
    }
    for (const size_t a : around) {
      for (const size_t b : around) {
        if (a != b) {
          add_to(loops_[a].beside, b, change);
        }
      }
    }
  }

  template <typename Key>
  static void add_to(std::map<Key, int>& counts, Key key, int change) {
    int& count = counts[key];
    count += change;
    if (count == 0) {
      counts.erase(key);
    }
  }

  /// As the loop model of lowering decides it.
  [[nodiscard]] ParallelType binding_of(const Loop& loop) const {
    const std::set<size_t>& deciding = loop.bound.empty() ? loop.bound_broadcasts : loop.bound;
    return deciding.empty() ? ParallelType::Serial : axes_[*deciding.begin()].id->parallel_type();
  }

  /// Whether a loop has two bindings, or one that another loop around a tensor in it has.
  [[nodiscard]] bool clashes(size_t loop) const {
    if (loops_[loop].types.size() > 1) {
      return true;
    }
    const ParallelType type = binding_of(loops_[loop]);
    return is_hardware_index(type) &&
           std::ranges::any_of(loops_[loop].beside, [&](const auto& other) {
             return binding_of(loops_[other.first]) == type;
           });
  }

  /// The binding of the loop of an axis.
  [[nodiscard]] ParallelType binding_at(const TensorView* tensor, int64_t axis) const {
    const auto known = number_.find(tensor);
    if (known == number_.end()) {
      return tensor->axis(axis)->parallel_type();
    }
    const size_t node = tensors_[known->second].first_axis + static_cast<size_t>(axis);
    return binding_of(loops_[axes_[node].loop]);
  }

  // -- Reductions --

  /// Whether an axis of a reduction is bound to nothing, but stands in a loop that is bound through
  /// other tensors, where no kernel has the reduction so: its result is needed in all threads, or
  /// in all blocks.
  ///   a[i0 threadIdx.x, i1] -> s = sum(a, [1]), not inlined: s[i0] is stored by every thread
  [[nodiscard]] bool is_foreign(const TensorView* tensor, int64_t i) const {
    const IterDomain* axis = tensor->axis(i);
    const ParallelType type = binding_at(tensor, i);
    if (axis->is_parallelized() || axis->is_broadcast() || !is_hardware_index(type) ||
        std::ranges::none_of(tensor->loop(), &IterDomain::is_reduction)) {
      return false;
    }
    if (!axis->is_reduction()) {
      return position_of(positions_, tensor) <= i && is_needed_outside(tensor, i, type);
    }
    bool has_serial = false;
    for (int64_t other = 0; other < tensor->ndims(); ++other) {
      has_serial = has_serial || (!tensor->axis(other)->is_broadcast() &&
                                  !is_hardware_index(binding_at(tensor, other)));
    }
    return is_grid_dim(type) && has_serial;
  }

  /// Whether a result that one thread or block has for itself is stored, or read by others.
  [[nodiscard]] bool is_needed_outside(
      const TensorView* tensor, int64_t i, ParallelType type) const {
    return tensor->is_fusion_output() || tensor->memory_type() != MemoryType::Local ||
           std::ranges::any_of(tensor->consumers(), [&](const TensorView* reader) {
             const int64_t partner = partner_of(tensor, i, reader);
             return partner < 0 || binding_at(reader, partner) != type;
           });
  }

  [[nodiscard]] int64_t partner_of(
      const TensorView* tensor, int64_t i, const TensorView* reader) const {
    return limits_.alignments_(tensor, reader).consumer_axis[static_cast<size_t>(i)];
  }

  /// Whether an axis of one element stands in a loop that is bound and has more of other tensors,
  /// while a reader looks for that element elsewhere: it would be in a register of one thread.
  ///   a[b0] -> s[b0], a -> t[i0 threadIdx.x], y = pad(s): s stays outside of the loop
  [[nodiscard]] bool is_spread(
      const TensorView* producer, int64_t axis, const TensorView* tensor, int64_t i) const {
    if (!tensor->axis(i)->is_broadcast() || tensor->memory_type() != MemoryType::Local ||
        !is_hardware_index(binding_at(tensor, i))) {
      return false;
    }
    const auto others = producer->consumers();
    const bool has_more = std::ranges::any_of(others, [&](const TensorView* other) {
      const int64_t partner = partner_of(producer, axis, other);
      return partner >= 0 && !other->axis(partner)->is_broadcast();
    });
    return has_more && std::ranges::any_of(tensor->consumers(), [&](const TensorView* reader) {
             return partner_of(tensor, i, reader) < 0;
           });
  }

  // -- Positions --

  /// The first axis left of a tensor's position whose loop clashes, or that brings a consumer into
  /// a loop that it must not have.
  [[nodiscard]] std::optional<int64_t> first_clash(size_t tensor) const {
    const TensorView* view = tensors_[tensor].view;
    const int64_t position = position_of(positions_, view);
    for (int64_t i = 0; i < position; ++i) {
      const bool is_shared_badly =
          std::ranges::any_of(view->consumers(), [&](const TensorView* reader) {
            const int64_t partner = partner_of(view, i, reader);
            return partner >= 0 &&
                   (is_foreign(reader, partner) || is_spread(view, i, reader, partner));
          });
      if (is_shared_badly ||
          clashes(axes_[tensors_[tensor].first_axis + static_cast<size_t>(i)].loop)) {
        return i;
      }
    }
    return std::nullopt;
  }

  /// Lower a tensor and its siblings; whether a loop clashes then that did not before, so that
  /// tensors that were looked at have to be again.
  bool lower(size_t tensor, int64_t position) {
    std::vector<std::pair<size_t, size_t>> cut;
    for (const TensorView* out : tensor_outputs(tensors_[tensor].view->definition())) {
      const int64_t before = position_of(positions_, out);
      for_each_edge(out, position, before, [&](size_t axis, size_t partner) {
        cut.emplace_back(axis, partner);
      });
      positions_[out] = std::min(position, before);
    }
    for (const auto& [axis, partner] : cut) {
      disconnect(axes_[axis].neighbors, partner);
      disconnect(axes_[partner].neighbors, axis);
    }
    bool is_worse = false;
    for (const auto& [axis, partner] : cut) {
      if (axes_[axis].loop == axes_[partner].loop) {
        is_worse = separate(smaller_part(axis, partner), axes_[axis].loop) || is_worse;
      }
    }
    return is_worse;
  }

  static void disconnect(std::vector<size_t>& neighbors, size_t other) {
    const auto found = std::ranges::find(neighbors, other);
    *found = neighbors.back();
    neighbors.pop_back();
  }

  /// Give `part` of a loop a loop of its own.
  bool separate(const std::vector<size_t>& part, size_t loop) {
    if (part.empty()) {
      return false;
    }
    const std::set<size_t> clashing = clashing_around(loop);
    const bool was_clashing = clashing.contains(loop);
    std::set<size_t> tensors;
    for (const size_t axis : part) {
      if (axes_[axis].tensor < num_tensors_) {
        tensors.insert(axes_[axis].tensor);
      }
    }
    std::ranges::for_each(tensors, [&](size_t tensor) { count_loops(tensor, -1); });
    const size_t own = loops_.size();
    loops_.emplace_back();
    for (const size_t axis : part) {
      count_binding(axis, -1);
      axes_[axis].loop = own;
      count_binding(axis, 1);
    }
    std::ranges::for_each(tensors, [&](size_t tensor) { count_loops(tensor, 1); });
    const auto is_new = [&](size_t other) {
      return other == own ? !was_clashing : !clashing.contains(other);
    };
    return std::ranges::any_of(clashing_around(loop), is_new) ||
           std::ranges::any_of(clashing_around(own), is_new);
  }

  /// Those of a loop and of the loops beside it that clash.
  [[nodiscard]] std::set<size_t> clashing_around(size_t loop) const {
    std::set<size_t> clashing;
    if (clashes(loop)) {
      clashing.insert(loop);
    }
    for (const auto& [other, count] : loops_[loop].beside) {
      if (clashes(other)) {
        clashing.insert(other);
      }
    }
    return clashing;
  }

  InlineLimits& limits_;
  Positions& positions_;
  std::vector<Tensor> tensors_; // in the order of expressions, then consumers that lead nowhere
  size_t num_tensors_ = 0;      // without those
  std::unordered_map<const TensorView*, size_t> number_;
  std::vector<Axis> axes_;
  std::vector<Loop> loops_;
};

void InlineLimits::keep_bindings(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  LoopBindings(*this, positions).lower(adjustable);
}

} // namespace nvfuser::transform
