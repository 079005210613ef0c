#include "schedule/greedy/single_rows.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "schedule/greedy/greedy.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule::greedy {
namespace {

class Nests {
 public:
  explicit Nests(const FusionSummary& summary) : exact_(summary.exact()) {
    const IterDomains& axes = summary.reference().reference->axes;
    const size_t scanned = scanned_axis(summary);
    scanned_ = exact_.group(axes[scanned]);
    looped_ = resolved_broadcasts(exact_, summary.exprs());
    for (size_t i = 0; i < axes.size(); ++i) {
      if (i != scanned && !axes[i]->is_broadcast()) {
        const AxisClasses sources = sources_of(exact_, {axes[i]});
        looped_.insert(sources.begin(), sources.end());
        has_other_axes_ = true;
      }
    }
    if (has_other_axes_) {
      find_nests(summary.exprs());
    }
  }

  /// Whether tensors of several nests are computed from a row.
  [[nodiscard]] bool are_several_of(const TensorView* tensor) const {
    const auto found = nests_.find(tensor);
    return found != nests_.end() && found->second == nullptr;
  }

 private:
  [[nodiscard]] bool is_row(const TensorView* tensor) const {
    const IterDomains axes = TensorDomain::no_reductions(tensor->logical());
    const auto is_in_loops = [&](const IterDomain* axis) {
      return looped_.contains(exact_.group(axis));
    };
    const auto is_scanned = [&](const IterDomain* axis) { return exact_.group(axis) == scanned_; };
    return std::ranges::any_of(axes, is_scanned) && std::ranges::none_of(axes, is_in_loops);
  }

  void find_nests(const std::vector<Expr*>& exprs) {
    for (const Expr* expr : std::views::reverse(exprs)) {
      const TensorView* result = tensor_outputs(expr).front();
      const auto of_result = nests_.find(result);
      const Expr* nest = is_row(result) && of_result != nests_.end() ? of_result->second : expr;
      for (const TensorView* operand : tensor_inputs(expr)) {
        if (!is_row(operand)) {
          continue;
        }
        const auto [known, is_new] = nests_.emplace(operand, nest);
        if (!is_new && known->second != nest) {
          known->second = nullptr;
        }
      }
    }
  }

  const ValGraph& exact_;
  int64_t scanned_ = 0; // its class
  AxisClasses looped_;  // classes of the others, which have loops outside of the scan
  bool has_other_axes_ = false;
  /// By row, the expression that repeats it along other axes; nullptr: several do.
  std::unordered_map<const TensorView*, const Expr*> nests_;
};

} // namespace

std::vector<TensorView*> rows_read_in_place(const FusionSummary& summary) {
  const Nests nests(summary);
  std::vector<TensorView*> found;
  std::ranges::copy_if(summary.inputs(), std::back_inserter(found), [&](const TensorView* input) {
    return nests.are_several_of(input);
  });
  return found;
}

std::optional<Refusal> find_row_of_several_nests(const FusionSummary& summary) {
  const Nests nests(summary);
  for (const TensorView* tensor : summary.computed()) {
    if (nests.are_several_of(tensor)) {
      return refuse(
          {.headline = "a row is repeated in several loop nests",
           .node = describe(tensor),
           .expected = "one reader that repeats it along the axes that are not scanned",
           .found = "several, each in loops of its own",
           .fix = "cut the fusion behind the tensor"});
    }
  }
  return std::nullopt;
}

} // namespace nvfuser::schedule::greedy
