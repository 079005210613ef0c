#include <algorithm>

#include "schedule/params/pointwise_params.h"
#include "schedule/pointwise/pointwise.h"

namespace nvfuser::schedule::pointwise {
namespace {

/// Registers of a thread beside what it loads.
constexpr int64_t kOtherRegisters = 24;
constexpr int64_t kRegisterBytes = 4;

/// Loads of a thread before it uses the first, in elements of one operand. An operand that is
/// broadcast over rows is loaded once for all of them.
int64_t elements_loaded(const TensorAccess& access, const PointwiseParams& params) {
  const auto middle = static_cast<size_t>(params.break_point);
  const bool has_rows = middle == 0 || access.has_any_axis(0, middle);
  const bool has_columns = access.has_any_axis(middle, access.has_axis.size());
  return (has_rows ? params.unroll_factor_outer : 1) *
         (has_columns ? params.unroll_factor_inner * params.vectorization_factor : 1);
}

} // namespace

KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& heuristics, const RunFacts& facts) {
  const auto& params = params_as<PointwiseParams>(heuristics, SchedulerType::pointwise);
  KernelFigures figures;
  figures.traffic_bytes = traffic_bytes(summary, facts);
  figures.blocks = params.lparams.num_blocks();
  figures.threads = params.lparams.num_threads();
  if (!summary.reference().reference) { // branches, of single elements
    figures.load_bytes_of_thread = static_cast<int64_t>(sizeof(float));
    return figures;
  }
  figures.elements = 1;
  for (const IterDomain* axis : summary.reference().reference->axes) {
    figures.elements *= static_cast<double>(facts.size(axis->extent()));
  }
  figures.of_element = summary.cost();
  for (const TensorAccess& access : summary.accesses()) {
    if (!access.is_output && !access.is_lookup()) {
      figures.load_bytes_of_thread +=
          elements_loaded(access, params) * size_bytes(access.tensor->dtype());
    }
  }
  for (const LookupAccess& lookup : summary.lookups()) {
    figures.load_bytes_of_thread += params.unroll_factor_outer * params.unroll_factor_inner *
                                    params.vectorization_factor * size_bytes(lookup.input->dtype());
  }
  figures.registers = std::min(
      kOtherRegisters + figures.load_bytes_of_thread / kRegisterBytes, params.cparams.maxrregcount);
  return figures;
}

} // namespace nvfuser::schedule::pointwise
