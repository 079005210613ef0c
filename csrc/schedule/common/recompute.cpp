#include "schedule/common/recompute.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "optimize/rewrite.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

using Passes = std::set<int64_t>;

/// Tensors that each pass computes for itself.
enum class Repeated : uint8_t { Rows, PartsOfRows };

/// Which passes over the rows need which tensors. Pass n has the results of n reductions, one from
/// the other.
class PassSearch {
 public:
  PassSearch(const FusionSummary& summary, Repeated repeated, const KeptRows& kept = {})
      : summary_(summary), reduced_(sources_of(summary.exact(), summary.problem()->reduced)) {
    for (const ReductionFacts& reduction : summary.reductions()) {
      reductions_.insert(reduction.expr);
    }
    for (const TensorView* tensor : summary.computed()) {
      if (!is_row(tensor)) {
        continue;
      }
      rows_.insert(tensor);
      const bool is_kept = std::ranges::find(kept, tensor) != kept.end();
      if (repeated == Repeated::Rows ? !is_kept : lacks_reduced_axes(tensor)) {
        repeated_.insert(tensor);
      }
    }
    find_depths();
    find_passes();
  }

  /// Whether it has elements along some of the axes that are reduced, and repeats them along
  /// others.
  [[nodiscard]] bool is_part(const TensorView* tensor) const {
    return is_row(tensor) && lacks_reduced_axes(tensor);
  }
  /// Whether each pass that needs it computes it.
  [[nodiscard]] bool is_repeated(const TensorView* tensor) const {
    return repeated_.contains(tensor);
  }
  [[nodiscard]] bool is_reduction(const Expr* expr) const {
    return reductions_.contains(expr);
  }
  /// The pass that computes what is left of the operands of `expr`.
  [[nodiscard]] int64_t first_pass(const Expr* expr) const {
    int64_t pass = 0;
    for (const TensorView* operand : tensor_inputs(expr)) {
      pass = std::max(pass, depth(operand));
    }
    return pass;
  }
  [[nodiscard]] const Passes& passes(const TensorView* tensor) const {
    return passes_.at(tensor);
  }
  [[nodiscard]] Passes passes_of_readers(const TensorView* tensor) const {
    Passes passes;
    for (const Expr* use : tensor->uses()) {
      if (is_reduction(use)) {
        passes.insert(first_pass(use));
        continue;
      }
      for (const TensorView* reader : tensor_outputs(use)) {
        if (passes_.contains(reader)) {
          passes.insert(passes_.at(reader).begin(), passes_.at(reader).end());
        }
      }
    }
    return passes;
  }
  /// Whether later passes begin with a tensor of the first one: it meets the result of a reduction.
  [[nodiscard]] bool is_first_row(const TensorView* tensor) const {
    const auto meets_result = [&](const Expr* use) {
      return !is_reduction(use) && first_pass(use) > 0;
    };
    return rows_.contains(tensor) && depth(tensor) == 0 && has_all_axes(tensor) &&
           passes(tensor).contains(0) && std::ranges::any_of(tensor->uses(), meets_result);
  }
  /// The pass that keeps the tensor itself.
  [[nodiscard]] int64_t own_pass(const TensorView* tensor) const {
    return tensor->is_fusion_output() ? depth(tensor) : *passes(tensor).begin();
  }

 private:
  /// Whether it has elements along axes that are reduced.
  [[nodiscard]] bool is_row(const TensorView* tensor) const {
    return std::ranges::any_of(concrete_axes(tensor), [&](const IterDomain* axis) {
      return reduced_.contains(summary_.exact().group(axis));
    });
  }
  [[nodiscard]] bool lacks(const TensorView* tensor, const IterDomains& axes) const {
    return std::ranges::any_of(axes, [&](const IterDomain* axis) {
      return !axis->is_broadcast() && !has_axis(summary_.exact(), tensor, axis);
    });
  }
  [[nodiscard]] bool lacks_reduced_axes(const TensorView* tensor) const {
    return lacks(tensor, summary_.problem()->reduced);
  }
  [[nodiscard]] bool has_all_axes(const TensorView* tensor) const {
    return !lacks_reduced_axes(tensor) && !lacks(tensor, summary_.problem()->kept);
  }

  [[nodiscard]] int64_t depth(const TensorView* tensor) const {
    const auto found = depths_.find(tensor);
    return found == depths_.end() ? 0 : found->second;
  }

  void find_depths() {
    for (const Expr* expr : summary_.exprs()) {
      const int64_t depth = first_pass(expr) + (is_reduction(expr) ? 1 : 0);
      for (const TensorView* result : tensor_outputs(expr)) {
        depths_[result] = depth;
      }
    }
  }

