// Candidates: what the automatic schedulers propose for a piece, best first. Most pieces use the
// first proposal, so that the others are worked out when they are asked for.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "schedule/params/heuristic_params.h"
#include "schedule/run_facts.h"
#include "schedule/summary/fusion_summary.h"
#include "segment/group_memory.h"
#include "segment/segmented_fusion.h"

namespace nvfuser::host {

using segment::SummarizedFusion;

/// Thread-safe.
class Candidates {
 public:
  using Params = std::shared_ptr<const HeuristicParams>;

  /// No scheduler is asked.
  Candidates() = default;
  /// The candidates that `plan` returns when one is first needed; any thread may call it.
  explicit Candidates(std::function<std::shared_ptr<Candidates>()> plan) : plan_(std::move(plan)) {}
  /// All schedulers are asked, in their order of preference.
  Candidates(
      std::shared_ptr<const SummarizedFusion> fusion,
      std::shared_ptr<const schedule::RunFacts> facts);
  /// `first` is the answer of the first scheduler that takes `fusion`; nullptr: none does. Those
  /// behind it were not asked; `rejections` are of those before it. `summarized`: the fusion, if it
  /// is; nullptr: that is done when it is needed.
  Candidates(
      std::shared_ptr<Fusion> fusion,
      std::shared_ptr<const SummarizedFusion> summarized,
      std::shared_ptr<const schedule::RunFacts> facts,
      Params first,
      SchedulerType scheduler,
      std::vector<Rejection> rejections = {});

  /// The params of the scheduler in place `number`; nullptr: fewer take the piece. The
  /// evaluator has a row in the table of schedulers, but makes no kernel, and has no place here.
  [[nodiscard]] Params at(size_t number);
  /// The refusals of the schedulers that were asked and do not take the piece.
  [[nodiscard]] std::vector<Rejection> rejections() const;

 private:
  [[nodiscard]] Params find_next();

  const std::function<std::shared_ptr<Candidates>()> plan_;
  mutable std::mutex mutex_;       // of what follows
  std::shared_ptr<Fusion> fusion_; // until it is summarized
  std::shared_ptr<const SummarizedFusion> summarized_;
  std::shared_ptr<const schedule::RunFacts> facts_;
  std::vector<Params> found_;
  std::vector<Rejection> rejections_;
  size_t next_ = 0; // row of the table: the schedulers before it were asked
};

} // namespace nvfuser::host
