// Inlining positions that leave every loop with one binding, and every tensor with one loop for
// each hardware index.
//
// Axes that are inlined into each other share a loop, which has the binding of any of them. So a
// binding may reach a tensor that does not have it: through a producer, a consumer, or both.
#include <algorithm>
#include <map>

#include "base/disjoint_set.h"
#include "ir/all_nodes.h"
#include "transform/inline_limits.h"

namespace nvfuser::transform {
namespace {

/// The binding of a loop: as the loop model of lowering decides it. Broadcasts follow the others.
struct Binding {
  ParallelType type = ParallelType::Serial;
  bool is_broadcast = false; // only broadcasts have it
  bool is_unclear = false;   // another axis has another one
};

} // namespace

/// The loops that positions lead to, and what is wrong with their bindings.
class InlineLimits::LoopBindings {
 public:
  LoopBindings(InlineLimits& limits, const Positions& positions, const std::vector<Expr*>& exprs)
      : limits_(limits), positions_(positions), exprs_(exprs) {
    for (const Expr* expr : exprs) {
      share(tensor_outputs(expr));
    }
    for_each_tensor([&](const TensorView* tensor) {
      for (IterDomain* axis : tensor->loop()) {
        decide(bindings_[loops_.root_index(axis)], axis);
      }
    });
    for_each_tensor([&](const TensorView* tensor) { find_repeated(tensor); });
    for_each_tensor([&](const TensorView* tensor) { find_foreign(tensor); });
  }

  /// A tensor of `adjustable` and the position it has to be lowered to; nullptr: none.
  [[nodiscard]] std::pair<const TensorView*, int64_t> find_conflict(
      const std::unordered_set<const TensorView*>& adjustable) {
    for (const Expr* expr : exprs_) {
      for (const TensorView* out : tensor_outputs(expr)) {
        const int64_t position = position_of(positions_, out);
        for (int64_t i = 0; i < position && adjustable.count(out) != 0; ++i) {
          if (clashes(out, i)) {
            return {out, i};
          }
        }
      }
    }
    return {nullptr, 0};
  }

 private:
  template <typename Fn>
  void for_each_tensor(const Fn& fn) const {
    for (const Expr* expr : exprs_) {
      for (const TensorView* out : tensor_outputs(expr)) {
        fn(out);
      }
    }
  }

  /// Join the axes of siblings, and those left of the position with their partners.
  void share(const std::vector<TensorView*>& outs) {
    for (const TensorView* out : outs) {
      for (int64_t i = 0; i < out->ndims(); ++i) {
        const bool has_sibling = i < outs.front()->ndims();
        loops_.map_entries(out->axis(i), has_sibling ? outs.front()->axis(i) : out->axis(i));
      }
      for (const TensorView* consumer : out->consumers()) {
        const auto& partners = limits_.alignments_(out, consumer).consumer_axis;
        for (int64_t i = 0; i < position_of(positions_, out); ++i) {
          if (const int64_t partner = partners[static_cast<size_t>(i)]; partner >= 0) {
            loops_.map_entries(out->axis(i), consumer->axis(partner));
          }
        }
      }
    }
  }

  static void decide(Binding& binding, const IterDomain* axis) {
    if (!axis->is_parallelized()) {
      return;
    }
    if (binding.type == ParallelType::Serial || (binding.is_broadcast && !axis->is_broadcast())) {
      binding = {axis->parallel_type(), axis->is_broadcast()};
    } else if (!axis->is_broadcast() && axis->parallel_type() != binding.type) {
      binding.is_unclear = true;
    }
  }

  /// Loops around `tensor` of which two are bound to one hardware index.
  void find_repeated(const TensorView* tensor) {
    std::map<ParallelType, size_t> bound;
    for (IterDomain* axis : tensor->loop()) {
      const size_t loop = loops_.root_index(axis);
      const ParallelType type = bindings_.at(loop).type;
      const auto [other, is_new] = bound.try_emplace(type, loop);
      if (is_hardware_index(type) && !is_new && other->second != loop) {
        repeated_.insert({other->second, loop});
      }
    }
  }

  [[nodiscard]] ParallelType binding_of(IterDomain* axis) const {
    return bindings_.at(loops_.root_index(axis)).type;
  }

  /// Axes of a reduction that are bound to nothing, in loops that are bound through other tensors,
  /// where no kernel has the reduction so: its result is needed in all threads, or in all blocks.
  ///   a[i0 threadIdx.x, i1] -> s = sum(a, [1]), not inlined: s[i0] is stored by every thread
  void find_foreign(const TensorView* tensor) {
    const IterDomains& loop = tensor->loop();
    if (std::ranges::none_of(loop, &IterDomain::is_reduction)) {
      return;
    }
    const bool has_serial = std::ranges::any_of(loop, [&](IterDomain* axis) {
      return !axis->is_broadcast() && !is_hardware_index(binding_of(axis));
    });
    for (int64_t i = 0; i < tensor->ndims(); ++i) {
      IterDomain* axis = tensor->axis(i);
      const ParallelType type = binding_of(axis);
      if (axis->is_parallelized() || axis->is_broadcast() || !is_hardware_index(type)) {
        continue;
      }
      const bool is_refused = axis->is_reduction() ? is_grid_dim(type) && has_serial
                                                   : position_of(positions_, tensor) <= i &&
                                                         is_needed_outside(tensor, i, type);
      if (is_refused) {
        foreign_.insert(axis);
      }
    }
  }

  /// Whether a result that one thread or block has for itself is stored, or read by others.
  [[nodiscard]] bool is_needed_outside(
      const TensorView* tensor, int64_t i, ParallelType type) const {
    return tensor->is_fusion_output() || tensor->memory_type() != MemoryType::Local ||
           std::ranges::any_of(tensor->consumers(), [&](const TensorView* reader) {
             const int64_t partner =
                 limits_.alignments_(tensor, reader).consumer_axis[static_cast<size_t>(i)];
             return partner < 0 || binding_of(reader->axis(partner)) != type;
           });
  }

  /// Whether the loop that `tensor` shares at axis `i` has two bindings, one that another loop
  /// around a tensor in it has, or one that a reduction there must not have.
  [[nodiscard]] bool clashes(const TensorView* tensor, int64_t i) const {
    const size_t loop = loops_.root_index(tensor->axis(i));
    return repeated_.count(loop) != 0 || bindings_.at(loop).is_unclear ||
           std::ranges::any_of(tensor->consumers(), [&](const TensorView* reader) {
             const int64_t partner =
                 limits_.alignments_(tensor, reader).consumer_axis[static_cast<size_t>(i)];
             return partner >= 0 && foreign_.count(reader->axis(partner)) != 0;
           });
  }

  InlineLimits& limits_;
  const Positions& positions_;
  const std::vector<Expr*>& exprs_;
  DisjointSets<IterDomain*> loops_;
  std::unordered_map<size_t, Binding> bindings_; // by loops
  std::unordered_set<size_t> repeated_;          // loops
  std::unordered_set<const IterDomain*> foreign_;
};

void InlineLimits::keep_bindings(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  const std::vector<Expr*> exprs = tensor_exprs(fusion_);
  for (;;) {
    const auto [tensor, position] = LoopBindings(*this, positions, exprs).find_conflict(adjustable);
    if (tensor == nullptr) {
      return;
    }
    for (const TensorView* out : tensor_outputs(tensor->definition())) {
      positions[out] = position;
    }
  }
}

} // namespace nvfuser::transform
