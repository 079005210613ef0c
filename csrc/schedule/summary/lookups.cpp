#include "schedule/summary/lookups.h"

#include <algorithm>
#include <unordered_set>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"

namespace nvfuser::schedule {
namespace {

using Extents = std::vector<std::vector<const Val*>>;

/// The way of one lane from the loops of the reference to the memory of the operand.
class LaneSearch {
 public:
  LaneSearch(const ValGraph& exact, const TensorView* result, const TensorView* operand)
      : exact_(exact), result_(result), operand_(operand), uses_(axes_of_use(operand, result)) {}

  [[nodiscard]] VectorRun find(IterDomain* lanes) {
    if (!climb(lanes)) {
      return {};
    }
    const std::optional<size_t> dim = dimension_of_lanes();
    return dim && !are_looked_up(*dim) ? run_in_memory(*dim) : VectorRun{};
  }

 private:
  /// Goes through reshapes and pads behind the result to one of its dimensions.
  bool climb(IterDomain* axis) {
    const int64_t group = exact_.group(axis);
    if (!climbed_.insert(group).second) {
      return false;
    }
    add_extent(axis->extent());
    if (position_in(result_->logical(), group)) {
      lanes_ = group;
      return true;
    }
    for (const Expr* made_by : exact_.definitions(group)) {
      const size_t known = multiples_.size();
      if (IterDomain* inner = whole_vectors_in(*made_by, axis); inner != nullptr && climb(inner)) {
        return true;
      }
      multiples_.resize(known);
    }
    return false;
  }

  /// The axis that neighbours of `axis` are neighbours along, nullptr if they may not be.
  IterDomain* whole_vectors_in(const Expr& made_by, const IterDomain* axis) {
    if (const auto* resize = made_by.as<Resize>()) {
      add_resize(*resize);
      return resize->in;
    }
    if (const auto* merge = made_by.as<Merge>()) {
      return merge->inner;
    }
    const auto* split = made_by.as<Split>();
    return split != nullptr && exact_.are_mapped(split->inner, axis) ? split->in : nullptr;
  }

  [[nodiscard]] std::optional<size_t> dimension_of_lanes() {
    const std::optional<size_t> dim = position_in(result_->logical(), lanes_);
    const IterDomain* logical = result_->logical()[*dim];
    if (!result_->has_root() || logical == result_->root().at(*dim)) {
      return dim;
    }
    const auto* resize =
        logical->definition() == nullptr ? nullptr : logical->definition()->as<Resize>();
    if (resize == nullptr) {
      return std::nullopt;
    }
    add_resize(*resize);
    return dim;
  }

  /// Whether another operand holds a position for each lane.
  [[nodiscard]] bool are_looked_up(size_t dim) const {
    const bool is_lookup = std::ranges::any_of(
        uses_, [](const AxisUse& use) { return use.read == AxisRead::Indexed; });
    if (!is_lookup) {
      return false;
    }
    const std::vector<TensorView*> operands = tensor_inputs(result_->definition());
    return std::ranges::any_of(operands, [&](const TensorView* operand) {
      if (operand == operand_ && operands.size() > 1) {
        return false;
      }
      const IterDomains axes = TensorDomain::no_reductions(operand->logical());
      const std::vector<AxisUse> uses = axes_of_use(operand, result_);
      for (size_t i = 0; i < axes.size(); ++i) {
        if (uses[i].position == static_cast<int64_t>(dim) && !axes[i]->is_broadcast()) {
          return true;
        }
      }
      return false;
    });
  }

  /// The dimension of the operand that the lanes read along has to be innermost in memory.
  [[nodiscard]] VectorRun run_in_memory(size_t dim) {
    const IterDomains axes = TensorDomain::no_reductions(operand_->logical());
    const IterDomains memory = memory_axes(operand_);
    const IterDomains& allocation = operand_->maybe_allocation();
    for (size_t i = memory.size(); i-- > 0;) {
      if (memory[i]->is_broadcast()) {
        continue;
      }
      const auto read = std::ranges::find(axes, memory[i]) - axes.begin();
      const auto place = std::ranges::find(allocation, memory[i]) - allocation.begin();
      const bool is_contiguous =
          operand_->domain()->contiguity()[static_cast<size_t>(place)].value_or(false);
      const AxisUse* use =
          static_cast<size_t>(read) < uses_.size() ? &uses_[static_cast<size_t>(read)] : nullptr;
      const bool is_read_along = use != nullptr && use->position == static_cast<int64_t>(dim) &&
                                 use->read <= AxisRead::Resized;
      if (!is_contiguous || !is_read_along) {
        return {};
      }
      add_extent(memory[i]->extent());
      return {.exists = true, .multiples = multiples_, .memory_axes = {static_cast<int64_t>(i)}};
    }
    return {};
  }

  [[nodiscard]] std::optional<size_t> position_in(const IterDomains& axes, int64_t group) const {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (exact_.group(axes[i]) == group) {
        return i;
      }
    }
    return std::nullopt;
  }

  void add_extent(const Val* extent) {
    multiples_.push_back({extent});
  }
  void add_resize(const Resize& resize) {
    add_extent(resize.left);
    add_extent(resize.in->extent());
    add_extent(resize.out->extent());
  }

  const ValGraph& exact_;
  const TensorView* result_;
  const TensorView* operand_;
  std::vector<AxisUse> uses_; // of the operand
  Extents multiples_;
  std::unordered_set<int64_t> climbed_; // a reshape that is undone leads back
  int64_t lanes_ = 0;                   // class of the dimension of the result
};

/// The input that `expr` copies elements of, from elsewhere.
const TensorView* looked_up_input(const Expr* expr) {
  const TensorView* operand = copied_operand(expr);
  const bool is_elsewhere = semantics_of(*expr).read == OperandRead::Elsewhere;
  return operand != nullptr && is_elsewhere && operand->is_fusion_input() ? operand : nullptr;
}

} // namespace

std::vector<LookupAccess> find_lookups(
    const Fusion& fusion,
    const ValGraph& exact,
    const std::vector<Expr*>& exprs,
    const IterDomains& axes) {
  std::vector<LookupAccess> found;
  const auto lanes = std::ranges::find_if(
      axes.rbegin(), axes.rend(), [](const IterDomain* axis) { return !axis->is_broadcast(); });
  for (const Expr* expr : exprs) {
    const TensorView* input = looked_up_input(expr);
    if (input == nullptr) {
      continue;
    }
    LookupAccess lookup{.result = tensor_outputs(expr).front(), .input = input};
    lookup.position =
        static_cast<size_t>(std::ranges::find(fusion.inputs(), input) - fusion.inputs().begin());
    if (lanes != axes.rend()) {
      lookup.run = LaneSearch(exact, lookup.result, input).find(*lanes);
    }
    found.push_back(std::move(lookup));
  }
  return found;
}

} // namespace nvfuser::schedule
