#include "segment/segmented_fusion.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "base/options.h"
#include "base/value_or_throw.h"
#include "graph/output_order.h"
#include "ir/find_undefined.h"
#include "schedule/common/kernel_rules.h"
#include "segment/order.h"
#include "segment/segmenter.h"
#include "segment/stored_types.h"
#include "transform/concretization.h"

namespace nvfuser {

using namespace segment;

const char* to_string(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::Kernel: return "kernel";
    case SegmentKind::View: return "view";
    case SegmentKind::Evaluated: return "evaluated";
  }
  return "";
}

namespace {

/// A layout in memory is a part of what is defined.
bool is_scheduled(const TensorView* tensor) {
  return tensor->is_inlined() ||
         std::ranges::any_of(tensor->schedule_steps(), [](const ScheduleStep& step) {
           return !std::holds_alternative<steps::SetAllocationDomain>(step.call);
         });
}

std::optional<Refusal> find_unfit(const Fusion& fusion) {
  NVF_RETURN_REFUSAL(find_unresolved(fusion));
  NVF_RETURN_REFUSAL(find_undefined_tensor(fusion));
  NVF_RETURN_REFUSAL(find_two_lower_types(fusion));
  for (const TensorView* tensor : fusion.tensors()) {
    if (is_scheduled(tensor)) {
      return refuse(
          {.headline = "Definitions are cut before they are scheduled",
           .node = describe(tensor),
           .expected = "a tensor without transforms, bindings and positions",
           .found = "a schedule",
           .fix = "segment the definition, then schedule the segments"});
    }
  }
  return std::nullopt;
}

/// Whether the segment that computes everything has its inputs and outputs: all inputs are read,
/// and none is an output.
bool has_those_of_segment(const Fusion& fusion) {
  return std::ranges::none_of(fusion.inputs(), [](const Val* input) {
    return input->uses().empty() || input->is_fusion_output();
  });
}

} // namespace

/// Writes down what the segmenter found.
class SegmentedFusionMaker {
 public:
  SegmentedFusionMaker(const std::shared_ptr<Fusion>& complete, Segmenter& segmenter)
      : segmenter_(segmenter), plan_(new SegmentedFusion()) {
    plan_->complete_ = complete;
  }

  std::shared_ptr<const SegmentedFusion> make() {
    order();
    for (const size_t position : order_) {
      add_segment(segmenter_.accepted()[position]);
    }
    add_edges();
    dump(*plan_);
    return plan_;
  }

  /// The plan of one segment; nullptr: no scheduler takes all of the fusion.
  static std::shared_ptr<const SegmentedFusion> make_whole(
      const std::shared_ptr<Fusion>& complete, const schedule::RunFacts& run, GroupMemory& memory) {
    GroupMemory::Entry& known = memory.find_whole(complete);
    const schedule::FusionSummary& summary = known.summarized->summary;
    // Outputs that update inputs are updates here: expr_eval refuses them itself.
    Answer answer = ask_about_whole(summary, run, /*may_be_views=*/true, known.unusable);
    log_answer(answer);
    if (answer.scheduler == SchedulerType::none) {
      return nullptr;
    }
    const std::shared_ptr<SegmentedFusion> plan(new SegmentedFusion());
    plan->complete_ = complete;
    plan->is_whole_ = true;
    SegmentedGroup segment{
        .fusion = known.built.fusion,
        .scheduler = answer.scheduler,
        .params = std::move(answer.params),
        .facts = std::make_shared<schedule::RunFacts>(run),
        .rejections = std::move(answer.rejections),
        .summarized = known.summarized,
        .inputs = known.built.inputs,
        .outputs = known.built.outputs,
        .exprs = exprs_from_outputs(*complete)};
    if (segment.scheduler == SchedulerType::expr_eval) {
      const bool is_library = std::ranges::any_of(
          segment.exprs, [](const Expr* expr) { return schedule::is_for_library(expr); });
      segment.kind = is_library ? SegmentKind::Evaluated : SegmentKind::View;
    }
    plan->groups_.push_back(std::move(segment));
    dump(*plan);
    return plan;
  }

 private:
  const Flow& flow() const {
    return segmenter_.flow();
  }

