#include <algorithm>

#include "ir/all_nodes.h"
#include "schedule/common/global_tensors.h"
#include "schedule/common/vector_widths.h"
#include "schedule/params/pointwise_params.h"
#include "schedule/pointwise/pointwise.h"
#include "schedule/pointwise/reference_loops.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule::pointwise {
namespace {

/// Expressions that are worth a second copy without tests, in tasks. Longer arithmetic hides tests,
/// and compilers take long for it.
constexpr size_t kMostUnswitched = 100;
/// Lanes of a vector that are read one by one, and are enough loads at once.
constexpr int64_t kLoadsOfVector = 8;

/// Loads are written out, so that all stand before the first use; what is computed runs vector
/// after vector, and needs registers for one. `begin`: of the axes of one thread.
void unroll_loads(
    TensorView* reference,
    int64_t begin,
    bool has_rows,
    const std::vector<TensorView*>& loads,
    const PointwiseParams& params) {
  if (loads.empty() || reference->ndims() == 0) {
    return;
  }
  std::vector<IterDomain*> unrolled;
  if (has_rows && params.unroll_factor_outer > 1) {
    unrolled.push_back(reference->axis(begin));
  }
  if (params.unroll_factor_inner > 1) {
    unrolled.push_back(reference->axis(has_rows ? begin + 1 : begin));
  }
  for (IterDomain* axis : unrolled) {
    axis->parallelize(ParallelType::Unroll);
  }
  transform::parallelize_like(reference, -1, loads, {ParallelType::Unroll});
  for (IterDomain* axis : unrolled) {
    axis->parallelize(ParallelType::Serial);
  }
}

/// Whether each element of a tensor is one of an input, or a constant beside them.
bool is_padded_input(const TensorView* tensor) {
  const auto* pad = tensor->is_fusion_input() ? nullptr : tensor->definition()->as<PadOp>();
  return tensor->is_fusion_input() || (pad != nullptr && pad->arg->is_fusion_input());
}

/// Tensors that are concatenated from inputs: their elements are read where they are chosen.
std::vector<TensorView*> cats_of_inputs(const FusionSummary& summary) {
  std::vector<TensorView*> cats;
  for (TensorView* result : summary.computed()) {
    if (result->definition()->is_a<CatOp>() && !result->is_fusion_output() &&
        std::ranges::all_of(tensor_inputs(result->definition()), is_padded_input)) {
      cats.push_back(result);
    }
  }
  return cats;
}

/// Widths of the accesses: as the params say, or as wide as layouts allow.
std::vector<int64_t> widths_of(const FusionSummary& summary, const PointwiseParams& params) {
  const std::vector<TensorAccess>& accesses = summary.accesses();
  if (!params.vector_widths.empty()) {
    check_widths(params.vector_widths, accesses, summary.lookups());
    return params.vector_widths;
  }
  std::vector<int64_t> widths;
  for (const TensorAccess& access : accesses) {
    const size_t merged = access.has_axis.size() - static_cast<size_t>(params.break_point);
    widths.push_back(may_be_vectorized(access, merged) ? params.vectorization_factor : 1);
  }
  for (const LookupAccess& lookup : summary.lookups()) {
    widths.push_back(lookup.run.exists ? params.vectorization_factor : 1);
  }
  return widths;
}

} // namespace

void apply(FusionSummary& summary, const HeuristicParams& heuristics) {
  const auto& params = params_as<PointwiseParams>(heuristics, SchedulerType::pointwise);
  Fusion& fusion = summary.fusion();
  const FusionGuard guard(&fusion);
  const std::vector<TensorAccess>& accesses = summary.accesses();
  const std::vector<int64_t> widths = widths_of(summary, params);

  const std::vector<TensorView*> moved =
      params.runs_in_tasks ? fork_outputs(accesses) : cache_global_tensors(accesses);
  TensorView* reference = moved[summary.reference_access()];

  ReferenceLoops loops(reference, params);
  const int64_t of_block = loops.make();
  if (params.runs_in_tasks && params.vectorization_factor > 1 &&
      summary.exprs().size() <= kMostUnswitched) {
    reference->axis(-1)->parallelize(ParallelType::Unswitch); // whole steps have no tests
  }
  transform::transform_like(reference);
  transform::parallelize_like(reference);

  std::vector<TensorView*> loads;
  for (size_t i = 0; i < accesses.size() && !params.runs_in_tasks; ++i) {
    if (moved[i] == nullptr) {
      continue;
    }
    vectorize_access(moved[i], widths[i], params.vectorization_factor);
    if (!accesses[i].is_output) {
      loads.push_back(moved[i]);
    }
  }
  if (!params.runs_in_tasks) {
    for (size_t i = accesses.size(); TensorView* load : lookup_loads(summary.lookups())) {
      vectorize_access(load, widths[i++], params.vectorization_factor);
      loads.push_back(load);
    }
    const bool has_vectors = std::any_of(
        widths.begin() + static_cast<std::ptrdiff_t>(accesses.size()), widths.end(),
        [](int64_t width) { return width > 1; });
    if (!has_vectors && params.vectorization_factor < kLoadsOfVector) {
      const std::vector<TensorView*> chosen = cats_of_inputs(summary);
      loads.insert(loads.end(), chosen.begin(), chosen.end());
    }
    unroll_loads(reference, of_block, loops.has_two_sides(), loads, params);
  }
  if (!loads.empty()) {
    transform::inline_at(reference, of_block, /*best_effort=*/true, loads);
  }
  std::vector<TensorView*> others = fusion.tensors();
  std::erase_if(others, [&](const TensorView* tensor) {
    return tensor->is_fusion_input() || std::ranges::find(loads, tensor) != loads.end();
  });
  transform::inline_most(fusion, others);
}

} // namespace nvfuser::schedule::pointwise
