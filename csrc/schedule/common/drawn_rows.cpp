#include "schedule/common/drawn_rows.h"

#include <algorithm>

#include "ir/random_exprs.h"
#include "optimize/rewrite.h"
#include "schedule/common/reduction_loops.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::schedule {
namespace {

constexpr int64_t kVectorBits = 128; // the widest access of a thread to shared memory

/// Whether the tensor has the axes of the problem, in the same order.
bool has_axes_of_problem(const FusionSummary& summary, const TensorView* tensor) {
  const ReductionProblem& problem = *summary.problem();
  const IterDomains& axes = problem.reference->logical();
  const IterDomains& own = tensor->logical();
  return problem.broadcast_positions.empty() && !problem.kept.empty() &&
         std::ranges::equal(own, axes, [&](const IterDomain* a, const IterDomain* b) {
           return summary.exact().are_mapped(a, b);
         });
}

/// The single result that is computed from each element of `tensor` alone, and is no wider. Null:
/// there are other readers, or other operands.
TensorView* computed_alone(const TensorView* tensor) {
  if (tensor->uses().size() != 1 || tensor->is_fusion_output()) {
    return nullptr;
  }
  const Expr* use = tensor->uses().front();
  if (!optimize::is_on_elements(*use) || tensor_inputs(use).size() != 1) {
    return nullptr;
  }
  TensorView* result = tensor_outputs(use).front();
  const bool is_wider = size_bits(result->dtype()) > size_bits(tensor->dtype());
  return is_wider || result->is_fusion_output() ? nullptr : result;
}

/// The random numbers of each expression that draws some, and what is computed from them alone.
std::vector<DrawnRows> find_drawn_rows(const FusionSummary& summary) {
  std::vector<DrawnRows> found;
  for (const Expr* expr : summary.exprs()) {
    const auto* draw = expr->as<RNGOp>();
    if (draw == nullptr || !has_axes_of_problem(summary, draw->out)) {
      continue;
    }
    DrawnRows rows{draw->out};
    while (TensorView* next = computed_alone(rows.back())) {
      rows.push_back(next);
    }
    const bool is_narrow = kNumbersOfCipher * size_bits(rows.back()->dtype()) <= kVectorBits;
    if (is_narrow && !rows.back()->is_fusion_output() && !rows.back()->uses().empty()) {
      found.push_back(std::move(rows));
    }
  }
  return found;
}

} // namespace

bool draws_rows(const FusionSummary& summary) {
  return !find_drawn_rows(summary).empty();
}

std::vector<DrawnRows> put_drawn_rows_in_shared_memory(const FusionSummary& summary) {
  std::vector<DrawnRows> drawn = find_drawn_rows(summary);
  for (DrawnRows& rows : drawn) {
    TensorView* shared = rows.back()->cache_after();
    shared->set_memory_type(MemoryType::Shared);
    rows.push_back(shared);
  }
  return drawn;
}

void schedule_drawn_rows(
    const FusionSummary& summary, const DrawnRows& rows, const ReductionParams& params) {
  TensorView* shared = rows.back();
  const DrawnRows others(rows.begin(), rows.end() - 1);
  static_cast<void>(make_canonical(shared, *summary.problem())); // [I, R]
  const int64_t rows_of_block = std::max<int64_t>(params.lparams.bdimy(), 1);
  shared->split(0, rows_of_block);
  shared->merge(1, 2);
  shared->split(1, kNumbersOfCipher);
  shared->split(1, params.lparams.bdimx());
  shared->split(1, rows_of_block);
  transform::transform_like(shared, others);
  shared->axis(0)->parallelize(ParallelType::BIDx);
  shared->axis(1)->parallelize(ParallelType::Unroll);
  shared->axis(2)->parallelize(ParallelType::TIDy);
  shared->axis(3)->parallelize(ParallelType::TIDx);
  transform::parallelize_like(shared, -1, others);
  shared->axis(4)->parallelize(ParallelType::Vectorize);
  transform::inline_most(summary.fusion(), others);
}

} // namespace nvfuser::schedule
