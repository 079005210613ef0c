// PiecePlanner: how a fusion is cut into pieces for the sizes of a run, and what the automatic
// schedulers propose for each of them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/device.h"
#include "host/partition.h"
#include "runtime/arguments.h"
#include "schedule/params/heuristic_params.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::host {

/// The params of the schedulers that take a piece, best first.
using Candidates = std::vector<std::shared_ptr<const HeuristicParams>>;

struct PlannedPieces {
  Partition partition;
  std::vector<Candidates> candidates; // by piece
};

/// Asks about one fusion, again and again for new sizes. What it answers follows from the sizes
/// alone, not from those that came before. Thread-safe.
class PiecePlanner {
 public:
  /// `fusion`: without a schedule and without dynamic shapes; it must not be changed any more.
  /// `is_by_hand`: it is one piece, which no scheduler is asked about.
  PiecePlanner(std::shared_ptr<Fusion> fusion, bool is_by_hand);

  /// Throws UserError for arguments that do not fit.
  /// Cost: what does not depend on sizes is looked at once; the rest asks no graph.
  [[nodiscard]] PlannedPieces plan(std::span<const Argument> args, Device device);

 private:
  /// Schedulers know this of a fusion for all sizes. It is about a copy, since they schedule it.
  struct Known {
    explicit Known(const Fusion& fusion)
        : copy(fusion.clone()), equal_dims(equal_input_dims(*copy)), summary(*copy) {}
    const std::shared_ptr<Fusion> copy;
    const EqualDims equal_dims;
    const schedule::FusionSummary summary;
  };

  const std::shared_ptr<Fusion> fusion_;
  const bool is_by_hand_;
  std::mutex mutex_; // of what follows
  std::optional<Known> known_;
};

} // namespace nvfuser::host
