// SegmentedFusion: a fusion cut into segments that one scheduler takes each.
//
//   const RunFacts run = find_run_facts(fusion, args);
//   const auto plan = SegmentedFusion::segment(fusion, run);
//   for (const SegmentedGroup& segment : plan->groups()) { .. }     in the order of their runs
//
// Everything that was decided is a value here: segments with what schedulers said of them, the
// tensors between them, and for each of these why it crosses.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/refusal.h"
#include "ir/fusion.h"
#include "schedule/params/heuristic_params.h"
#include "schedule/run_facts.h"
#include "segment/cut.h"
#include "segment/hints.h"

namespace nvfuser {

namespace segment {
class GroupMemory;
struct SummarizedFusion;
} // namespace segment

/// The answer of a scheduler that does not take a segment.
struct Rejection {
  SchedulerType scheduler = SchedulerType::none;
  Refusal refusal;
};

/// How a segment runs.
enum class SegmentKind : uint8_t {
  Kernel,    // by a scheduler, or by the trivial schedule
  View,      // its outputs lie in the memory of its inputs
  Evaluated, // by the caller's framework
};

struct SegmentedGroup {
  /// Computes the segment alone, and has no schedule. Its statements have the lines of those that
  /// they are copies of.
  std::shared_ptr<Fusion> fusion;
  SegmentKind kind = SegmentKind::Kernel;
  /// none: no scheduler takes it; the trivial schedule does, or the evaluator.
  SchedulerType scheduler = SchedulerType::none;
  /// The decisions of the scheduler for the sizes of the run; nullptr: there is none, or a library
  /// computes the segment.
  std::shared_ptr<const HeuristicParams> params = nullptr;
  /// The facts that were asked with: the run as the segment sees it.
  std::shared_ptr<const schedule::RunFacts> facts = nullptr;
  std::vector<Rejection> rejections = {}; // of those that were asked before it
  /// `fusion` as it was asked about; nullptr: it was not, or is written in place since.
  std::shared_ptr<const segment::SummarizedFusion> summarized = nullptr;

  // -- in the complete fusion --

  std::vector<Val*> inputs = {};         // in the order of fusion->inputs()
  std::vector<TensorView*> outputs = {}; // in the order in which fusion->outputs() first has them
  std::vector<Expr*> exprs = {};         // operands before results
  /// Those that hints keep together here.
  std::vector<TensorView*> kept_together = {};

  /// "pointwise{0, 1, 4}": the numbers of its expressions.
  [[nodiscard]] std::string to_string() const;
};

/// A tensor that one segment writes and another one reads.
struct SegmentedEdge {
  size_t from = 0; // positions of segments
  size_t to = 0;
  TensorView* tensor = nullptr;
  DataType dtype = DataType::Null; // in memory: mostly that of the tensor
};

/// An output that is computed into memory of its own first, then copied into an argument: another
/// segment, or another thread, may still read the argument while it is computed.
struct LateUpdate {
  TensorView* output = nullptr;
  TensorView* argument = nullptr;
  std::shared_ptr<Fusion> fusion = nullptr; // copies its first input into the second one
  std::shared_ptr<const schedule::RunFacts> facts = nullptr; // of the run of that copy
};

class SegmentedFusion {
 public:
  /// Cut `fusion` for runs like `run`; one segment, where a scheduler takes it whole. The fusion is
  /// read only, and must not change afterwards.
  /// The result follows from what is computed and from sizes, not from the order of statements.
  /// A refusal for a fusion with dynamic shapes, for one with a schedule, for hints that no
  /// scheduler follows, and with io_to_lower_precision for outputs of two narrow types.
  /// Cost: near-linear in expressions.
  [[nodiscard]] static std::variant<std::shared_ptr<const SegmentedFusion>, Refusal> try_segment(
      const std::shared_ptr<Fusion>& fusion,
      const schedule::RunFacts& run,
      const segment::Hints& hints = {});
  /// The same, for a caller that cuts the fusion for many sizes: fusions of segments are shared by
  /// the plans, and must not be changed.
  [[nodiscard]] static std::variant<std::shared_ptr<const SegmentedFusion>, Refusal> try_segment(
      const std::shared_ptr<Fusion>& fusion,
      const schedule::RunFacts& run,
      segment::GroupMemory& memory,
      const segment::Hints& hints = {});
  /// The result; throws what is refused.
  [[nodiscard]] static std::shared_ptr<const SegmentedFusion> segment(
      const std::shared_ptr<Fusion>& fusion,
      const schedule::RunFacts& run,
      const segment::Hints& hints = {});

  [[nodiscard]] const std::shared_ptr<Fusion>& complete_fusion() const {
    return complete_;
  }
  /// Whether one segment is the fusion as it is, with its inputs and outputs.
  [[nodiscard]] bool is_whole() const {
    return is_whole_;
  }
  /// In an order in which they can run.
  [[nodiscard]] const std::vector<SegmentedGroup>& groups() const {
    return groups_;
  }
  /// By `from`, then `to`, then tensor.
  [[nodiscard]] const std::vector<SegmentedEdge>& edges() const {
    return edges_;
  }
  /// Why tensors cross: at least one for each edge, in the order of `edges`.
  [[nodiscard]] const std::vector<segment::Cut>& cuts() const {
    return cuts_;
  }
  /// Those of the tensors that one segment reads.
  [[nodiscard]] std::vector<const segment::Cut*> cuts_before(size_t segment) const;
  /// For people, a line each: those cuts, or that no tensor crosses to or from it; types in which
  /// tensors cross that are not their own; and what hints keep together.
  [[nodiscard]] std::vector<std::string> notes_on(size_t segment) const;
  [[nodiscard]] const std::vector<LateUpdate>& late_updates() const {
    return late_updates_;
  }

  /// Whether `other`, of the same complete fusion, has the same segments, in the same order: params
  /// aside, the same is computed then, update by update.
  [[nodiscard]] bool is_cut_like(const SegmentedFusion& other) const;

  /// The documented text: groups, edges, and groups in detail.
  [[nodiscard]] std::string to_string() const;
  /// For people: how each segment runs, why it was cut, and why a scheduler did not take it.
  [[nodiscard]] std::string explain() const;
  /// As a drawing in the language of Graphviz.
  [[nodiscard]] std::string draw() const;

 private:
  friend class SegmentedFusionMaker;
  SegmentedFusion() = default;

  std::shared_ptr<Fusion> complete_;
  bool is_whole_ = false;
  std::vector<SegmentedGroup> groups_;
  std::vector<SegmentedEdge> edges_;
  std::vector<segment::Cut> cuts_;
  std::vector<LateUpdate> late_updates_;
};

/// "kernel"
[[nodiscard]] const char* to_string(SegmentKind kind);

} // namespace nvfuser
