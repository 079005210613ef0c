// The ways in which a piece can be computed, best first. They are made one by one, when they are
// needed: a later one only where an earlier one is refused.
//
//   1. no computation: its outputs lie in the memory of its inputs
//   2. the schedulers that take the piece, in their order of preference
//   3. the trivial schedule, which is right for any fusion that has kernel forms
//   4. evaluation by the caller's framework
//
// A kernel has the ways from 2 on; a segment that a library computes has 3 and 4; one that was
// scheduled by hand has two: the kernel that it is, and evaluation.
//
// A schedule that a user put in place (PieceWays::use) comes before all of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host/candidates.h"
#include "host/evaluator.h"
#include "host/partition.h"
#include "runtime/kernel_identity.h"
#include "runtime/kernel_program.h"

namespace nvfuser::host {

/// One way to compute a piece.
struct Way {
  enum class Kind : uint8_t { View, Scheduled, Trivial, ByHand, Evaluated, Given };
  Kind kind = Kind::Evaluated;
  std::shared_ptr<KernelProgram> kernel = nullptr;
  Candidates::Params params = nullptr; // that it was scheduled with
};

/// "scheduled"
[[nodiscard]] const char* to_string(Way::Kind kind);

/// A way that was tried in vain.
struct RefusedWay {
  Way::Kind kind = Way::Kind::Evaluated;
  SchedulerType scheduler = SchedulerType::none;
  KernelRefusal refusal;
  Candidates::Params params = nullptr; // of a scheduler
};

/// A schedule that a user made, or had found by tuning, for a segment.
struct HandSchedule {
  std::shared_ptr<Fusion> fusion; // with its schedule
  std::string decisions = {};     // that it is for (host/hand_schedules.h); empty: any
  std::string origin;             // a file, for errors and warnings
  CompileParams compile_params = {};
};

/// A way that an earlier run found, without what it is made of.
struct RememberedWay {
  Way::Kind kind = Way::Kind::Evaluated;
  size_t number = 0;
  // -- of a scheduler --
  SchedulerType scheduler = SchedulerType::none;
  std::string schedule; // ScheduledFusion::name
  CompileParams params;
  std::string decisions; // of a run (host/hand_schedules.h)
};

/// For people: how a piece runs, and why not in a better way.
struct PieceReport {
  std::shared_ptr<const Fusion> fusion; // what it computes
  Way way;
  std::vector<RefusedWay> refused;       // best first
  std::vector<Rejection> rejections;     // of schedulers that do not take it
  Candidates::Params proposed = nullptr; // of the first scheduler that takes it
  std::vector<Slot> inputs = {};         // that it reads (host/partition.h)
  std::string origin = {};               // of the schedule that was put in place
};

/// A piece on one kind of device, and all that are like it. Not thread-safe, but for `serves`.
class PieceWays {
 public:
  /// `identity` names its kernels; the scheduler is that of the way.
  PieceWays(
      Piece piece,
      std::shared_ptr<Candidates> candidates,
      const KernelIdentity& identity,
      bool is_by_hand);

  PieceWays(const PieceWays&) = delete;
  PieceWays& operator=(const PieceWays&) = delete;

  /// Whether it computes the piece as `candidates`, which schedulers propose for other sizes, have
  /// it: they are equal up to the one that is used. Any thread may ask.
  [[nodiscard]] bool serves(Candidates& candidates) const;
  /// Why it does not: the params, or the schedulers, that are others; no value: it does.
  [[nodiscard]] std::optional<std::string> find_differences(Candidates& candidates) const;
  /// Whether `piece` is the same, but for the slots that it reads.
  [[nodiscard]] bool is_like(const Piece& piece, Candidates& candidates) const;
  [[nodiscard]] const Piece& piece() const {
    return piece_;
  }
  [[nodiscard]] const KernelIdentity& identity() const {
    return identity_;
  }
  [[nodiscard]] const Way& way(size_t number) const {
    return std::get<Way>(*ways_.at(number));
  }
  /// How way `number` came to be chosen.
  [[nodiscard]] PieceReport report_of(size_t number) const;

