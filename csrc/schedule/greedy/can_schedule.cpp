#include <algorithm>

#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "ir/all_nodes.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/greedy/greedy.h"
#include "schedule/greedy/single_rows.h"

namespace nvfuser::schedule {

const Scheduler& greedy_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::greedy,
      .find_refusal_by_structure = greedy::find_refusal_by_structure,
      .find_refusal_by_size = greedy::find_refusal_by_size,
      .compute_heuristics = greedy::compute_heuristics,
      .apply = greedy::apply};
  return kScheduler;
}

namespace greedy {
namespace {

std::vector<const ScanOp*> scans_of(const FusionSummary& summary) {
  std::vector<const ScanOp*> scans;
  for (const Expr* expr : summary.exprs()) {
    if (const auto* scan = expr->as<ScanOp>()) {
      scans.push_back(scan);
    }
  }
  return scans;
}

const IterDomain* axis_of(const ScanOp& scan) {
  return scan.out->logical().at(static_cast<size_t>(scan.dim));
}

/// Position of the axis of `scan` among those of the reference; none: it is not one of them.
std::optional<size_t> find_axis(const FusionSummary& summary, const ScanOp& scan) {
  const IterDomains& axes = summary.reference().reference->axes;
  const auto found = std::ranges::find_if(axes, [&](const IterDomain* axis) {
    return summary.exact().are_mapped(axis, axis_of(scan));
  });
  return found == axes.end() ? std::nullopt : std::optional<size_t>(found - axes.begin());
}

Refusal refuse_axis(const ScanOp& scan, const Part& expected, const Part& found) {
  return refuse(
      {.headline = "a scanned axis has no loop of its own",
       .node = describe(scan.out),
       .expected = expected,
       .found = found,
       .fix = "cut the fusion around the scan"});
}

/// The loops of a scan run over its axis alone, in order.
std::optional<Refusal> find_wrong_axis(const FusionSummary& summary, const ScanOp& scan) {
  const IterDomain* axis = axis_of(scan);
  const int64_t group = summary.exact().group(axis);
  if (axis->is_broadcast()) {
    return refuse_axis(scan, "an axis with elements", {axis->to_string(), ", a broadcast"});
  }
  if (!summary.exact().definitions(group).empty() || !summary.exact().uses(group).empty()) {
    return refuse_axis(
        scan, "an axis that no reshape merges or splits",
        {axis->to_string(), ", which is reshaped"});
  }
  if (!find_axis(summary, scan)) {
    return refuse_axis(
        scan, {"an axis of ", describe(summary.reference().reference->tensor)}, axis->to_string());
  }
  return std::nullopt;
}

/// A scatter overwrites a copy of its operand, which nothing may read at other positions.
std::optional<Refusal> find_operand_read_again(const Expr& scatter) {
  TensorView* operand = overwritten_operand(&scatter);
  if (operand == nullptr || std::ranges::count(scatter.inputs(), operand) == 1) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "a scatter reads what it overwrites",
       .node = describe(tensor_outputs(&scatter).front()),
       .expected = "an operand that is not its source as well",
       .found = {describe(operand), " as both"},
       .fix = "execute the fusion, which evaluates the scatter"});
}

/// Threads share the loops over an update, and one element has no loop that they could.
std::optional<Refusal> find_update_of_one_element(const FusionSummary& summary) {
  for (const Val* output : summary.fusion().outputs()) {
    const auto* tensor = static_cast<const TensorView*>(output);
    const bool has_no_loop =
        std::ranges::all_of(tensor->logical(), &IterDomain::is_broadcast) ||
        std::ranges::all_of(tensor->loop(), &IterDomain::is_broadcast); // over what is scattered
    if (summary.fusion().alias_of(output) != nullptr && tensor->rank() > 0 && has_no_loop) {
      return refuse(
          {.headline = "an update of one element has no loop",
           .node = describe(tensor),
           .expected = "several elements, which threads update side by side",
           .found = "broadcasts",
           .fix = "execute the fusion, which evaluates the scatter"});
    }
  }
  return std::nullopt;
}

