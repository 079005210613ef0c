#include "schedule/resize/branches.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/disjoint_set.h"
#include "base/task_sizes.h"
#include "ir/all_nodes.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/problem_sizes.h"
#include "schedule/cost_model.h"
#include "schedule/pointwise/reference_loops.h"
#include "schedule/summary/axis_sources.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::resize {
namespace {

constexpr int64_t kThreads = 128;
constexpr size_t kMostBranches = 16; // each block runs the code of all
/// A launch takes 4 us, in which a GPU moves 17 MB. Single elements are moved at half that rate.
constexpr double kMostBytes = 8.0 * 1024 * 1024;

/// Tensors that are computed from each other, in the order of their first ones.
std::vector<Branch> connected_tensors(const FusionSummary& summary) {
  DisjointSets<const TensorView*> sets;
  for (const Expr* expr : summary.exprs()) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    for (const TensorView* result : results) {
      sets.map_entries(results.front(), result);
    }
    for (const TensorView* operand : tensor_inputs(expr)) {
      if (!operand->is_fusion_input()) {
        sets.map_entries(results.front(), operand);
      }
    }
  }
  std::vector<Branch> branches;
  std::unordered_map<size_t, size_t> position_of; // by set
  for (TensorView* tensor : summary.computed()) {
    const auto [known, is_new] = position_of.emplace(sets.first_index(tensor), branches.size());
    if (is_new) {
      branches.emplace_back();
    }
    Branch& branch = branches[known->second];
    branch.tensors.push_back(tensor);
    if (tensor->is_fusion_output()) {
      branch.outputs.push_back(tensor);
    }
  }
  return branches;
}

/// Whether loops over any of its outputs compute all of it.
bool find_reference_of(const ValGraph& exact, Branch& branch) {
  for (TensorView* output : branch.outputs) {
    if (!find_reference(exact, {output}, branch.tensors).reference) {
      return false;
    }
  }
  branch.reference = branch.outputs.empty() ? nullptr : branch.outputs.front();
  return branch.reference != nullptr;
}

/// Dimensions, where parts of one count as the same, and what reshapes divide them into.
class Dimensions {
 public:
  Dimensions(const ValGraph& exact, const std::vector<TensorView*>& tensors) : exact_(exact) {
    std::set<const Expr*> seen;
    for (const TensorView* tensor : tensors) {
      for (const IterDomain* axis : tensor->logical()) {
        sets_.add(exact.group(axis));
      }
      if (!tensor->has_root()) {
        continue;
      }
      for (const Expr* expr : exprs_between(tensor->root(), tensor->logical())) {
        if (const auto* resize = expr->as<Resize>()) {
          join(resize->in, resize->out);
        } else if (seen.insert(expr).second) {
          divisions_.push_back(expr);
        }
      }
    }
  }

  /// Whether two reshapes divide, or merge, one dimension in ways that do not fit.
  [[nodiscard]] bool have_conflict() {
    for (bool is_news = true; is_news;) {
      is_news = false;
      std::map<size_t, const Expr*> first; // what divides a dimension
      for (const Expr* expr : divisions_) {
        for (const Val* in : expr->inputs()) {
          if (in->vtype() != ValType::IterDomain) {
            continue;
          }
          const auto* axis = static_cast<const IterDomain*>(in);
          const auto [known, is_new] = first.emplace(number_of(axis), expr);
          if (is_new || known->second == expr) {
            continue;
          }
          if (!are_alike(known->second, expr)) {
            return true;
          }
          is_news = join_results(known->second, expr) || is_news;
        }
      }
    }
    return false;
  }

  [[nodiscard]] size_t number_of(const IterDomain* axis) {
    const int64_t group = exact_.group(axis);
    sets_.add(group);
    return sets_.first_index(group);
  }

 private:
  bool join(const IterDomain* a, const IterDomain* b) {
    return sets_.map_entries(exact_.group(a), exact_.group(b));
  }

  static bool have_one_size(const IterDomain* a, const IterDomain* b) {
    const Val* size = a->extent();
    const Val* other = b->extent();
    return size == other || (size->is_const_int() && other->is_const_int() &&
                             as_int(size->value()) == as_int(other->value()));
  }

  [[nodiscard]] bool are_alike(const Expr* a, const Expr* b) {
    if (const auto* split = a->as<Split>()) {
      const auto* other = b->as<Split>();
      return other != nullptr && (have_one_size(split->outer, other->outer) ||
                                  have_one_size(split->inner, other->inner));
    }
    const auto* merge = a->as<Merge>();
    const auto* other = b->as<Merge>();
    return merge != nullptr && other != nullptr &&
           number_of(merge->outer) == number_of(other->outer) &&
           number_of(merge->inner) == number_of(other->inner);
  }

