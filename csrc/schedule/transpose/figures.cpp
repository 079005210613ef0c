#include <algorithm>

#include "schedule/params/transpose_params.h"
#include "schedule/transpose/runs.h"
#include "schedule/transpose/transpose.h"

namespace nvfuser::schedule::transpose {
namespace {

/// Registers of a thread beside what it loads.
constexpr int64_t kOtherRegisters = 24;
constexpr int64_t kRegisterBytes = 4;

int64_t elements_of_tile(
    const FusionSummary& summary, const TransposeParams& params, const RunFacts& facts) {
  if (params.tile_parts.empty()) {
    return params.tile_size1 * params.tile_size2;
  }
  const IterDomains& axes = summary.reference().reference->axes;
  int64_t elements = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    elements *= elements_of_part(params.tile_parts[i], facts.size(axes[i]->extent()));
  }
  return elements;
}

/// Adds what a block loads of a tile. A tile of two dimensions is loaded before a part is stored.
void add_tile(
    const FusionSummary& summary,
    const TransposeParams& params,
    const RunFacts& facts,
    KernelFigures& figures) {
  const bool is_of_runs = !params.tile_parts.empty();
  const std::vector<const TensorAccess*> reordered = find_reordered(summary);
  const std::optional<TileAxes> tile = find_tile_axes(summary);
  const int64_t elements = elements_of_tile(summary, params, facts);
  for (const TensorAccess& access : summary.accesses()) {
    if (access.is_output || !(is_of_runs ? access.has_all_axes : has_tile(access, *tile))) {
      continue;
    }
    const bool goes_through_shared = is_of_runs
                                         ? std::ranges::find(reordered, &access) != reordered.end()
                                         : is_staged(access, *tile);
    const int64_t bytes = elements * size_bytes(access.tensor->dtype());
    figures.load_bytes_of_block += bytes;
    figures.shared_bytes += goes_through_shared ? bytes : 0;
  }
}

} // namespace

KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& heuristics, const RunFacts& facts) {
  const auto& params = params_as<TransposeParams>(heuristics, SchedulerType::transpose);
  KernelFigures figures;
  figures.traffic_bytes = traffic_bytes(summary, facts);
  figures.elements = 1;
  for (const IterDomain* axis : summary.reference().reference->axes) {
    figures.elements *= static_cast<double>(facts.size(axis->extent()));
  }
  figures.of_element = summary.cost();
  figures.blocks = params.lparams.num_blocks();
  figures.threads = params.lparams.num_threads();
  add_tile(summary, params, facts, figures);
  const int64_t of_thread = figures.load_bytes_of_block / std::max<int64_t>(figures.threads, 1);
  figures.registers =
      std::min(kOtherRegisters + of_thread / kRegisterBytes, params.cparams.maxrregcount);
  figures.block_barriers = figures.shared_bytes > 0 ? 1 : 0;
  return figures;
}

} // namespace nvfuser::schedule::transpose
