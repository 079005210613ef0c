#include "segment/segmenter.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <ranges>

#include "base/options.h"
#include "schedule/expr_eval/expr_eval.h"
#include "schedule/table.h"
#include "segment/products.h"
#include "segment/refused.h"
#include "segment/stored_types.h"

namespace nvfuser::segment {
namespace {

std::string names_of(const std::vector<TensorView*>& tensors) {
  std::string text;
  for (const TensorView* tensor : tensors) {
    text += (text.empty() ? "" : ", ") + name_of(tensor);
  }
  return text;
}

/// `answer`: that of schedulers which were asked for all that computes the tensors.
Refusal refuse_to_keep(const std::vector<TensorView*>& tensors, const Answer& answer) {
  std::string reasons;
  for (const Rejection& rejection : answer.rejections) {
    reasons += (reasons.empty() ? "" : "; ") + std::string(enum_name(rejection.scheduler)) + ": " +
               rejection.refusal.report.headline.text();
  }
  return refuse(
      {.headline = "no scheduler takes the tensors that are to be kept together",
       .node = names_of(tensors),
       .expected = "a scheduler for all that computes them, in one segment",
       .found = reasons.empty() ? "a part that a library computes" : reasons,
       .fix = "keep fewer of them together; explain() of the plan without the hint says why it is "
              "cut there"});
}

Refusal refuse_to_keep_across(const std::vector<TensorView*>& tensors, const TensorView* cut) {
  return refuse(
      {.headline = "hints ask for a cut between tensors that are to be kept together",
       .node = names_of(tensors),
       .expected = "hints that can all be met",
       .found = "a cut behind " + name_of(cut),
       .fix = "forget_hints(), then give those that you want"});
}

} // namespace

Segmenter::Segmenter(
    const std::shared_ptr<Fusion>& complete, const schedule::RunFacts& run, GroupMemory& memory)
    : complete_(complete),
      run_(run),
      flow_(*complete),
      model_(shared_id_model(*complete)),
      exact_(model_->maybe_build_graph(IdMappingMode::exact)),
      facts_(flow_, exact_, run, lowers_boundaries()),
      hard_(flow_, facts_),
      repeated_(find_repeated_work(flow_, facts_, exact_, run.target())),
      builder_(*complete, flow_, facts_),
      memory_(memory) {
  add_edges_of_views(*complete, flow_, facts_, hard_);
}

bool Segmenter::may_be_whole() const {
  const std::vector<Val*>& outputs = complete_->outputs();
  const auto is_like_for_all = [&](const auto& holds) {
    const auto holds_for = [&](const Val* output) {
      return output->is_tensor() && holds(static_cast<const TensorView*>(output));
    };
    return std::ranges::all_of(outputs, holds_for) || std::ranges::none_of(outputs, holds_for);
  };
  bool has_cut = flow_.exprs().empty() || hard_.has_added();
  for (ExprId id = 0; id < flow_.exprs().size(); ++id) {
    const bool is_part_for_library =
        facts_.expr(id).role == Role::Library && flow_.exprs().size() > 1;
    has_cut = has_cut || facts_.expr(id).is_boundary || is_part_for_library;
  }
  return !has_cut && is_like_for_all(schedule::is_view_of_input) &&
         is_like_for_all([](const TensorView* output) { return output->is_cpu_scalar(); });
}

bool Segmenter::repeats_work() const {
  return std::ranges::any_of(repeated_, [&](const RepeatedWork& work) {
    return is_worth_storing(work, flow_, facts_, run_.target());
  });
}

void Segmenter::add_cuts_of_repeated_work() {
  for (const RepeatedWork& work : repeated_) {
    if (is_worth_storing(work, flow_, facts_, run_.target())) {
      hard_.add(work.edge, {.rule = CutRule::Repeated});
    }
  }
}

std::optional<Refusal> Segmenter::run(const Hints& hints, bool asks_about_whole) {
  add_cuts(hints.cuts);
  add_cuts_of_repeated_work();
  std::vector<ExprId> all(flow_.exprs().size());
  std::iota(all.begin(), all.end(), ExprId{0});
  std::vector<TensorId> outputs;
  for (TensorId id = 0; id < flow_.tensors().size(); ++id) {
    if (flow_.tensor(id).is_output && flow_.tensor(id).made_by != kNoExpr) {
      outputs.push_back(id);
    }
  }
  if (!asks_about_whole || !try_whole({.exprs = all, .own = all, .outputs = outputs})) {
    push(partition(flow_, facts_, hard_, all, outputs, true, reasons_));
  }
  settle_all();
  using enum SchedulerType;
  constexpr std::array kKeepRows{inner_persistent, inner_outer_persistent};
  join(inner_outer_persistent, kKeepRows, find_mirrored_pairs);
  join(reduction, std::array{reduction}, find_chained_pairs);
  join(reduction, std::array{reduction}, find_sibling_pairs);
  if (has_option(EnableOption::FuseMatmul)) {
    join(matmul, std::array{expr_eval}, find_product_pairs);
  }
  for (const std::vector<TensorView*>& tensors : hints.together) {
    NVF_RETURN_REFUSAL(keep_together(tensors, hints.cuts));
  }
  return std::nullopt;
}

void Segmenter::add_cuts(const std::vector<TensorView*>& tensors) {
  for (TensorId id = 0; id < flow_.tensors().size(); ++id) {
    if (std::ranges::find(tensors, flow_.tensor(id).tensor) == tensors.end()) {
      continue;
    }
    for (const ExprId reader : flow_.tensor(id).readers) {
      hard_.add({.tensor = id, .reader = reader}, {.rule = CutRule::Asked});
    }
  }
}

void Segmenter::rebuild(Accepted& segment) {
  segment.built = builder_.build(segment.group, strided_);
  segment.summarized = nullptr;
}

std::shared_ptr<const schedule::RunFacts> Segmenter::facts_of(const BuiltSegment& segment) const {
  return std::make_shared<schedule::RunFacts>(builder_.facts_of(segment, run_));
}

void Segmenter::push(std::vector<Group> groups) {
  candidates_.insert(
      candidates_.begin(), std::make_move_iterator(groups.begin()),
      std::make_move_iterator(groups.end()));
}

bool Segmenter::try_whole(const Group& all) {
  GroupMemory::Entry& known = memory_.find(all, strided_, builder_);
  Accepted segment{
      .group = all,
      .built = known.built,
      .answer = {},
      .traits = traits_of(*complete_, flow_, facts_, all),
      .summarized = GroupMemory::summarize(known)};
  segment.answer = ask_about_whole(
      segment.summarized->summary, builder_.facts_of(segment.built, run_),
      /*may_be_views=*/!segment.traits.reads_updated, known.unusable);
  log_answer(segment.answer);
  if (segment.answer.scheduler == SchedulerType::none) {
    return false;
  }
  accepted_.push_back(std::move(segment));
  return true;
}

Accepted Segmenter::asked(Group group) {
  Accepted segment{.group = std::move(group), .built = {}, .answer = {}, .traits = {}};
  segment.strided_reads = num_strided_reads(segment.group);
  segment.traits = traits_of(*complete_, flow_, facts_, segment.group);
  GroupMemory::Entry& known = memory_.find(segment.group, strided_, builder_);
  segment.built = known.built;
  segment.summarized = GroupMemory::summarize(known);
  segment.answer = ask_schedulers(
      segment.summarized->summary, builder_.facts_of(segment.built, run_), segment.traits,
      known.unusable);
  log_answer(segment.answer);
  return segment;
}

void Segmenter::settle(Group group) {
  const GroupTraits traits = traits_of(*complete_, flow_, facts_, group);
  if (traits.is_library) {
    std::ranges::copy_if(
        group.outputs, std::inserter(strided_, strided_.end()),
        [&](TensorId output) { return is_between_libraries(output); });
    accepted_.push_back(for_library(std::move(group), traits));
    return;
  }
  Accepted segment = asked(std::move(group));
  const SchedulerType scheduler = segment.answer.scheduler;
  if (scheduler == SchedulerType::none && try_cut(segment.group, segment.summarized->summary)) {
    return;
  }
  if (scheduler == SchedulerType::expr_eval) {
    strided_.insert(segment.group.outputs.begin(), segment.group.outputs.end());
  }
  accepted_.push_back(std::move(segment));
}

Accepted Segmenter::for_library(Group group, const GroupTraits& traits) {
  GroupMemory::Entry& known = memory_.find(group, strided_, builder_);
  Accepted segment{
      .group = std::move(group),
      .built = known.built,
      .answer = {.scheduler = SchedulerType::expr_eval},
      .traits = traits};
  segment.strided_reads = num_strided_reads(segment.group);
  const bool wants_kernel =
      has_option(EnableOption::FuseMatmul) && has_option(DisableOption::MatmulExprEval);
  if (wants_kernel) {
    Accepted kernel = asked(segment.group);
    if (kernel.answer.scheduler == SchedulerType::matmul) {
      return kernel;
    }
  }
  return segment;
}

void Segmenter::settle_all() {
  for (bool is_settled = false; !is_settled;) {
    while (!candidates_.empty()) {
      Group group = std::move(candidates_.front());
      candidates_.pop_front();
      settle(std::move(group));
    }
    const auto outdated = std::ranges::find_if(accepted_, [&](const Accepted& segment) {
      return num_strided_reads(segment.group) != segment.strided_reads;
    });
    is_settled = outdated == accepted_.end();
    if (!is_settled && !try_settle_again(*outdated)) {
      accepted_.erase(outdated);
    }
  }
}

bool Segmenter::try_settle_again(Accepted& segment) {
  if (segment.traits.is_library) {
    segment = for_library(std::move(segment.group), segment.traits);
    return true;
  }
  Accepted again = asked(segment.group);
  if (again.answer.scheduler == SchedulerType::none &&
      try_cut(again.group, again.summarized->summary)) {
    return false;
  }
  segment = std::move(again);
  return true;
}

size_t Segmenter::num_strided_reads(const Group& group) const {
  std::set<TensorId> found;
  for (const ExprId id : group.exprs) {
    for (const TensorId operand : flow_.expr(id).operands) {
      const bool is_within = std::ranges::binary_search(group.exprs, flow_.tensor(operand).made_by);
      if (!is_within && strided_.contains(operand)) {
        found.insert(operand);
      }
    }
  }
  return found.size();
}

bool Segmenter::is_between_libraries(TensorId tensor) const {
  return std::ranges::all_of(flow_.tensor(tensor).readers, [&](ExprId reader) {
    return stands_alone(facts_.expr(reader).role);
  });
}

std::vector<Group> Segmenter::partition_again(const Group& group) {
  return partition(flow_, facts_, hard_, group.exprs, group.outputs, false, reasons_);
}

bool Segmenter::try_cut(const Group& group, const schedule::FusionSummary& summary) {
  std::vector<Group> pieces = partition_again(group);
  if (pieces.size() < 2) {
    for (const auto& [edge, reason] : find_cuts(flow_, facts_, exact_, group, summary)) {
      hard_.add(edge, reason);
    }
    pieces = partition_again(group);
  }
  // A piece may compute all that the group computes, where it has copies of the rest: for fewer
  // results.
  const auto size_of = [](const Group& each) {
    return std::pair(each.exprs.size(), each.outputs.size());
  };
  const bool are_smaller = std::ranges::all_of(
      pieces, [&](const Group& piece) { return size_of(piece) < size_of(group); });
  if (pieces.size() < 2 || !are_smaller) {
    return false;
  }
  push(std::move(pieces));
  return true;
}

std::vector<Group> Segmenter::groups() const {
  std::vector<Group> groups;
  for (const Accepted& segment : accepted_) {
    groups.push_back(segment.group);
  }
  return groups;
}

void Segmenter::join(
    SchedulerType scheduler, std::span<const SchedulerType> candidates, FindPairs* find) {
  if (schedule::find_scheduler(scheduler) == nullptr) {
    return;
  }
  for (bool is_joined = true; is_joined;) {
    const std::vector<Group> groups = this->groups();
    const GroupGraph graph(flow_, groups);
    std::vector<bool> is_candidate;
    for (const Accepted& segment : accepted_) {
      is_candidate.push_back(
          std::ranges::find(candidates, segment.answer.scheduler) != candidates.end());
    }
    is_joined = std::ranges::any_of(
        find(flow_, facts_, groups, graph, is_candidate),
        [&](const GroupPair& pair) { return try_join(scheduler, groups, graph, pair); });
  }
}

bool Segmenter::try_join(
    SchedulerType scheduler,
    const std::vector<Group>& groups,
    const GroupGraph& graph,
    const GroupPair& pair) {
  Accepted both{
      .group = joined(flow_, groups, graph, {pair.first, pair.second}),
      .built = {},
      .answer = {},
      .traits = {}};
  const bool is_refused = refused_joins_.contains({scheduler, both.group.exprs});
  if (is_refused || has_asked_cut(both.group)) {
    return false;
  }
  both.traits = traits_of(*complete_, flow_, facts_, both.group);
  GroupMemory::Entry& known = memory_.find(both.group, strided_, builder_);
  both.built = known.built;
  both.summarized = GroupMemory::summarize(known);
  const schedule::FusionSummary& summary = both.summarized->summary;
  const schedule::RunFacts facts = builder_.facts_of(both.built, run_);
  if (schedule::find_refusal(scheduler, summary, facts)) {
    refused_joins_.emplace(scheduler, std::move(both.group.exprs));
    return false;
  }
  both.answer.scheduler = scheduler;
  both.answer.params =
      schedule::choose_params(*schedule::find_scheduler(scheduler), summary, facts);
  if (known.unusable.find(*both.answer.params) != nullptr) {
    return false;
  }
  accepted_[pair.first] = std::move(both);
  accepted_.erase(accepted_.begin() + static_cast<std::ptrdiff_t>(pair.second));
  return true;
}

bool Segmenter::has_asked_cut(const Group& group) const {
  return std::ranges::any_of(group.exprs, [&](ExprId reader) {
    return std::ranges::any_of(flow_.expr(reader).operands, [&](TensorId tensor) {
      const std::optional<Reason> reason = hard_.find({.tensor = tensor, .reader = reader});
      const bool is_within = std::ranges::binary_search(group.exprs, flow_.tensor(tensor).made_by);
      return is_within && reason.has_value() && reason->rule == CutRule::Asked;
    });
  });
}

std::set<size_t> Segmenter::groups_of(
    const std::vector<TensorView*>& tensors, const std::vector<Group>& groups) const {
  std::set<size_t> found;
  for (size_t group = 0; group < groups.size(); ++group) {
    const bool computes_one = std::ranges::any_of(groups[group].own, [&](ExprId id) {
      return std::ranges::any_of(flow_.expr(id).results, [&](TensorId result) {
        return std::ranges::find(tensors, flow_.tensor(result).tensor) != tensors.end();
      });
    });
    if (computes_one) {
      found.insert(group);
    }
  }
  return found;
}

const TensorView* Segmenter::find_cut_within(
    const Group& group, const std::vector<TensorView*>& cuts) const {
  for (const ExprId reader : group.exprs) {
    for (const TensorId id : flow_.expr(reader).operands) {
      const FlowTensor& operand = flow_.tensor(id);
      if (std::ranges::find(cuts, operand.tensor) != cuts.end() &&
          std::ranges::find(group.exprs, operand.made_by) != group.exprs.end()) {
        return operand.tensor;
      }
    }
  }
  return nullptr;
}

std::optional<Refusal> Segmenter::keep_together(
    std::vector<TensorView*> tensors, const std::vector<TensorView*>& cuts) {
  std::erase_if(tensors, [](const TensorView* tensor) { return tensor->is_fusion_input(); });
  const std::vector<Group> groups = this->groups();
  const std::set<size_t> ends = groups_of(tensors, groups);
  if (tensors.size() < 2 || ends.empty()) {
    return std::nullopt;
  }
  size_t place = *ends.begin();
  if (ends.size() > 1) {
    const GroupGraph graph(flow_, groups);
    const std::set<size_t> members = graph.between(ends);
    Group group = joined(flow_, groups, graph, members);
    if (const TensorView* cut = find_cut_within(group, cuts)) {
      return refuse_to_keep_across(tensors, cut);
    }
    Accepted all = asked(std::move(group));
    if (all.answer.scheduler == SchedulerType::none) {
      return refuse_to_keep(tensors, all.answer);
    }
    for (const size_t member : members | std::views::reverse) {
      const std::vector<TensorView*>& kept = accepted_[member].kept_together;
      all.kept_together.insert(all.kept_together.begin(), kept.begin(), kept.end());
      accepted_.erase(accepted_.begin() + static_cast<std::ptrdiff_t>(member));
    }
    place = *members.begin();
    accepted_.insert(accepted_.begin() + static_cast<std::ptrdiff_t>(place), std::move(all));
  }
  std::vector<TensorView*>& kept = accepted_[place].kept_together;
  kept.insert(kept.end(), tensors.begin(), tensors.end());
  return std::nullopt;
}

} // namespace nvfuser::segment
