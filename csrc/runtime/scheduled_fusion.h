// ScheduledFusion: a definition and its schedule, which is applied when a kernel has to be lowered.
// A process that finds its kernels on the disk never schedules.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "base/refusal.h"
#include "ir/fusion.h"

namespace nvfuser {

/// Thread-safe. Nothing changes the fusions.
class ScheduledFusion {
 public:
  /// Schedules a fusion, or says why it cannot: an error that it throws is a refusal as well. It
  /// changes no input and no output, but for loops.
  using Apply = std::function<std::optional<Refusal>(Fusion&)>;

  /// A copy of `fusion`, which has its schedule.
  explicit ScheduledFusion(const Fusion& fusion);
  /// A copy of `definition`, whose schedule is of `apply`. The result depends on nothing but the
  /// definition and the options; `name` tells it from those of other functions.
  ScheduledFusion(const Fusion& definition, std::string name, Apply apply);

  /// The fusion without its schedule. It has the inputs, outputs and sizes of the scheduled one.
  [[nodiscard]] const std::shared_ptr<Fusion>& definition() const {
    return definition_;
  }
  /// Empty: the definition has its schedule.
  [[nodiscard]] const std::string& name() const {
    return name_;
  }
  /// Whether a user would not know the schedule that an error is about.
  [[nodiscard]] bool is_automatic() const {
    return apply_ != nullptr;
  }
  /// With its schedule, which is applied now if it was not before; or why it cannot be.
  [[nodiscard]] const std::variant<std::shared_ptr<Fusion>, Refusal>& try_get() const;
  /// The scheduled fusion; throws what is refused.
  [[nodiscard]] const std::shared_ptr<Fusion>& get() const;

 private:
  const std::shared_ptr<Fusion> definition_;
  const std::string name_;
  const Apply apply_;
  mutable std::mutex mutex_; // of scheduled_
  mutable std::optional<std::variant<std::shared_ptr<Fusion>, Refusal>> scheduled_;
};

} // namespace nvfuser