  /// Compute the piece with this schedule from now on, where a device allows it; nullptr: as
  /// before. A refusal, and no change, where it cannot be lowered for `device`.
  [[nodiscard]] std::optional<KernelRefusal> use(const HandSchedule* schedule, Device device);
  /// The way by such a schedule; nullptr: there is none.
  [[nodiscard]] const Way* find_given() const {
    return ways_[given()] ? &way(given()) : nullptr;
  }
  /// The number of the way by such a schedule.
  [[nodiscard]] size_t given() const {
    return kinds_.size() - 1;
  }

  /// Start with a way that serves the piece, as is known: those before it do not. Returns whether
  /// it can be made; nothing changes if not.
  [[nodiscard]] bool remember(const RememberedWay& way, Device device);
  /// Those of the run that was remembered; empty: nothing is remembered.
  [[nodiscard]] const std::string& decisions() const {
    return decisions_;
  }
  /// The memory of way `number`; no value: a user's schedule, which is not remembered.
  [[nodiscard]] std::optional<RememberedWay> memory_of(size_t number) const;
  /// Find out why the ways before `number` do not serve the piece, where that was remembered.
  void recall_refusals(size_t number, Device device);

  /// The number of the way to start with; throws as `find_way` does.
  [[nodiscard]] size_t find_best_way(Device device, Evaluator& evaluator) {
    return ways_[given()] ? given() : find_way(first_, device, evaluator);
  }
  /// The number of the first way from `first` on that exists. Throws UserError, saying why there is
  /// no kernel, where nothing is left: fallback is disabled, or nothing evaluates.
  [[nodiscard]] size_t find_way(size_t first, Device device, Evaluator& evaluator);
  /// The number of the way behind `number`, which has no kernel for some arguments. Throws the
  /// refusal where that is a mistake of the user, and as find_way does.
  [[nodiscard]] size_t find_way_behind(
      size_t number, const KernelRefusal& refusal, Device device, Evaluator& evaluator);
  /// News for the user: the piece is evaluated because a compiler failed. Told once.
  [[nodiscard]] std::optional<std::string> take_warning() {
    return std::exchange(warning_, std::nullopt);
  }

 private:
  using Tried = std::variant<Way, KernelRefusal>;

  /// No value: fewer schedulers take the piece.
  [[nodiscard]] std::optional<Tried> try_make(size_t number, Device device) const;
  [[nodiscard]] Tried try_scheduled(const Candidates::Params& params, Device device) const;
  [[nodiscard]] Tried try_trivial(Device device) const;
  [[nodiscard]] Tried try_kernel(
      Way way,
      std::shared_ptr<const ScheduledFusion> scheduled,
      Device device,
      const CompileParams& params = {},
      SchedulerType scheduler = SchedulerType::none) const;
  struct TwoParams {
    Candidates::Params own;
    Candidates::Params other;
  };
  /// The first proposals of schedulers that differ, of those up to the one that is used.
  [[nodiscard]] std::optional<TwoParams> find_first_difference(Candidates& candidates) const;
  /// The place of a way among the candidates.
  [[nodiscard]] size_t candidate_of(size_t number) const;
  /// Whether a way may stand in for one that is refused, and not a user be told.
  [[nodiscard]] bool may_replace(Way::Kind refused, const KernelRefusal& refusal) const;
  [[nodiscard]] size_t number_behind(size_t number, const KernelRefusal& refusal);
  [[nodiscard]] size_t number_behind_schedulers() const;
  /// The number of the way that needs no kernel.
  [[nodiscard]] size_t number_of_evaluation() const {
    return kinds_.size() - 2;
  }
  void note_refused(size_t number);
  void check_evaluation_serves(Evaluator& evaluator);

  const Piece piece_;
  const std::shared_ptr<Candidates> candidates_;
  const KernelIdentity identity_;
  std::vector<Way::Kind> kinds_;           // by number; as many are Scheduled as schedulers exist
  std::vector<std::optional<Tried>> ways_; // by number
  std::string decisions_;
  size_t first_ = 0; // the ways before it were refused in an earlier run
  std::atomic<bool> is_view_refused_ = false;
  std::atomic<size_t> num_refused_ = 0; // of the first candidates
  std::optional<KernelRefusal> why_;    // there is no kernel: what a user is told
  std::optional<std::string> warning_;
  std::string given_origin_; // of the schedule that was put in place
};

} // namespace nvfuser::host
