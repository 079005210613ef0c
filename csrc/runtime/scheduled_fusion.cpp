#include "runtime/scheduled_fusion.h"

#include <utility>

#include "base/trace.h"
#include "runtime/try_automatic.h"

namespace nvfuser {

ScheduledFusion::ScheduledFusion(const Fusion& fusion)
    : definition_(fusion.clone()), scheduled_(definition_) {}

ScheduledFusion::ScheduledFusion(const Fusion& definition, std::string name, Apply apply)
    : definition_(definition.clone()), name_(std::move(name)), apply_(std::move(apply)) {}

const std::variant<std::shared_ptr<Fusion>, Refusal>& ScheduledFusion::try_get() const {
  const std::lock_guard lock(mutex_);
  if (!scheduled_) {
    const TraceSpan span("schedule " + name_);
    std::shared_ptr<Fusion> fusion = definition_->clone();
    if (std::optional<Refusal> refusal = try_automatic([&] { return apply_(*fusion); })) {
      scheduled_.emplace(*std::move(refusal));
    } else {
      scheduled_.emplace(std::move(fusion));
    }
  }
  return *scheduled_;
}

const std::shared_ptr<Fusion>& ScheduledFusion::get() const {
  const auto& scheduled = try_get();
  if (const auto* refusal = std::get_if<Refusal>(&scheduled)) {
    throw_refusal(*refusal);
  }
  return std::get<std::shared_ptr<Fusion>>(scheduled);
}

} // namespace nvfuser
