// FusionRuntime: a fusion made ready for one kind of device, with options and decisions of its own.
// It has a program for the best way of every piece; where sizes have no kernel, another one for
// these sizes, in which a piece is computed in the next best way.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/piece_planner.h"
#include "host/piece_ways.h"
#include "host/plan_store.h"
#include "host/program.h"

namespace nvfuser::host {

/// Thread-safe. Threads that plan wait for each other, so that every kernel is compiled once.
class FusionRuntime {
 public:
  /// `identity` names kernels; the scheduler and the group are those of the pieces.
  /// `device`: of runs with pieces that are remembered.
  FusionRuntime(
      PlannedPieces pieces,
      size_t num_inputs,
      const KernelIdentity& identity,
      bool is_by_hand,
      Device device);
  FusionRuntime(const FusionRuntime&) = delete;
  FusionRuntime& operator=(const FusionRuntime&) = delete;

  /// Whether it computes `pieces`, of another run: the fusion is cut alike, and schedulers propose
  /// for every piece what is used.
  [[nodiscard]] bool serves(const PlannedPieces& pieces) const;
  /// Tells a user why this one does not serve `pieces`.
  [[nodiscard]] std::string difference_of(const PlannedPieces& pieces) const;

  /// A program, and the plan of its runs with arguments like some.
  struct Planned {
    std::shared_ptr<HostProgram> program;
    std::shared_ptr<const ProgramPlan> plan;
    std::vector<std::string> warnings; // for the user
    /// Params that failed, of pieces that run without a scheduler now.
    std::vector<UnusableProposal> unusable;
  };
  /// Throws UserError for arguments that do not fit, and where nothing computes a piece.
  /// `evaluator` is only asked whether it is there.
  [[nodiscard]] Planned plan(std::span<const Argument> args, Device device, Evaluator& evaluator);

  /// The plan that the fusion was cut by; nullptr: it is one piece.
  [[nodiscard]] const std::shared_ptr<const SegmentedFusion>& cut() const {
    return replan_ == nullptr ? cut_ : replan_().cut;
  }
  /// The program that was planned last, for later processes; no value: it is no program of
  /// automatic schedules, or comes from such a plan.
  [[nodiscard]] std::optional<StoredPlan> plan_to_store() const;

  /// Compute a segment with `schedule` from now on; nullptr: with what schedulers propose, again.
  /// Throws UserError if it computes something else than the segment, or has no kernel on the
  /// device of the last plan.
  void use_schedule(size_t segment, const HandSchedule* schedule);
  /// Compute a segment with what its scheduler makes of `params` from now on. Throws UserError as
  /// use_schedule does, and if the params are for another scheduler or cannot be applied.
  void use_params(size_t segment, const HeuristicParams& params);
  /// Keep the schedule that stands in for the automatic one of a segment for other processes, as
  /// the best for runs with the same decisions on such a device. Throws UserError if none does.
  void store_tuned(size_t segment);

  // -- for looking into: the program that was planned last --

  /// A text for people: how each segment runs, and why it runs so.
  [[nodiscard]] std::string explain() const;
  /// Each segment as a definition with its schedule, in the caller's language.
  [[nodiscard]] std::vector<std::string> schedules() const;

  /// How its pieces run, in their order.
  [[nodiscard]] std::vector<PieceReport> last_pieces() const;
  /// Generated sources of its kernels; empty where there are none.
  [[nodiscard]] std::string kernel_source(bool with_support_code) const;
  /// One for each kernel.
  [[nodiscard]] std::vector<std::string> kernel_sources(bool with_support_code) const;
  /// Its scheduled fusions, with the transforms of every tensor if asked for; empty where there are
  /// none. The plan that the fusion was cut by stands in front of several segments.
  [[nodiscard]] std::string scheduled_text(bool with_transforms) const;
  /// The launch parameters of its kernels in their last runs.
  [[nodiscard]] std::vector<LaunchParams> last_launches() const;
  /// How many kernels were compiled, of all programs.
  [[nodiscard]] int64_t num_compiled() const;

 private:
  /// By piece: the number of its way.
  using Choice = std::vector<size_t>;
  /// Pieces that differ only in the slots and random numbers they read share their ways, and so
  /// their kernels.
  struct RuntimePiece {
    PieceWays* ways = nullptr;
    std::vector<Slot> inputs;
    std::vector<int64_t> random_numbers;
    KernelIdentity identity; // names evaluations
  };

  [[nodiscard]] bool is_cut_like(const PlannedPieces& pieces) const;
  [[nodiscard]] Choice best_choice(Device device, Evaluator& evaluator);
  /// Changes `choice` where piece `refused` has no kernel: another way for it, and for those that
  /// share its ways, unless its sizes alone have none.
  void choose_behind(
      size_t refused,
      const KernelRefusal& refusal,
      Choice& choice,
      Device device,
      Evaluator& evaluator);
  [[nodiscard]] const std::shared_ptr<HostProgram>& program_for(const Choice& choice);
  /// Put the schedules in place that are kept for segments like these (NVFUSER_SCHEDULES).
  void use_kept_schedules(const Choice& choice, Device device);
  /// The ways of a segment that has a kernel. Programs with a schedule that was put in its place
  /// are forgotten.
  [[nodiscard]] PieceWays& ways_to_change(size_t segment);
  void use(size_t segment, const Way& replaced, const HandSchedule& schedule, Device device);
  [[nodiscard]] std::vector<std::shared_ptr<KernelProgram>> last_kernels() const;
  /// `last_pieces`, where the lock is held.
  [[nodiscard]] std::vector<PieceReport> reports() const;
  [[nodiscard]] std::vector<UnusableProposal> unusable_proposals() const;
  void add_piece(PlannedPieces& pieces, size_t position, bool is_by_hand);

  const KernelIdentity identity_;
  const size_t num_inputs_;
  const std::shared_ptr<const SegmentedFusion> cut_;   // nullptr: one piece
  const std::function<const PlannedPieces&()> replan_; // nullptr: planned in this process
  const std::vector<Slot> outputs_;
  const int64_t random_streams_;
  std::vector<std::unique_ptr<PieceWays>> ways_; // guarded by mutex_, but for what they allow
  std::vector<RuntimePiece> pieces_;
  mutable std::mutex mutex_; // of what follows
  std::map<Choice, std::shared_ptr<HostProgram>> programs_;
  std::shared_ptr<HostProgram> last_program_;
  Choice last_choice_; // of that program
  Device last_device_;
  std::set<Choice> dumped_;           // as NVFUSER_DUMP asks for it
  bool has_used_kept_ = false;        // schedules
  std::vector<std::string> warnings_; // that were not told yet
};

} // namespace nvfuser::host
