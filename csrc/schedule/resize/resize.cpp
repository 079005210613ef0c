#include "schedule/resize/resize.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/params/pointwise_params.h"
#include "schedule/pointwise/pointwise.h"
#include "schedule/resize/branches.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

/// The loops of a map: its params say all there is to decide.
std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts) {
  if (!summary.reference().reference) {
    return resize::choose_for_branches(resize::find_branches(summary), facts);
  }
  const std::unique_ptr<HeuristicParams> as_map = pointwise::compute_heuristics(summary, facts);
  const auto& map = params_as<PointwiseParams>(*as_map, SchedulerType::pointwise);
  auto params = std::make_unique<PointwiseParams>(SchedulerType::resize);
  static_cast<PointwiseChoice&>(*params) = map;
  params->lparams = map.lparams;
  params->cparams = map.cparams;
  return params;
}

std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  return summary.reference().reference ? pointwise::find_refusal_by_size(summary, facts)
                                       : resize::find_refusal_of_large_branches(summary, facts);
}

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  if (summary.reference().reference) {
    pointwise::apply(summary, heuristics);
    return;
  }
  const FusionGuard guard(&summary.fusion());
  resize::apply_to_branches(
      summary, resize::find_branches(summary),
      params_as<PointwiseParams>(heuristics, SchedulerType::resize));
}

} // namespace

const Scheduler& resize_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::resize,
      .find_refusal_by_structure = resize::find_refusal_by_structure,
      .find_refusal_by_size = find_refusal_by_size,
      .compute_heuristics = compute_heuristics,
      .find_figures = pointwise::find_figures,
      .apply = apply};
  return kScheduler;
}