/// A scatter writes at any position, in any thread: nothing but the tensor that it overwrites may
/// be computed from the input that it updates.
std::optional<Refusal> find_shared_update(const FusionSummary& summary) {
  for (const TensorView* output : summary.outputs()) {
    const TensorView* input = updated_input(output);
    const TensorView* overwritten =
        input == nullptr ? nullptr : overwritten_operand(output->definition());
    if (overwritten == nullptr) {
      continue;
    }
    const auto is_overwritten = [&](const Expr* use) {
      return (use == output->definition() && overwritten == input) ||
             std::ranges::all_of(tensor_outputs(use), [&](const TensorView* result) {
               return result != output && buffer_of(result) == output;
             });
    };
    if (!std::ranges::all_of(input->uses(), is_overwritten)) {
      return refuse(
          {.headline = "an input is updated in place while other threads read it",
           .node = describe(output),
           .expected = "an input that the scatter overwrites, and nothing else reads",
           .found = {describe(input), ", which is read otherwise as well"},
           .fix = "cut the fusion before the update"});
    }
  }
  return std::nullopt;
}

/// Writers of one element would meet: where results are combined, and where one expanded element
/// stands for many.
std::optional<Refusal> find_refusal_of_scatters(const FusionSummary& summary) {
  if (has_scatter(summary)) {
    NVF_RETURN_REFUSAL(find_update_of_one_element(summary));
    NVF_RETURN_REFUSAL(find_shared_update(summary));
  }
  for (const Expr* expr : summary.exprs()) {
    const auto* scatter = expr->as<ScatterOp>();
    if (scatter == nullptr) {
      continue;
    }
    NVF_RETURN_REFUSAL(find_operand_read_again(*scatter));
    const bool is_expanded =
        std::ranges::any_of(scatter->arg->logical(), &IterDomain::has_expanded_extent);
    if (scatter->accumulate || is_expanded) {
      return refuse(
          {.headline = "a scatter has writers that meet",
           .node = describe(scatter->out),
           .expected = "elements of their own, each written as it is",
           .found = scatter->accumulate ? "elements that are combined" : "an expanded axis",
           .fix = "execute the fusion, which evaluates the scatter"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_refusal_of_scans(
    const FusionSummary& summary, const std::vector<const ScanOp*>& scans) {
  if (!summary.reference().reference) {
    return summary.reference().refusal;
  }
  NVF_RETURN_REFUSAL(find_smaller_output(summary));
  NVF_RETURN_REFUSAL(find_moved_update(summary));
  for (const ScanOp* scan : scans) {
    NVF_RETURN_REFUSAL(find_wrong_axis(summary, *scan));
    if (!summary.exact().are_mapped(axis_of(*scan), axis_of(*scans.front()))) {
      return refuse(
          {.headline = "two axes are scanned",
           .node = describe(scan->out),
           .expected = {"the axis that ", describe(scans.front()->out), " scans"},
           .found = axis_of(*scan)->to_string(),
           .fix = "cut the fusion between the two"});
    }
  }
  return find_row_of_several_nests(summary);
}

} // namespace

size_t scanned_axis(const FusionSummary& summary) {
  const std::optional<size_t> found = find_axis(summary, *scans_of(summary).front());
  NVF_INVARIANT(found, "the scanned axis is one of the reference");
  return *found;
}

bool has_scatter(const FusionSummary& summary) {
  return std::ranges::any_of(
      summary.exprs(), [](const Expr* expr) { return overwritten_operand(expr) != nullptr; });
}

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  const std::vector<const ScanOp*> scans = scans_of(summary);
  if (scans.empty() && !has_scatter(summary)) {
    return refuse(
        {.headline = "No scan and no scatter to schedule",
         .node = "the fusion",
         .expected = "a scan along an axis, or a scatter",
         .found = "none",
         .fix = "the pointwise scheduler takes maps"});
  }
  NVF_RETURN_REFUSAL(find_refusal_of_greedy_kernels(summary));
  NVF_RETURN_REFUSAL(find_reduction(summary));
  NVF_RETURN_REFUSAL(find_resize(summary));
  NVF_RETURN_REFUSAL(find_refusal_of_scatters(summary));
  if (scans.empty()) {
    return std::nullopt;
  }
  if (has_scatter(summary)) {
    return refuse(
        {.headline = "a scan and a scatter have different loops",
         .node = describe(scans.front()->out),
         .expected = "scans, or scatters",
         .found = "both",
         .fix = "cut the fusion between them"});
  }
  return find_refusal_of_scans(summary, scans);
}

std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& /*summary*/, const RunFacts& /*facts*/) {
  return std::nullopt;
}

} // namespace greedy
} // namespace nvfuser::schedule
