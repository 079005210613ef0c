#include "transform/inline.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "graph/domain_map.h"
#include "transform/inline_limits.h"
#include "transform/inline_positions.h"
#include "transform/rules.h"
#include "transform/spanning_tree.h"

namespace nvfuser::transform {
namespace {

using TensorSet = std::unordered_set<const TensorView*>;

/// Tensors that can be inlined, in creation order: of every expression the first output.
std::vector<TensorView*> inlinable(Fusion& fusion, const std::vector<TensorView*>& selected) {
  TensorSet wanted;
  for (TensorView* tensor : selected) {
    fusion.check_contains(tensor);
    wanted.insert(with_siblings(tensor).front());
  }
  std::vector<TensorView*> tensors = scheduled_tensors(fusion);
  std::erase_if(tensors, [&](TensorView* tensor) {
    return tensor->definition() == nullptr || with_siblings(tensor).front() != tensor ||
           (!selected.empty() && wanted.count(tensor) == 0);
  });
  return tensors;
}

bool is_read(TensorView* tensor) {
  const std::vector<TensorView*> outs = with_siblings(tensor);
  return std::any_of(
      outs.begin(), outs.end(), [](const TensorView* out) { return !out->consumers().empty(); });
}

void set_position(TensorView* tensor, int64_t position, Alignments& alignments) {
  for (TensorView* out : with_siblings(tensor)) {
    out->assign_compute_at_position(position);
    if (position == 0 || position >= out->compute_with_position()) {
      out->assign_compute_with(0);
    }
  }
  for (TensorView* out : with_siblings(tensor)) {
    for (TensorView* consumer : out->consumers()) {
      update_produce_positions(consumer, alignments);
    }
  }
}

/// The positions that tensors (first siblings) get.
struct Inlining {
  InlineLimits::Positions positions;
  TensorSet adjustable; // that get deeper than they are
};

/// The positions asked for, or above them where `tensors` may not go so deep; without `best_effort`
/// that is refused. `all_at_once`: no later call inlines what stands between them.
std::optional<Refusal> find_positions(
    const std::vector<TensorView*>& tensors,
    const InlineLimits::Positions& asked,
    InlineLimits& limits,
    bool best_effort,
    bool all_at_once,
    Inlining& inlining) {
  auto& [positions, adjustable] = inlining;
  const auto list = [&positions](TensorView* tensor, int64_t position) {
    for (const TensorView* out : with_siblings(tensor)) {
      positions[out] = position;
    }
  };
  for (TensorView* tensor : tensors) {
    const int64_t position = asked.at(tensor);
    if (!is_read(tensor) || position <= tensor->compute_at_position()) {
      continue;
    }
    list(tensor, std::min(position, limits.pair_limit(tensor)));
    for (const TensorView* out : with_siblings(tensor)) {
      adjustable.insert(out);
    }
  }
  limits.lower(positions, adjustable);
  if (best_effort) {
    limits.keep_bindings(positions, adjustable);
  }
  if (all_at_once) {
    while (limits.keep_ways_inside(positions, adjustable)) {
      limits.keep_bindings(positions, adjustable);
    }
  }
  for (const TensorView* tensor : tensors) {
    if (best_effort || adjustable.count(tensor) == 0 || positions.at(tensor) >= asked.at(tensor)) {
      continue;
    }
    return refuse_position(tensor, asked.at(tensor), positions.at(tensor));
  }
  return std::nullopt;
}

/// Inline `tensors` (first siblings) at the positions of `find_positions`; a refusal changes
/// nothing.
std::optional<Refusal> try_inline_tensors(
    const std::vector<TensorView*>& tensors,
    const InlineLimits::Positions& asked,
    InlineLimits& limits,
    bool best_effort,
    bool all_at_once = false) {
  Inlining inlining;
  NVF_RETURN_REFUSAL(find_positions(tensors, asked, limits, best_effort, all_at_once, inlining));
  for (TensorView* tensor : tensors) {
    const bool is_deeper = inlining.adjustable.contains(tensor) &&
                           inlining.positions.at(tensor) > tensor->compute_at_position();
    if (is_deeper) {
      set_position(tensor, inlining.positions.at(tensor), limits.alignments());
    }
  }
  return std::nullopt;
}

/// Per tensor: the deepest position whose axes all correspond to the first `position` axes of the
/// reference. Axes correspond along the maximum-information spanning tree.
InlineLimits::Positions translated_positions(
    TensorView* reference, int64_t position, Alignments& alignments) {
  std::unordered_map<const TensorView*, std::vector<bool>> corresponds;
  std::vector<bool>& of_reference = corresponds[reference];
  for (int64_t i = 0; i < reference->ndims(); ++i) {
    of_reference.push_back(i < position);
  }
  for (const TreeEdge& edge : spanning_tree(reference)) {
    const std::vector<bool>& from = corresponds.at(edge.from);
    std::vector<bool> to(static_cast<size_t>(edge.to->ndims()), false);
    if (edge.direction == Direction::ToSibling) {
      to = from;
    } else {
      const bool is_up = edge.direction == Direction::ToProducer;
      const std::vector<int64_t>& partners = is_up ? alignments(edge.to, edge.from).consumer_axis
                                                   : alignments(edge.from, edge.to).consumer_axis;
      for (size_t i = 0; i < partners.size(); ++i) {
        if (partners[i] >= 0) {
          const auto partner = static_cast<size_t>(partners[i]);
          is_up ? to[i] = from[partner] : to[partner] = from[i];
        }
      }
    }
    corresponds[edge.to] = std::move(to);
  }
  InlineLimits::Positions positions;
  // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order): into another map
  for (const auto& [tensor, axes] : corresponds) {
    positions[tensor] = std::find(axes.begin(), axes.end(), false) - axes.begin();
  }
  return positions;
}

/// Tensors and the positions asked for, one for each at most.
using Asked = std::vector<std::pair<TensorView*, int64_t>>;

/// The first siblings of the tensors that are computed, and their positions from the first axis.
std::optional<Refusal> find_wrong_asked(
    const Asked& positions,
    bool best_effort,
    std::vector<TensorView*>& tensors,
    InlineLimits::Positions& asked) {
  for (const auto& [tensor, position] : positions) {
    NVF_RETURN_REFUSAL(find_wrong_position(tensor, position, best_effort));
    const int64_t wrapped = wrap_position(tensor, position);
    if (tensor->definition() != nullptr) {
      tensors.push_back(with_siblings(tensor).front());
      asked[tensors.back()] = wrapped;
    } else if (wrapped != 0 && !best_effort) {
      return refuse_position(tensor, wrapped, 0);
    }
  }
  return std::nullopt;
}

/// Inline every tensor of the list.
std::optional<Refusal> try_inline_each(Fusion& fusion, const Asked& positions, bool best_effort) {
  InlineLimits limits(fusion);
  std::vector<TensorView*> tensors;
  InlineLimits::Positions asked;
  NVF_RETURN_REFUSAL(find_wrong_asked(positions, best_effort, tensors, asked));
  NVF_RETURN_REFUSAL(try_inline_tensors(tensors, asked, limits, best_effort));
  for (const auto& [tensor, position] : positions) {
    tensor->record_step(steps::InlineAt{.pos = position, .best_effort = best_effort});
  }
  return std::nullopt;
}

} // namespace

int64_t max_inline_position(TensorView* tensor) {
  InlineLimits limits(*tensor->fusion());
  InlineLimits::Positions positions;
  TensorSet adjustable;
  const int64_t limit = limits.pair_limit(tensor);
  for (const TensorView* out : with_siblings(tensor)) {
    positions[out] = limit;
    adjustable.insert(out);
  }
  limits.lower(positions, adjustable);
  return positions.at(tensor);
}

void inline_most(
    Fusion& fusion,
    const std::vector<TensorView*>& selected_tensors,
    const std::vector<IterDomain*>& uninlinable) {
  InlineLimits limits(fusion, uninlinable);
  const std::vector<TensorView*> tensors = inlinable(fusion, selected_tensors);
  InlineLimits::Positions asked;
  for (const TensorView* tensor : tensors) {
    asked[tensor] = tensor->ndims();
  }
  check(try_inline_tensors(tensors, asked, limits, /*best_effort=*/true, /*all_at_once=*/true));
}

void inline_most(const std::vector<TensorView*>& selected_tensors) {
  inline_most(Fusion::active(), selected_tensors);
}

std::optional<Refusal> try_inline_at(
    TensorView* reference,
    int64_t pos,
    bool best_effort,
    const std::vector<TensorView*>& selected_tensors) {
  InlineLimits limits(*reference->fusion());
  NVF_RETURN_REFUSAL(find_wrong_position(reference, pos, best_effort));
  const InlineLimits::Positions asked =
      translated_positions(reference, wrap_position(reference, pos), limits.alignments());
  std::vector<TensorView*> tensors = inlinable(*reference->fusion(), selected_tensors);
  std::erase_if(tensors, [&](const TensorView* tensor) { return asked.count(tensor) == 0; });
  NVF_RETURN_REFUSAL(try_inline_tensors(tensors, asked, limits, best_effort));
  reference->record_step(
      steps::InlineAllAt{
          .pos = pos, .best_effort = best_effort, .selected_tensors = selected_tensors});
  return std::nullopt;
}

void inline_at(
    TensorView* reference,
    int64_t pos,
    bool best_effort,
    const std::vector<TensorView*>& selected_tensors) {
  check(try_inline_at(reference, pos, best_effort, selected_tensors));
}

std::optional<Refusal> try_inline_each_at(const Asked& positions) {
  if (positions.empty()) {
    return std::nullopt;
  }
  Fusion& fusion = *positions.front().first->fusion();
  for (const auto& [tensor, position] : positions) {
    fusion.check_contains(tensor);
  }
  return try_inline_each(fusion, positions, /*best_effort=*/false);
}

void inline_each_at(const Asked& positions) {
  check(try_inline_each_at(positions));
}

std::optional<Refusal> find_wrong_inline_at(TensorView* tv, int64_t position) {
  InlineLimits limits(*tv->fusion());
  std::vector<TensorView*> tensors;
  InlineLimits::Positions asked;
  NVF_RETURN_REFUSAL(find_wrong_asked({{tv, position}}, /*best_effort=*/false, tensors, asked));
  Inlining inlining;
  return find_positions(
      tensors, asked, limits, /*best_effort=*/false, /*all_at_once=*/false, inlining);
}

void reset_inlining(Fusion& fusion) {
  for (TensorView* tensor : scheduled_tensors(fusion)) {
    tensor->assign_compute_at_position(0);
    tensor->assign_max_producer_position(0);
    tensor->assign_compute_with(0);
    tensor->assign_maybe_max_producer_position(0);
  }
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::inline_at(int64_t position, bool best_effort) {
  check(transform::try_inline_each(*fusion(), {{this, position}}, best_effort));
  return this;
}

void TensorView::clear_compute_position() {
  using namespace transform;
  if (compute_at_position() > 0 || compute_with_position() > 0) {
    Alignments alignments;
    set_position(this, 0, alignments);
  }
  record_step(steps::ClearComputePosition{});
}

} // namespace nvfuser