  /// Puts segments in order, and decides which outputs are written in place.
  void order() {
    std::vector<Group> groups;
    for (const Accepted& segment : segmenter_.accepted()) {
      groups.push_back(segment.group);
    }
    RunOrder found =
        find_run_order(*plan_->complete_, flow(), segmenter_.facts(), segmenter_.exact(), groups);
    order_ = std::move(found.order);
    std::set<TensorId> views;
    for (size_t i = 0; i < groups.size(); ++i) {
      Accepted& segment = segmenter_.accepted()[i];
      if (is_view(segment)) { // writes nothing: its outputs are copied at the end
        views.insert(segment.group.outputs.begin(), segment.group.outputs.end());
        found.late_updates.insert(
            found.late_updates.end(), found.updates[i].begin(), found.updates[i].end());
        continue;
      }
      segment.group.updates = std::move(found.updates[i]);
      if (!segment.group.updates.empty()) {
        segmenter_.rebuild(segment);
      }
    }
    // Where outputs update one input, the last of the definition counts.
    const std::vector<Val*>& outputs = plan_->complete_->outputs();
    std::ranges::sort(found.late_updates, {}, [&](TensorId output) {
      return std::ranges::find(outputs, flow().tensor(output).tensor) - outputs.begin();
    });
    for (const TensorId output : found.late_updates) {
      TensorView* tensor = flow().tensor(output).tensor;
      TensorView* argument = plan_->complete_->alias_of(tensor)->input;
      LateUpdate update{
          .output = tensor,
          .argument = argument,
          .fusion = copy_of(*plan_->complete_, tensor, argument, views.contains(output))};
      update.facts = segmenter_.facts_of(
          {.fusion = update.fusion, .inputs = {tensor, argument}, .outputs = {tensor}});
      plan_->late_updates_.push_back(std::move(update));
    }
  }

  /// Whether its outputs lie in the memory of its inputs.
  static bool is_view(const Accepted& segment) {
    return segment.answer.scheduler == SchedulerType::expr_eval && !segment.traits.is_library;
  }

  void add_segment(Accepted& accepted) {
    std::shared_ptr<const schedule::RunFacts> facts = segmenter_.facts_of(accepted.built);
    SegmentedGroup segment{
        .fusion = std::move(accepted.built.fusion),
        .scheduler = accepted.answer.scheduler,
        .params = std::move(accepted.answer.params),
        .facts = std::move(facts),
        .rejections = std::move(accepted.answer.rejections),
        .summarized = std::move(accepted.summarized),
        .inputs = std::move(accepted.built.inputs),
        .outputs = std::move(accepted.built.outputs),
        .kept_together = std::move(accepted.kept_together)};
    for (const ExprId id : accepted.group.exprs) {
      segment.exprs.push_back(flow().expr(id).expr);
    }
    if (segment.scheduler == SchedulerType::expr_eval) {
      segment.kind = is_view(accepted) ? SegmentKind::View : SegmentKind::Evaluated;
    }
    for (const TensorId output : accepted.group.outputs) {
      made_in_.emplace(output, plan_->groups_.size());
    }
    groups_.push_back(&accepted.group);
    plan_->groups_.push_back(std::move(segment));
  }

  void add_edges() {
    std::map<std::tuple<size_t, size_t, TensorId>, std::vector<ExprId>> edges; // with readers
    for (size_t to = 0; to < groups_.size(); ++to) {
      const std::set<ExprId> members(groups_[to]->exprs.begin(), groups_[to]->exprs.end());
      for (const ExprId id : members) {
        for (const TensorId operand : flow().expr(id).operands) {
          const ExprId made_by = flow().tensor(operand).made_by;
          if (made_by != kNoExpr && !members.contains(made_by)) {
            edges[{made_in_.at(operand), to, operand}].push_back(id);
          }
        }
      }
    }
    for (const auto& [key, readers] : edges) {
      const auto& [from, to, tensor] = key;
      plan_->edges_.push_back(
          {.from = from,
           .to = to,
           .tensor = flow().tensor(tensor).tensor,
           .dtype = segmenter_.facts().tensor(tensor).stored_as});
      const std::set<ExprId> members(groups_[to]->exprs.begin(), groups_[to]->exprs.end());
      for (const ExprId reader : readers) {
        plan_->cuts_.push_back(cut_of({.tensor = tensor, .reader = reader}, members));
      }
    }
  }

