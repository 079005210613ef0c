// The active fusion of a thread.
#include <algorithm>
#include <mutex>

#include "ir/fusion.h"

namespace nvfuser {

/// A garbage collector may destroy a guard on another thread than its own, also after that one has
/// ended: the stack belongs to its thread and to the guards in it.
class ActiveFusions {
 public:
  void push(const FusionGuard* guard, Fusion* fusion) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.push_back({guard, fusion, fusion->weak_from_this().lock()});
  }

  void remove(const FusionGuard* guard) {
    std::shared_ptr<Fusion> released; // destroyed after the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto place = std::find_if(
        entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.guard == guard; });
    released = std::move(place->owner);
    entries_.erase(place);
  }

  [[nodiscard]] Fusion* innermost() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.empty() ? nullptr : entries_.back().fusion;
  }

  [[nodiscard]] static const std::shared_ptr<ActiveFusions>& of_this_thread() {
    thread_local const auto stack = std::make_shared<ActiveFusions>();
    return stack;
  }

 private:
  struct Entry {
    const FusionGuard* guard;
    Fusion* fusion;
    std::shared_ptr<Fusion> owner;
  };

  std::mutex mutex_;
  std::vector<Entry> entries_; // innermost last
};

FusionGuard::FusionGuard(Fusion* fusion) : stack_(ActiveFusions::of_this_thread()) {
  NVF_INVARIANT(fusion != nullptr, "a guard has a fusion");
  stack_->push(this, fusion);
}

FusionGuard::~FusionGuard() {
  stack_->remove(this);
}

Fusion* Fusion::maybe_active() {
  return ActiveFusions::of_this_thread()->innermost();
}

Fusion& Fusion::active() {
  Fusion* fusion = maybe_active();
  if (fusion == nullptr) {
    throw UserError(
        {.headline = "No fusion is active",
         .node = Part::none(),
         .expected = "a FusionGuard or a FusionDefinition block around the definition",
         .found = "none on this thread",
         .fix = "use `with FusionDefinition() as fd:`, or keep a FusionGuard(fusion) alive"});
  }
  return *fusion;
}

} // namespace nvfuser
