// Candidates: what the automatic schedulers propose for a piece, best first. Most pieces use the
// first proposal, so that the others are worked out when they are asked for.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "schedule/params/heuristic_params.h"
#include "schedule/run_facts.h"
#include "schedule/summary/fusion_summary.h"
#include "segment/segmented_fusion.h"

namespace nvfuser::host {

/// A fusion, and its summary for all sizes, which schedulers ask. They look at a copy, since
/// nothing may change the fusion meanwhile.
struct SummarizedFusion {
  explicit SummarizedFusion(std::shared_ptr<Fusion> copy)
      : fusion(std::move(copy)), summary(*fusion) {}
  const std::shared_ptr<Fusion> fusion;
  const schedule::FusionSummary summary;
};

/// Thread-safe.
class Candidates {
 public:
  using Params = std::shared_ptr<const HeuristicParams>;

  /// No scheduler is asked.
  Candidates() = default;
  /// All schedulers are asked, in their order of preference.
  Candidates(
      std::shared_ptr<const SummarizedFusion> fusion,
      std::shared_ptr<const schedule::RunFacts> facts);
  /// `first` is the answer of the first scheduler that takes `fusion`; nullptr: none does. Those
  /// behind it were not asked.
  Candidates(
      std::shared_ptr<Fusion> fusion,
      std::shared_ptr<const schedule::RunFacts> facts,
      Params first,
      SchedulerType scheduler);

  /// The params of the scheduler in place `number`; nullptr: fewer take the piece. What is
  /// evaluated or seen as a view has a row in the table of schedulers too, but no kernel, and no
  /// place here.
  [[nodiscard]] Params at(size_t number);
  /// The refusals of the schedulers that were asked and do not take the piece.
  [[nodiscard]] std::vector<Rejection> rejections() const;

 private:
  [[nodiscard]] Params find_next();

  mutable std::mutex mutex_;       // of what follows
  std::shared_ptr<Fusion> fusion_; // until it is summarized
  std::shared_ptr<const SummarizedFusion> summarized_;
  std::shared_ptr<const schedule::RunFacts> facts_;
  std::vector<Params> found_;
  std::vector<Rejection> rejections_;
  size_t next_ = 0; // row of the table: the schedulers before it were asked
};

} // namespace nvfuser::host
