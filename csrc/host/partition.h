// Partition: a fusion as pieces that are computed one after another. Segmentation makes it; the
// executor cache finds a kernel for each piece, or has it evaluated, and makes a program of them.
//
//   slots 0 .. n - 1     the inputs of the whole fusion
//   slots n ..           the visible outputs of piece 0, then those of piece 1, ...
//
// These are the slots of the program that runs it (host/program.h).
#pragma once

#include <memory>
#include <vector>

#include "host/steps.h"
#include "ir/fusion.h"
#include "segment/segmented_fusion.h"

namespace nvfuser::host {

/// A part of a fusion that one step computes.
struct Piece {
  /// The fusion that it computes, of its own, without a schedule and without dynamic shapes.
  std::shared_ptr<Fusion> fusion;
  /// The slots it reads, for each input of `fusion`.
  std::vector<Slot> inputs;
  /// The places in a run of its random tensors without seed (RandomShare::numbers).
  std::vector<int64_t> random_numbers = {};
  /// How it runs, where nothing stands against it.
  SegmentKind kind = SegmentKind::Kernel;
  /// The scheduler that it was cut for; none: whichever takes it.
  SchedulerType scheduler = SchedulerType::none;
};

struct Partition {
  /// Each reads slots of the arguments and of earlier pieces.
  std::vector<Piece> pieces;
  /// The slots of the visible outputs of the whole fusion.
  std::vector<Slot> outputs;
  int64_t random_streams = 0; // random tensors without seed of the whole fusion
};

/// The partition of one piece: `fusion` as it is.
[[nodiscard]] Partition whole(
    std::shared_ptr<Fusion> fusion, SegmentKind kind = SegmentKind::Kernel);

/// Let `partition` read other slots than its own: `arguments` says for each input of its fusion
/// which of the `num_arguments` of a run it is.
void bind_inputs(Partition& partition, const std::vector<int64_t>& arguments, size_t num_arguments);

/// Let the pieces draw as `definition` would, which they come from.
void number_random_tensors(Partition& partition, const Fusion& definition);

} // namespace nvfuser::host
