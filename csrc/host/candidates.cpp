#include "host/candidates.h"

#include "schedule/table.h"

namespace nvfuser::host {

Candidates::Candidates(
    std::shared_ptr<const SummarizedFusion> fusion, std::shared_ptr<const schedule::RunFacts> facts)
    : summarized_(std::move(fusion)), facts_(std::move(facts)) {}

Candidates::Candidates(
    std::shared_ptr<Fusion> fusion,
    std::shared_ptr<const SummarizedFusion> summarized,
    std::shared_ptr<const schedule::RunFacts> facts,
    Params first,
    SchedulerType scheduler,
    std::vector<Rejection> rejections)
    : fusion_(std::move(fusion)),
      summarized_(std::move(summarized)),
      facts_(std::move(facts)),
      rejections_(std::move(rejections)) {
  if (first == nullptr) { // all were asked
    next_ = schedule::schedulers().size();
    return;
  }
  while (schedule::schedulers()[next_++].type != scheduler) {
  }
  if (scheduler != SchedulerType::expr_eval) {
    found_.push_back(std::move(first));
  }
}

Candidates::Params Candidates::at(size_t number) {
  if (plan_ != nullptr) {
    return plan_()->at(number);
  }
  const std::lock_guard lock(mutex_);
  while (found_.size() <= number) {
    Params next = find_next();
    if (next == nullptr) {
      return nullptr;
    }
    found_.push_back(std::move(next));
  }
  return found_[number];
}

std::vector<Rejection> Candidates::rejections() const {
  if (plan_ != nullptr) {
    return plan_()->rejections();
  }
  const std::lock_guard lock(mutex_);
  return rejections_;
}

Candidates::Params Candidates::find_next() {
  if (facts_ == nullptr) {
    return nullptr;
  }
  while (next_ < schedule::schedulers().size()) {
    const schedule::Scheduler& scheduler = schedule::schedulers()[next_++];
    if (scheduler.type == SchedulerType::expr_eval) {
      continue;
    }
    if (summarized_ == nullptr) {
      summarized_ = std::make_shared<SummarizedFusion>(std::move(fusion_));
    }
    std::optional<Refusal> refusal =
        schedule::find_refusal(scheduler.type, summarized_->summary, *facts_);
    if (!refusal) {
      return schedule::choose_params(scheduler, summarized_->summary, *facts_);
    }
    rejections_.push_back({scheduler.type, std::move(*refusal)});
  }
  return nullptr;
}

} // namespace nvfuser::host
