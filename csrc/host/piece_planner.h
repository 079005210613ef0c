// PiecePlanner: how a fusion is cut into pieces for the sizes of a run, and what the automatic
// schedulers propose for each of them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/device.h"
#include "host/candidates.h"
#include "host/partition.h"
#include "runtime/arguments.h"
#include "segment/segmented_fusion.h"

namespace nvfuser::host {

/// A fusion in pieces, for sizes of a run.
struct PlannedPieces {
  /// The fusion that is cut: what passes made of the definition.
  std::shared_ptr<const Fusion> complete;
  /// In slots of a run of the definition.
  Partition partition;
  std::vector<std::shared_ptr<Candidates>> candidates; // by piece
  /// The plan that the pieces come from; nullptr: the fusion is one piece.
  std::shared_ptr<const SegmentedFusion> cut;
};

/// Asks about one fusion, again and again for new sizes. What it answers follows from the sizes
/// alone, not from those that came before. Thread-safe.
class PiecePlanner {
 public:
  /// `fusion`: without a schedule and without dynamic shapes; it must not be changed any more.
  /// `is_by_hand`: it is one piece, which no scheduler is asked about.
  PiecePlanner(std::shared_ptr<Fusion> fusion, bool is_by_hand);

  /// Throws UserError for arguments that do not fit.
  /// Cost: a fusion that a scheduler takes whole is looked at once, and later runs ask no graph.
  [[nodiscard]] PlannedPieces plan(std::span<const Argument> args, Device device);

 private:
  /// The definition for all sizes, after the passes.
  struct Known {
    explicit Known(const Fusion& fusion);
    const std::shared_ptr<Fusion> definition; // as it is
    const EqualDims equal_dims;               // of the definition
    const std::shared_ptr<Fusion> complete;   // after the passes
    const std::vector<int64_t> arguments;     // by input of `complete`: that of the definition
    const std::shared_ptr<SummarizedFusion> whole;
    const EqualDims complete_equal_dims;
    const bool may_be_whole; // nothing in it asks for a cut
  };

  [[nodiscard]] PlannedPieces cut(std::shared_ptr<const schedule::RunFacts> facts) const;

  const std::shared_ptr<Fusion> fusion_;
  const bool is_by_hand_;
  std::mutex mutex_; // of what follows
  std::optional<Known> known_;
};

} // namespace nvfuser::host