namespace resize {
namespace {

bool is_read_resized(const TensorView* operand, const TensorView* result) {
  return std::ranges::any_of(axes_of_use(operand, result), [](const AxisUse& axis) {
    return axis.read == AxisRead::Resized;
  });
}

/// The slices and pads of axes that lead to the dimensions of a tensor.
std::vector<const Resize*> resizes_of(const TensorView* result) {
  std::vector<const Resize*> found;
  if (result->has_root()) {
    for (const Expr* expr : exprs_between(result->root(), result->logical())) {
      if (const auto* resize = expr->as<Resize>()) {
        found.push_back(resize);
      }
    }
  }
  return found;
}

/// An axis of the root of `tensor`, and those that its transforms make of it.
std::unordered_set<const Val*> made_of(const TensorView* tensor, const IterDomain* axis) {
  std::unordered_set<const Val*> made{axis};
  if (tensor->has_root()) {
    for (const Expr* expr : exprs_between(tensor->root(), tensor->logical())) {
      const std::vector<Val*>& in = expr->inputs();
      if (std::ranges::any_of(in, [&](const Val* each) { return made.contains(each); })) {
        made.insert(expr->outputs().begin(), expr->outputs().end());
      }
    }
  }
  return made;
}

/// The first slice or pad of an axis, or of what reshapes make of it, behind a tensor that has it
/// as its dimension `axis`; nullptr: there is none.
const TensorView* find_resize_behind(const TensorView* tensor, size_t axis) {
  using Axis = std::pair<const TensorView*, size_t>;
  std::vector<Axis> pending{{tensor, axis}};
  std::set<Axis> seen{pending.front()}; // only looked up
  while (!pending.empty()) {
    const auto [read, place] = pending.back();
    pending.pop_back();
    for (const TensorView* reader : read->consumers()) {
      const AxisUse use = axes_of_use(read, reader).at(place);
      const IterDomains& operands = reader->maybe_root();
      const bool is_in_place = use.read == AxisRead::Same || use.read == AxisRead::Resized;
      if (!is_in_place || use.position < 0 ||
          use.position >= static_cast<int64_t>(operands.size())) {
        continue;
      }
      const std::unordered_set<const Val*> made =
          made_of(reader, operands[static_cast<size_t>(use.position)]);
      if (std::ranges::any_of(resizes_of(reader), [&](const Resize* resize) {
            return made.contains(resize->in);
          })) {
        return reader;
      }
      const IterDomains axes = TensorDomain::no_reductions(reader->logical());
      for (size_t i = 0; i < axes.size(); ++i) {
        if (made.contains(axes[i]) && seen.emplace(reader, i).second) {
          pending.emplace_back(reader, i);
        }
      }
    }
  }
  return nullptr;
}

/// The positions of axes that `expr` adds, or along which it repeats one element of its operand:
/// loops over them run over more than the operand has.
std::vector<size_t> added_axes(const Expr& expr) {
  std::vector<size_t> added;
  if (const auto* broadcast = expr.as<BroadcastOp>()) {
    const bool has_elements = !concrete_axes(broadcast->arg).empty();
    for (size_t i = 0; i < broadcast->flags.size(); ++i) {
      if (has_elements && broadcast->flags[i]) {
        added.push_back(i);
      }
    }
  } else if (const auto* expand = expr.as<ExpandOp>()) {
    const IterDomains operand = TensorDomain::no_reductions(expand->arg->logical());
    for (size_t i = 0; i < operand.size(); ++i) {
      if (expand->out->logical()[i]->has_expanded_extent() && !operand[i]->has_expanded_extent()) {
        added.push_back(i);
      }
    }
  }
  return added;
}

/// An axis that an operand lacks, which readers resize when it has elements: the loops run over
/// more of it than the operand, so that it cannot leave it out of them.
std::optional<Refusal> find_added_axis_that_is_resized(const FusionSummary& summary) {
  for (const Expr* expr : summary.exprs()) {
    for (const size_t axis : added_axes(*expr)) {
      const TensorView* result = tensor_outputs(expr).front();
      const TensorView* resized = find_resize_behind(result, axis);
      if (resized != nullptr) {
        return refuse(
            {.headline = "Resize of a broadcast ID is not allowed.",
             .node = describe(resized),
             .expected = "slices and pads of dimensions that all it is computed from has",
             .found = {"a dimension that ", describe(result), " adds"},
             .fix = "cut the fusion before the operation"});
      }
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_resized_broadcast(const FusionSummary& summary) {
  for (const TensorView* result : summary.computed()) {
    for (const Resize* resize : resizes_of(result)) {
      if (resize->in->is_broadcast()) {
        return refuse(
            {.headline = "Resize of a broadcast ID is not allowed.",
             .node = describe(result),
             .expected = "slices and pads of dimensions with elements",
             .found = {resize->in->to_string(), ", a broadcast"},
             .fix = "cut the fusion before the operation"});
      }
    }
  }
  return find_added_axis_that_is_resized(summary);
}

/// The loops of a slice or pad are also those of what computes its operand, and positions that a
/// tensor holds are not computed beyond their axis.
std::optional<Refusal> find_resized_gather(const FusionSummary& summary) {
  std::unordered_map<int64_t, const TensorView*> gathered; // by axis; only looked up
  for (const TensorView* result : summary.computed()) {
    for (const IterDomain* axis : result->logical()) {
      if (axis->iter_type() == IterType::GatherScatter) {
        gathered.emplace(summary.exact().group(axis), result);
      }
    }
  }
  for (const TensorView* result : summary.computed()) {
    for (const Resize* resize : resizes_of(result)) {
      const auto found = gathered.find(summary.exact().group(resize->in));
      if (found != gathered.end()) {
        return refuse(
            {.headline = "a gathered axis is resized",
             .node = describe(result),
             .expected = "slices and pads of axes that are read in order",
             .found =
                 {resize->in->to_string(), ", at whose positions ", describe(found->second),
                  " looks elements up"},
             .fix = "cut the fusion before the operation"});
      }
    }
  }
  return std::nullopt;
}

/// Loops of an operand run over at least all of its axis: those of a slice do not.
std::optional<Refusal> find_cropped_operand(const FusionSummary& summary) {
  const auto may_be_negative = [](const Val* width) {
    return !width->is_const_int() || as_int(width->value()) < 0;
  };
  for (const TensorView* result : summary.computed()) {
    const std::vector<TensorView*> operands = tensor_inputs(result->definition());
    if (std::ranges::all_of(operands, &TensorView::is_fusion_input)) {
      continue;
    }
    for (const Resize* resize : resizes_of(result)) {
      if (may_be_negative(resize->left) || may_be_negative(resize->right)) {
        return refuse(
            {.headline =
                 {"an operand of ", result->definition()->op_name(), " must be a fusion input"},
             .node = describe(operands.front()),
             .expected = "a tensor in memory: a part of its elements is read",
             .found = "a tensor that is computed in the same kernel",
             .fix = "cut the fusion before the operation"});
      }
    }
  }
  return std::nullopt;
}

bool has_resize(const FusionSummary& summary) {
  return std::ranges::any_of(summary.computed(), [](const TensorView* result) {
    return !axes_read(result, AxisRead::Resized).empty();
  });
}

/// Finds tensors that are wanted at two positions in one iteration of the loops.
class PositionSearch {
 public:
  explicit PositionSearch(const FusionSummary& summary) : summary_(summary) {}

  [[nodiscard]] std::optional<Refusal> find() {
    const std::vector<Expr*>& exprs = summary_.exprs();
    for (auto expr = exprs.rbegin(); expr != exprs.rend(); ++expr) {
      for (const TensorView* result : tensor_outputs(*expr)) {
        if (result->is_fusion_output() && !want(result, kOfReference)) {
          return refuse_positions(result);
        }
      }
      for (const TensorView* operand : tensor_inputs(*expr)) {
        for (const TensorView* result : tensor_outputs(*expr)) {
          const int64_t position =
              is_read_resized(operand, result) ? result->name() : position_of(result);
          if (!operand->is_fusion_input() && !want(operand, position)) {
            return refuse_positions(operand);
          }
        }
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr int64_t kOfReference = -1; // others: the name of the resized result

  [[nodiscard]] int64_t position_of(const TensorView* tensor) const {
    const auto found = wanted_.find(tensor);
    return found == wanted_.end() ? kOfReference : found->second;
  }

  /// Whether all readers want the elements at the same position.
  bool want(const TensorView* tensor, int64_t position) {
    return wanted_.emplace(tensor, position).first->second == position;
  }

  static Refusal refuse_positions(const TensorView* tensor) {
    return refuse(
        {.headline = "Resize between reference and output not allowed.",
         .node = describe(tensor),
         .expected = "readers that need its elements at the same positions",
         .found = "readers that slice or pad it in different ways, or not at all",
         .fix = "cut the fusion behind the tensor"});
  }

  const FusionSummary& summary_;
  std::unordered_map<const TensorView*, int64_t> wanted_; // only looked up
};

} // namespace

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  NVF_RETURN_REFUSAL(find_refusal_of_moving_kernels(summary));
  if (!has_resize(summary)) {
    return refuse(
        {.headline = "No resize op to schedule",
         .node = "the fusion",
         .expected = "a slice, a pad or a concatenation",
         .found = "none",
         .fix = "the pointwise scheduler takes it"});
  }
  NVF_RETURN_REFUSAL(find_reduction(summary));
  NVF_RETURN_REFUSAL(find_cropped_operand(summary));
  NVF_RETURN_REFUSAL(find_resized_gather(summary));
  const bool is_one = summary.reference().reference.has_value();
  if (!is_one && find_branches(summary).empty()) {
    return summary.reference().refusal;
  }
  NVF_RETURN_REFUSAL(find_resized_broadcast(summary));
  NVF_RETURN_REFUSAL(PositionSearch(summary).find());
  NVF_RETURN_REFUSAL(find_moved_update(summary));
  return is_one ? find_smaller_output(summary) : std::nullopt;
}

} // namespace resize
} // namespace nvfuser::schedule