  /// An edge into a copy crosses for the reason for which the expression was copied.
  [[nodiscard]] Cut cut_of(Edge edge, const std::set<ExprId>& members) const {
    Cut cut{.tensor = flow().tensor(edge.tensor).tensor, .reader = flow().result_of(edge.reader)};
    for (;;) {
      const auto found = segmenter_.reasons().find(edge);
      if (found != segmenter_.reasons().end()) {
        cut.rule = found->second.rule;
        cut.reader = flow().result_of(edge.reader);
        cut.other = found->second.other;
        return cut;
      }
      const TensorId result = flow().expr(edge.reader).results.front();
      const std::vector<ExprId>& readers = flow().tensor(result).readers;
      const auto next =
          std::ranges::find_if(readers, [&](ExprId reader) { return members.contains(reader); });
      if (next == readers.end()) {
        return cut;
      }
      edge = {.tensor = result, .reader = *next};
    }
  }

  static void dump(const SegmentedFusion& plan) {
    if (has_option(DumpOption::SegmentedFusion)) {
      std::cout << plan.to_string() << std::flush;
    }
    if (has_option(DumpOption::DrawSegmentedFusion)) {
      static std::atomic<int64_t> count = 0;
      const std::string path = "segmented_fusion" + std::to_string(count++) + ".dot";
      NVF_USER_CHECK(
          std::ofstream(path) << plan.draw(), option_name(DumpOption::DrawSegmentedFusion),
          ": cannot write ", path);
      std::cout << "PRINTING: " << path << std::endl;
    }
  }

  Segmenter& segmenter_;
  std::shared_ptr<SegmentedFusion> plan_;
  std::vector<size_t> order_;
  std::vector<const Group*> groups_; // in the order of the plan
  std::map<TensorId, size_t> made_in_;
};

bool SegmentedFusion::is_cut_like(const SegmentedFusion& other) const {
  NVF_INVARIANT(complete_ == other.complete_, "plans of one fusion are compared");
  return std::ranges::equal(
      groups_, other.groups_, [](const SegmentedGroup& own, const SegmentedGroup& its) {
        return own.kind == its.kind && own.inputs == its.inputs && own.outputs == its.outputs &&
               own.exprs == its.exprs;
      });
}

std::variant<std::shared_ptr<const SegmentedFusion>, Refusal> SegmentedFusion::try_segment(
    const std::shared_ptr<Fusion>& fusion, const schedule::RunFacts& run, const Hints& hints) {
  GroupMemory memory;
  return try_segment(fusion, run, memory, hints);
}

std::variant<std::shared_ptr<const SegmentedFusion>, Refusal> SegmentedFusion::try_segment(
    const std::shared_ptr<Fusion>& fusion,
    const schedule::RunFacts& run,
    GroupMemory& memory,
    const Hints& hints) {
  if (std::optional<Refusal> refusal = find_unfit(*fusion)) {
    return *std::move(refusal);
  }
  std::optional<Segmenter> segmenter; // where it is needed
  std::optional<GroupMemory::Whole>& whole = memory.whole_facts();
  if (!whole || whole->may_repeat_work) {
    segmenter.emplace(fusion, run, memory);
    whole = {segmenter->may_be_whole(), segmenter->may_repeat_work()};
  }
  const bool repeats_work = whole->may_repeat_work && segmenter->repeats_work();
  const bool asks_about_whole = hints.cuts.empty() && whole->may_be_whole && !repeats_work;
  // A plan that follows hints is made as one with cuts, which says what they did.
  const bool is_copied = asks_about_whole && hints.empty() && has_those_of_segment(*fusion);
  if (is_copied) {
    if (auto plan = SegmentedFusionMaker::make_whole(fusion, run, memory)) {
      return plan;
    }
  }
  if (!segmenter) {
    segmenter.emplace(fusion, run, memory);
  }
  if (std::optional<Refusal> refusal = segmenter->run(hints, asks_about_whole && !is_copied)) {
    return *std::move(refusal);
  }
  return SegmentedFusionMaker(fusion, *segmenter).make();
}

std::shared_ptr<const SegmentedFusion> SegmentedFusion::segment(
    const std::shared_ptr<Fusion>& fusion, const schedule::RunFacts& run, const Hints& hints) {
  return value_or_throw(try_segment(fusion, run, hints));
}

} // namespace nvfuser
