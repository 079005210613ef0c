// PiecePlanner: how a fusion is cut into pieces for the sizes of a run, and what the automatic
// schedulers propose for each of them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/device.h"
#include "host/candidates.h"
#include "host/host_scalars.h"
#include "host/partition.h"
#include "host/piece_ways.h"
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

  // -- of a plan that an earlier process made (host/plan_store.h): there is no `cut` then --

  struct Remembered {
    size_t like = 0; // the first piece that is computed by the same kernel
    RememberedWay way;
  };
  std::vector<Remembered> remembered = {};                // by piece
  std::function<const PlannedPieces&()> replan = nullptr; // plans again
};

/// segment::Hints in terms of a definition: its passes make other tensors, of which those that stay
/// have the same names.
struct CutHints {
  std::vector<std::vector<int64_t>> together = {};
  std::vector<int64_t> cuts = {};

  bool operator==(const CutHints&) const = default;
};

/// A scheduler took a piece, and its schedule was of no use.
struct UnusableProposal {
  size_t piece = 0;
  Candidates::Params params;
  Refusal refusal;
};

/// Asks about one fusion, again and again for new sizes. The answers follow from the sizes
/// alone, not from those that came before. Thread-safe.
class PiecePlanner {
 public:
  /// `fusion`: without a schedule and without dynamic shapes; it must not be changed any more.
  /// `is_by_hand`: it is one piece, which no scheduler is asked about.
  PiecePlanner(std::shared_ptr<Fusion> fusion, bool is_by_hand, CutHints hints = {});

  /// Refused: arguments that do not fit, and hints that no scheduler follows.
  /// Cost: a fusion is looked at once, and so is each segment; later runs ask schedulers about new
  /// sizes.
  [[nodiscard]] std::variant<PlannedPieces, Refusal> try_plan(
      std::span<const Argument> args, Device device);
  /// The same; throws what is refused.
  [[nodiscard]] PlannedPieces plan(std::span<const Argument> args, Device device);
  /// Do without these proposals for pieces that run like this from now on: where no other scheduler
  /// takes a piece, it is cut. They follow from pieces and params, so that it does not matter which
  /// run found them out. `cut`: that of the pieces. Returns whether any is news.
  bool note_unusable(
      const SegmentedFusion* cut, const std::vector<UnusableProposal>& proposals, Device device);
  /// Whether it does without some proposals for runs on such a device.
  [[nodiscard]] bool has_unusable(Device device);
  /// Whether it was asked for runs on such a device before.
  [[nodiscard]] bool has_planned(Device device);

 private:
  /// The definition for all sizes, after the passes.
  struct Known {
    /// `is_cuda`: of runs on a GPU, which scalars of the host do not need.
    Known(const Fusion& fusion, bool is_cuda, const CutHints& cut_hints);
    const std::shared_ptr<Fusion> definition; // as it is
    const EqualDims equal_dims;               // of the definition
    const HostScalars parts;                  // of the definition after the passes
    const std::shared_ptr<Fusion> complete;   // what is not computed on the host
    const std::vector<int64_t> arguments;     // by input of `complete`: that of the definition
    const std::shared_ptr<Fusion> to_cut;     // a copy, which plans are of
    const EqualDims to_cut_equal_dims;
    const segment::Hints hints; // tensors of `to_cut`
    bool has_unusable = false;  // a proposal was noted
    segment::GroupMemory groups;
  };

  [[nodiscard]] static std::variant<PlannedPieces, Refusal> cut(
      Known& known, const schedule::RunFacts& facts);

  const std::shared_ptr<Fusion> fusion_;
  const bool is_by_hand_;
  const CutHints hints_;
  std::mutex mutex_;                          // of what follows
  std::array<std::optional<Known>, 2> known_; // on processors, on GPUs
};

} // namespace nvfuser::host
