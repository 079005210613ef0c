// Segmenter: makes groups of a fusion, asks schedulers for each, and cuts what they refuse, until
// every group has an answer. A group of one expression always has one: the trivial schedule, or the
// evaluator.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "graph/id_model.h"
#include "segment/ask.h"
#include "segment/group_memory.h"
#include "segment/hints.h"
#include "segment/joined.h"
#include "segment/mirrored.h"
#include "segment/partition.h"
#include "segment/repeated_work.h"
#include "segment/segment_builder.h"

namespace nvfuser::segment {

/// A group that stays as it is.
struct Accepted {
  Group group;
  BuiltSegment built;
  Answer answer;
  GroupTraits traits;
  std::shared_ptr<const SummarizedFusion> summarized = nullptr; // if schedulers were asked
  std::vector<TensorView*> kept_together = {};                  // by hints
  size_t strided_reads = 0; // operands of which it was known that they are views
};

class Segmenter {
 public:
  /// Requires: a definition without dynamic shapes, which has no schedule.
  /// `memory` is that of `complete`.
  Segmenter(
      const std::shared_ptr<Fusion>& complete, const schedule::RunFacts& run, GroupMemory& memory);

  /// Whether one segment may compute everything: there is something to compute, nothing asks for a
  /// cut, no library computes a part of it, no output is a view beside what it could share memory
  /// with, and all outputs are on one device. It follows from the fusion alone.
  [[nodiscard]] bool may_be_whole() const;
  /// Whether one segment might compute the same elements so often that cuts save time, for sizes
  /// that are large enough. It follows from the fusion and the target alone.
  [[nodiscard]] bool may_repeat_work() const {
    return !repeated_.empty();
  }
  /// Whether it would, for the sizes of this run.
  [[nodiscard]] bool repeats_work() const;
  /// `asks_about_whole`: whether one group may compute everything.
  /// Refused: hints to keep tensors together that no scheduler takes together.
  /// Cost: near-linear in expressions, and for each cut that a refusal makes in those of the group
  /// that is cut. Groups that `memory` knows are only asked about.
  [[nodiscard]] std::optional<Refusal> run(const Hints& hints, bool asks_about_whole);

  [[nodiscard]] const Flow& flow() const {
    return flow_;
  }
  [[nodiscard]] const Facts& facts() const {
    return facts_;
  }
  [[nodiscard]] const ValGraph& exact() const {
    return exact_;
  }
  /// Why edges between groups cross.
  [[nodiscard]] const Reasons& reasons() const {
    return reasons_;
  }
  /// In an order in which they can run, updates of arguments left out.
  [[nodiscard]] std::vector<Accepted>& accepted() {
    return accepted_;
  }
  /// Make the fusion of a group anew, whose updates were decided.
  void rebuild(Accepted& segment);
  /// The run as a segment sees it.
  [[nodiscard]] std::shared_ptr<const schedule::RunFacts> facts_of(
      const BuiltSegment& segment) const;

 private:
  void add_cuts(const std::vector<TensorView*>& tensors);
  /// Cuts before what is worth computing once.
  void add_cuts_of_repeated_work();
  void push(std::vector<Group> groups);
  /// Whether a scheduler takes everything as one group; if so, it is accepted.
  [[nodiscard]] bool try_whole(const Group& all);
  /// The group as a fusion, which schedulers were asked about.
  [[nodiscard]] Accepted asked(Group group);
  /// A group that a library computes; a product is a kernel where the user asks for one.
  [[nodiscard]] Accepted for_library(Group group, const GroupTraits& traits);
  /// Accept a group, or cut it into several candidates.
  void settle(Group group);
  /// Settle all candidates, and again those that were settled before it was known which of their
  /// operands are views.
  void settle_all();
  /// The segment again, as what is known now of the strides of its operands asks for; false: it is
  /// cut, and its pieces are candidates.
  bool try_settle_again(Accepted& segment);
  [[nodiscard]] size_t num_strided_reads(const Group& group) const;
  /// Cut a refused group: siblings apart, else where a rule says. Returns whether it is cut.
  bool try_cut(const Group& group, const schedule::FusionSummary& summary);
  /// Whether only libraries read it: they take it as another library left it.
  [[nodiscard]] bool is_between_libraries(TensorId tensor) const;
  [[nodiscard]] std::vector<Group> partition_again(const Group& group);
  /// Join pairs that begin with a group of one of the schedulers `candidates`, as far as
  /// `scheduler` takes both and the user asks for no cut between them.
  void join(SchedulerType scheduler, std::span<const SchedulerType> candidates, FindPairs* find);
  [[nodiscard]] std::vector<Group> groups() const;
  /// Let `scheduler` have both groups, if it takes them; the second one is gone then.
  [[nodiscard]] bool try_join(
      SchedulerType scheduler,
      const std::vector<Group>& groups,
      const GroupGraph& graph,
      const GroupPair& pair);
  /// Does it hold both sides of a cut that the user asked for?
  [[nodiscard]] bool has_asked_cut(const Group& group) const;
  /// Let one group compute these tensors, with all that lies between them. Arguments are passed
  /// over. Says no to what no scheduler takes, and where one of `cuts` would be within.
  [[nodiscard]] std::optional<Refusal> keep_together(
      std::vector<TensorView*> tensors, const std::vector<TensorView*>& cuts);
  /// The first of `cuts` that a group both computes and reads; nullptr: none.
  [[nodiscard]] const TensorView* find_cut_within(
      const Group& group, const std::vector<TensorView*>& cuts) const;
  /// The positions of the groups that compute one of them.
  [[nodiscard]] std::set<size_t> groups_of(
      const std::vector<TensorView*>& tensors, const std::vector<Group>& groups) const;

  const std::shared_ptr<Fusion> complete_;
  const schedule::RunFacts& run_;
  Flow flow_;
  std::shared_ptr<IdModel> model_; // keeps the graph
  const ValGraph& exact_;
  Facts facts_;
  HardEdges hard_;
  const std::vector<RepeatedWork> repeated_;
  SegmentBuilder builder_;
  GroupMemory& memory_;
  Reasons reasons_;
  std::deque<Group> candidates_;
  std::vector<Accepted> accepted_;
  std::set<TensorId> strided_; // views of other tensors
  /// Expressions of two groups that a scheduler does not take together.
  std::set<std::pair<SchedulerType, std::vector<ExprId>>> refused_joins_;
};

} // namespace nvfuser::segment
