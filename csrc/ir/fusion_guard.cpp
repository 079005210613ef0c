// The active fusion of a thread.
#include <algorithm>

#include "ir/fusion.h"

namespace nvfuser {
namespace {

struct Activation {
  int64_t ticket;
  Fusion* fusion;
};

/// Innermost last.
thread_local std::vector<Activation> activations;

/// A garbage collector may destroy a guard on another thread, whose stack is out of reach: its
/// ticket waits here until the guard's own thread looks at its stack again.
struct Returned {
  std::mutex mutex;
  std::vector<int64_t> tickets;
  std::atomic<size_t> size{0};
};

Returned& returned() {
  static Returned instance;
  return instance;
}

std::atomic<int64_t> next_ticket{0};

bool take_out(int64_t ticket) {
  const auto place = std::find_if(activations.begin(), activations.end(), [&](const Activation& a) {
    return a.ticket == ticket;
  });
  if (place == activations.end()) {
    return false;
  }
  activations.erase(place);
  return true;
}

void take_out_returned() {
  Returned& list = returned();
  if (list.size.load(std::memory_order_acquire) == 0) {
    return;
  }
  const std::lock_guard<std::mutex> lock(list.mutex);
  list.tickets.erase(
      std::remove_if(list.tickets.begin(), list.tickets.end(), take_out), list.tickets.end());
  list.size.store(list.tickets.size(), std::memory_order_release);
}

} // namespace

FusionGuard::FusionGuard(Fusion* fusion) : ticket_(next_ticket++) {
  NVF_INVARIANT(fusion != nullptr, "a guard has a fusion");
  activations.push_back({ticket_, fusion});
}

FusionGuard::~FusionGuard() {
  if (take_out(ticket_)) {
    return;
  }
  Returned& list = returned();
  const std::lock_guard<std::mutex> lock(list.mutex);
  list.tickets.push_back(ticket_);
  list.size.store(list.tickets.size(), std::memory_order_release);
}

Fusion* Fusion::maybe_active() {
  take_out_returned();
  return activations.empty() ? nullptr : activations.back().fusion;
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

Fusion::~Fusion() {
  activations.erase(
      std::remove_if(
          activations.begin(), activations.end(),
          [this](const Activation& activation) { return activation.fusion == this; }),
      activations.end());
}

} // namespace nvfuser