  void find_passes() {
    for (const Expr* expr : std::views::reverse(summary_.exprs())) {
      for (const TensorView* result : tensor_outputs(expr)) {
        if (!rows_.contains(result)) {
          continue;
        }
        Passes passes = is_repeated(result) ? passes_of_readers(result) : Passes{};
        if (!is_repeated(result) || result->is_fusion_output() || result->uses().empty()) {
          passes.insert(depth(result));
        }
        passes_.emplace(result, std::move(passes));
      }
    }
  }

  const FusionSummary& summary_;
  AxisClasses reduced_;                  // and what they are made of
  std::set<const Expr*> reductions_;     // only looked up
  std::set<const TensorView*> rows_;     // only looked up
  std::set<const TensorView*> repeated_; // only looked up
  std::unordered_map<const TensorView*, int64_t> depths_;
  std::unordered_map<const TensorView*, Passes> passes_;
};

std::optional<Refusal> find_unrepeatable(
    const FusionSummary& summary, Repeated repeated, const KeptRows& kept = {}) {
  const PassSearch search(summary, repeated, kept);
  for (const Expr* expr : summary.exprs()) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    const bool is_needed_twice =
        search.is_repeated(results.front()) && search.passes(results.front()).size() > 1;
    // Random numbers would differ; and through a created tensor no loops reach the others.
    if (is_needed_twice && (tensor_inputs(expr).empty() || results.size() > 1)) {
      return refuse(
          {.headline = "what is created is needed in several passes",
           .node = describe(results.front()),
           .expected = "elements that can be computed from inputs once more",
           .found = expr->op_name(),
           .fix = "cut the fusion behind the operation"});
    }
  }
  return std::nullopt;
}

void recompute(FusionSummary& summary, Repeated repeated, const KeptRows& kept = {}) {
  check(find_unrepeatable(summary, repeated, kept));
  const PassSearch search(summary, repeated, kept);
  std::map<std::pair<const TensorView*, int64_t>, TensorView*> versions; // only looked up
  const auto version = [&](TensorView* tensor, int64_t pass) {
    const auto found = versions.find({tensor, pass});
    return found == versions.end() ? tensor : found->second;
  };
  for (Expr* expr : summary.exprs()) {
    TensorView* result = tensor_outputs(expr).front();
    const bool is_copied = search.is_repeated(result) && !search.is_reduction(expr);
    const std::vector<TensorView*> operands = tensor_inputs(expr);
    if (is_copied) {
      for (const int64_t pass : search.passes(result)) {
        if (pass == search.own_pass(result)) {
          continue;
        }
        optimize::ValMap mapped;
        for (TensorView* operand : operands) {
          mapped.emplace(operand, version(operand, pass));
        }
        versions[{result, pass}] = optimize::apply_to(*expr, mapped).front();
      }
    }
    const int64_t own = is_copied ? search.own_pass(result) : search.first_pass(expr);
    for (TensorView* operand : operands) {
      TensorView* needed = version(operand, own);
      if (needed != operand) {
        summary.fusion().replace_uses(operand, needed, {expr});
      }
    }
  }
}

} // namespace

KeptRows rows_of_first_pass(const FusionSummary& summary) {
  const PassSearch search(summary, Repeated::Rows);
  KeptRows found;
  for (TensorView* tensor : summary.computed()) {
    if (search.is_first_row(tensor)) {
      found.push_back(tensor);
    }
  }
  return found;
}

std::optional<Refusal> find_unrepeatable(const FusionSummary& summary, const KeptRows& kept) {
  return find_unrepeatable(summary, Repeated::Rows, kept);
}

std::optional<Refusal> find_unrepeatable_part(const FusionSummary& summary) {
  return find_unrepeatable(summary, Repeated::PartsOfRows);
}

std::vector<const TensorView*> inputs_of_several_passes(
    const FusionSummary& summary, const KeptRows& kept) {
  const PassSearch search(summary, Repeated::Rows, kept);
  std::vector<const TensorView*> found;
  for (const TensorAccess& access : summary.problem()->accesses) {
    const bool is_row = !access.is_output && !access.is_lookup() && access.has_all_axes;
    if (is_row && search.passes_of_readers(access.tensor).size() > 1) {
      found.push_back(access.tensor);
    }
  }
  return found;
}

std::vector<const TensorView*> parts_of_several_passes(const FusionSummary& summary) {
  const PassSearch search(summary, Repeated::PartsOfRows);
  std::vector<const TensorView*> found;
  for (const TensorAccess& access : summary.problem()->accesses) {
    const bool is_loaded = !access.is_output && !access.is_lookup();
    if (is_loaded && search.is_part(access.tensor) &&
        search.passes_of_readers(access.tensor).size() > 1) {
      found.push_back(access.tensor);
    }
  }
  return found;
}

void recompute_in_each_pass(FusionSummary& summary, const KeptRows& kept) {
  recompute(summary, Repeated::Rows, kept);
}

void recompute_parts_in_each_pass(FusionSummary& summary) {
  recompute(summary, Repeated::PartsOfRows);
}

} // namespace nvfuser::schedule