  /// Requires: they are alike. Returns whether it is news.
  bool join_results(const Expr* a, const Expr* b) {
    if (const auto* split = a->as<Split>()) {
      const auto* other = b->as<Split>();
      const bool is_news = join(split->outer, other->outer);
      return join(split->inner, other->inner) || is_news;
    }
    return join(a->as<Merge>()->out, b->as<Merge>()->out);
  }

  const ValGraph& exact_;
  DisjointSets<int64_t> sets_; // of classes of the exact graph
  std::vector<const Expr*> divisions_;
};

/// Whether each branch has a dimension of those before it.
bool share_dimensions(Dimensions& dimensions, const std::vector<Branch>& branches) {
  std::set<size_t> known;
  for (const Branch& branch : branches) {
    std::set<size_t> own;
    for (const TensorView* tensor : branch.tensors) {
      for (const IterDomain* axis : tensor->maybe_root()) {
        if (!axis->is_broadcast()) {
          own.insert(dimensions.number_of(axis));
        }
      }
    }
    const bool is_first = &branch == &branches.front();
    if (!is_first &&
        std::ranges::none_of(own, [&](size_t number) { return known.contains(number); })) {
      return false;
    }
    known.insert(own.begin(), own.end());
  }
  return true;
}

int64_t elements_of(const TensorView* tensor, const RunFacts& facts) {
  int64_t elements = 1;
  for (const IterDomain* axis : concrete_axes(tensor)) {
    elements *= facts.size(axis->extent());
  }
  return elements;
}

} // namespace

std::vector<Branch> find_branches(const FusionSummary& summary) {
  constexpr int64_t kBitsPerByte = 8;
  const auto is_plain = [&](const TensorView* output) {
    return summary.fusion().alias_of(output) == nullptr &&
           size_bits(output->dtype()) >= kBitsPerByte;
  };
  std::vector<Branch> branches = connected_tensors(summary);
  if (branches.size() < 2 || branches.size() > kMostBranches) {
    return {};
  }
  Dimensions dimensions(summary.exact(), summary.computed());
  const bool fit =
      std::ranges::all_of(summary.outputs(), is_plain) &&
      std::ranges::all_of(
          branches, [&](Branch& branch) { return find_reference_of(summary.exact(), branch); }) &&
      !dimensions.have_conflict() && share_dimensions(dimensions, branches);
  return fit ? branches : std::vector<Branch>();
}

std::optional<Refusal> find_refusal_of_large_branches(
    const FusionSummary& summary, const RunFacts& facts) {
  const double bytes = traffic_bytes(summary, facts);
  if (bytes <= kMostBytes) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "outputs of different shapes are large",
       .node = "the fusion",
       .expected = {"tensors that take less time than a launch, of ", kMostBytes, " bytes at most"},
       .found = {bytes, " bytes"},
       .fix = "cut the fusion between tensors of different shapes"});
}

std::unique_ptr<PointwiseParams> choose_for_branches(
    const std::vector<Branch>& branches, const RunFacts& facts) {
  auto params = std::make_unique<PointwiseParams>(SchedulerType::resize);
  int64_t of_block = kThreads;
  if (facts.target().is_cuda()) {
    params->lparams.bind(ParallelType::TIDx, kThreads);
  } else {
    params->runs_in_tasks = true;
    of_block = kTaskElements;
    params->vectorization_factor = kLaneBytes / static_cast<int64_t>(sizeof(float));
    params->unroll_factor_inner = of_block / params->vectorization_factor;
  }
  int64_t blocks = 1;
  for (const Branch& branch : branches) {
    blocks = std::max(blocks, ceil_div(elements_of(branch.reference, facts), of_block));
  }
  params->lparams.bind(ParallelType::BIDx, blocks);
  return params;
}

void apply_to_branches(
    FusionSummary& summary, std::vector<Branch> branches, const PointwiseParams& params) {
  for (Branch& branch : branches) {
    for (TensorView* output : branch.outputs) {
      if (output->uses().empty()) {
        continue;
      }
      TensorView* stored = output->cache_fork();
      branch.tensors.push_back(stored);
      branch.reference = branch.reference == output ? stored : branch.reference;
    }
    pointwise::ReferenceLoops(branch.reference, params).make();
    transform::transform_like(branch.reference, branch.tensors);
    transform::parallelize_like(branch.reference, -1, branch.tensors);
  }
  std::vector<TensorView*> computed;
  for (const Branch& branch : branches) {
    computed.insert(computed.end(), branch.tensors.begin(), branch.tensors.end());
  }
  transform::inline_most(summary.fusion(), computed);
}

} // namespace nvfuser::schedule::resize
