#include "schedule/common/reduction_loops.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "graph/op_semantics.h"

#include "schedule/common/canonical.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/vector_widths.h"
#include "schedule/summary/axis_sources.h"
#include "transform/group_reductions.h"
#include "transform/inline.h"
#include "transform/other_threads.h"
#include "transform/parallelize_like.h"

namespace nvfuser::schedule {
namespace {

/// Larger arrays of a task lie in its scratch memory.
constexpr int64_t kMostLocalElements = 256;

/// Elements of `tensor` that one iteration of the loops it shares with its readers has; more than
/// any array of a task where that depends on sizes.
int64_t elements_in_registers(const TensorView* tensor) {
  int64_t elements = 1;
  for (int64_t i = tensor->compute_at_position(); i < tensor->ndims(); ++i) {
    const IterDomain* axis = tensor->axis(i);
    if (axis->is_reduction() || axis->is_broadcast() || axis->is_thread()) {
      continue;
    }
    if (!axis->extent()->is_const()) {
      return kMostLocalElements + 1;
    }
    elements *= as_int(axis->extent()->value());
  }
  return elements;
}

bool is_reduction(const TensorView* tensor) {
  return tensor->definition() != nullptr && tensor->has_reduction() &&
         semantics_of(*tensor->definition()).has_steps;
}

} // namespace

std::vector<ReductionResults> reduction_results(const Fusion& fusion) {
  std::vector<ReductionResults> found;
  for (const Expr* expr : tensor_exprs(fusion)) {
    ReductionResults results = tensor_outputs(expr);
    if (is_reduction(results.front())) {
      found.push_back(std::move(results));
    }
  }
  return found;
}

TensorView* reduced_tensor(TensorView* tensor) {
  while (!is_reduction(tensor)) {
    tensor = tensor_inputs(tensor->definition()).front();
  }
  return tensor;
}

LoopRoles make_canonical(TensorView* reference, const ReductionProblem& problem) {
  return make_canonical(
      reference, problem.kept_positions, problem.reduced_positions, problem.broadcast_positions);
}

LoopRoles make_canonical(
    TensorView* tensor,
    const std::vector<int64_t>& blocks,
    const std::vector<int64_t>& serial,
    const std::vector<int64_t>& ones) {
  std::vector<int64_t> order;
  for (const auto* side : {&blocks, &serial, &ones}) {
    order.insert(order.end(), side->begin(), side->end());
  }
  arrange_axes(tensor, order);
  std::vector<LoopRole> roles;
  const auto merge = [&](const std::vector<int64_t>& side, LoopRole role) {
    if (!side.empty()) {
      const auto begin = static_cast<int64_t>(roles.size());
      merge_axes(tensor, begin, begin + static_cast<int64_t>(side.size()));
      roles.push_back(role);
    }
  };
  merge(blocks, LoopRole::Blocks);
  merge(serial, LoopRole::Serial);
  merge(ones, LoopRole::Ones);
  return {tensor, roles};
}

bool may_have_chains(const FusionSummary& summary) {
  const IterDomains& reduced = summary.problem()->reduced;
  const auto has_some = [&](const TensorView* tensor) {
    const auto found = std::ranges::count_if(
        reduced, [&](const IterDomain* axis) { return has_axis(summary.exact(), tensor, axis); });
    return found > 0 && found < static_cast<int64_t>(reduced.size());
  };
  return std::ranges::none_of(summary.inputs(), has_some) &&
         std::ranges::none_of(summary.computed(), has_some);
}

void factor_into_short_sums(
    const LoopRoles& loops, LoopRole role, int64_t extent, const ReductionResults& results) {
  const int64_t at = loops.position(role);
  int64_t parts = 1; // loops that the axis consists of
  for (const int64_t sum : {2, 2, 4}) {
    if (extent <= sum) {
      break;
    }
    extent /= sum;
    for (TensorView* result : results) {
      result->split(at + parts - 1, extent);
    }
    ++parts;
  }
  for (; parts > 1; --parts) {
    results.front()->rfactor({at + parts - 1}, results);
  }
}

void group_where_possible(const std::vector<ReductionResults>& reductions) {
  std::vector<std::vector<TensorView*>> groups;
  for (const ReductionResults& results : reductions) {
    const auto fits = [&](std::vector<TensorView*> members) {
      members.push_back(results.front());
      return !transform::find_wrong_group(members);
    };
    const auto group = std::ranges::find_if(groups, fits);
    if (group == groups.end()) {
      groups.push_back({results.front()});
    } else {
      group->push_back(results.front());
    }
  }
  for (const std::vector<TensorView*>& members : groups) {
    if (members.size() > 1) {
      transform::group_reductions(members);
    }
  }
}

void group_lanes(const LoopRoles& loops, const std::vector<ReductionResults>& reductions) {
  for (const ReductionResults& results : reductions) {
    for (TensorView* result : results) {
      loops.of(result).bind(LoopRole::Columns, ParallelType::Group);
    }
  }
}

std::vector<int64_t> widths_of(
    const ReductionProblem& problem, const ReductionParams& params, int64_t lanes) {
  if (!params.vector_widths.empty()) {
    check_widths(params.vector_widths, problem.accesses);
    return params.vector_widths;
  }
  std::vector<int64_t> widths;
  for (const TensorAccess& access : problem.accesses) {
    widths.push_back(may_be_vectorized(access, problem.lane_axes()) ? lanes : 1);
  }
  return widths;
}

std::vector<std::pair<TensorView*, int64_t>> load_vectors(
    const ReductionProblem& problem, const std::vector<int64_t>& widths) {
  std::vector<std::pair<TensorView*, int64_t>> loads;
  for (size_t i = 0; i < widths.size(); ++i) {
    const TensorAccess& access = problem.accesses.at(i);
    if (access.is_output || !access.has_all_axes || widths[i] <= 1) {
      continue;
    }
    for (Expr* use : elementwise_uses(access.tensor)) {
      TensorView* load =
          access.tensor->cache_after(LoadStoreOpType::Set, CacheOp::Unspecified, true, {use});
      loads.emplace_back(load, widths[i]);
    }
  }
  return loads;
}

void unroll_loads(LoopRoles& loops, const std::vector<TensorView*>& loads) {
  if (!loads.empty()) {
    loops.bind(LoopRole::Unroll, ParallelType::Unroll);
    transform::parallelize_like(loops.tensor(), -1, loads, {ParallelType::Unroll});
    transform::inline_at(
        loops.tensor(), loops.position(LoopRole::Unroll), /*best_effort=*/true, loads);
  }
}

void keep_arrays_in_scratch(const Fusion& fusion) {
  for (TensorView* tensor : computed_without(fusion, {})) {
    if (tensor->memory_type() == MemoryType::Local &&
        elements_in_registers(tensor) > kMostLocalElements) {
      tensor->set_memory_type(MemoryType::Shared);
    }
  }
}

void share_with_other_threads(Fusion& fusion) {
  for (TensorView* tensor : transform::read_by_other_threads(fusion)) {
    tensor->set_memory_type(MemoryType::Shared);
  }
}

} // namespace nvfuser::schedule
