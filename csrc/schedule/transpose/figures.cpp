#include <algorithm>

#include "schedule/params/transpose_params.h"
#include "schedule/transpose/transpose.h"

namespace nvfuser::schedule::transpose {
namespace {

/// Registers of a thread beside what it loads.
constexpr int64_t kOtherRegisters = 24;
constexpr int64_t kRegisterBytes = 4;

} // namespace

KernelFigures find_figures(
    const FusionSummary& summary, const HeuristicParams& heuristics, const RunFacts& facts) {
  const auto& params = params_as<TransposeParams>(heuristics, SchedulerType::transpose);
  const TileAxes tile = *find_tile_axes(summary);
  KernelFigures figures;
  figures.traffic_bytes = traffic_bytes(summary, facts);
  figures.elements = 1;
  for (const IterDomain* axis : summary.reference().reference->axes) {
    figures.elements *= static_cast<double>(facts.size(axis->extent()));
  }
  figures.of_element = summary.cost();
  figures.blocks = params.lparams.num_blocks();
  figures.threads = params.lparams.num_threads();
  // A block loads all of its tile before it stores a part.
  for (const TensorAccess& access : summary.accesses()) {
    if (access.is_output || !has_tile(access, tile)) {
      continue;
    }
    const int64_t bytes =
        params.tile_size1 * params.tile_size2 * size_bytes(access.tensor->dtype());
    figures.load_bytes_of_block += bytes;
    figures.shared_bytes += is_staged(access, tile) ? bytes : 0;
  }
  const int64_t of_thread = figures.load_bytes_of_block / std::max<int64_t>(figures.threads, 1);
  figures.registers =
      std::min(kOtherRegisters + of_thread / kRegisterBytes, params.cparams.maxrregcount);
  figures.block_barriers = figures.shared_bytes > 0 ? 1 : 0;
  return figures;
}

} // namespace nvfuser::schedule::transpose
