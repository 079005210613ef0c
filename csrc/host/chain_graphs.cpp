#include "host/chain_graphs.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/options.h"
#include "ir/all_nodes.h"
#include "runtime/cuda_driver.h"

namespace nvfuser::host {
namespace {

/// Runs on a stream before its graph is made, which takes as long as tens of launches.
constexpr int64_t kRunsBefore = 3;
/// Streams of one plan that have a graph.
constexpr size_t kMostStreams = 4;
/// Graphs in the process: the driver keeps memory of the device for each.
constexpr size_t kMostGraphs = 256;
/// The plans whose kernels are launched as a graph.
struct Rule {
  size_t fewest_kernels = 3;
  /// That a kernel reads and writes, on average: the GPU takes longer for more than the host takes
  /// for a launch, and a kernel that is launched alone begins earlier than a graph.
  int64_t most_bytes = int64_t{8} << 20;
};

/// Empty: no plan. Options name a number of kernels, of any size.
std::optional<Rule> find_rule() {
  if (has_option(DisableOption::LaunchGraphs) || !has_option(EnableOption::LaunchGraphs)) {
    return std::nullopt;
  }
  Rule rule;
  const std::vector<std::string> args = option_args(EnableOption::LaunchGraphs);
  if (!args.empty()) {
    const std::string& number = args.front();
    static_cast<void>(
        std::from_chars(number.data(), number.data() + number.size(), rule.fewest_kernels));
    rule.most_bytes = std::numeric_limits<int64_t>::max();
  }
  return rule;
}

int64_t bytes_of(const ProgramPlan& plan, const std::vector<Slot>& slots) {
  int64_t bytes = 0;
  for (const Slot number : slots) {
    if (number == kNoSlot) {
      continue;
    }
    const SlotPlan& slot = plan.slots[static_cast<size_t>(number)];
    if (slot.memory != SlotMemory::None) { // else a number
      bytes += storage_bytes(slot.dtype, storage_elements(slot.sizes, slot.strides));
    }
  }
  return bytes;
}

/// All plans that have a graph, in the order in which graphs were made.
struct MadeGraphs {
  std::mutex mutex;
  std::deque<std::weak_ptr<ChainGraphs>> plans;

  /// Never destroyed: plans of static lifetime may be gone later.
  static MadeGraphs& get() {
    static auto& made = *new MadeGraphs();
    return made;
  }
};

} // namespace

std::shared_ptr<ChainGraphs> ChainGraphs::of(const ProgramPlan& plan) {
  const std::optional<Rule> rule = find_rule();
  if (!plan.device.is_cuda() || !rule) {
    return nullptr;
  }
  std::vector<ChainLink> links;
  int64_t bytes = 0;
  for (const PlannedStep& step : plan.steps) {
    if (const auto* launch = std::get_if<PlannedLaunch>(&step)) {
      if (launch->plan->is_empty) {
        continue;
      }
      if (!KernelGraph::takes(*launch->plan)) {
        return nullptr;
      }
      links.push_back({launch->plan.get(), launch->first_parameter, launch->first_address});
      bytes += bytes_of(plan, launch->inputs) + bytes_of(plan, launch->tensors);
    } else if (!std::holds_alternative<PlannedRelease>(step)) {
      return nullptr;
    }
  }
  const CudaDriver* driver = CudaDriver::maybe_get();
  if (links.size() < std::max(rule->fewest_kernels, size_t{1}) ||
      bytes / std::ssize(links) > rule->most_bytes || driver == nullptr ||
      !KernelGraph::is_supported(*driver)) {
    return nullptr;
  }
  return std::shared_ptr<ChainGraphs>(new ChainGraphs(std::move(links), plan.device));
}

ChainGraphs::OfStream* ChainGraphs::find(CUstream stream) {
  const auto known = std::ranges::find(streams_, stream, &OfStream::stream);
  if (known != streams_.end()) {
    return &*known;
  }
  if (streams_.size() == kMostStreams) {
    return nullptr;
  }
  return &streams_.emplace_back(OfStream{.stream = stream, .graph = nullptr});
}

bool ChainGraphs::try_launch(
    CUstream stream, std::span<const std::byte> parameters, void** addresses) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  OfStream* const known = lock.owns_lock() ? find(stream) : nullptr;
  if (known == nullptr || known->is_refused || ++known->runs <= kRunsBefore) {
    return false;
  }
  if (known->graph == nullptr) {
    known->graph = KernelGraph::try_make(CudaDriver::get(), links_, parameters, addresses);
    if (known->graph != nullptr) {
      note_graph();
    }
  } else if (!known->graph->try_update(links_, parameters, addresses)) {
    known->graph.reset();
  }
  known->is_refused = known->graph == nullptr;
  if (known->is_refused) {
    return false;
  }
  known->graph->launch(stream);
  return true;
}

void ChainGraphs::note_graph() {
  std::vector<std::shared_ptr<ChainGraphs>> kept; // let go of without the lock
  MadeGraphs& made = MadeGraphs::get();
  const std::lock_guard lock(made.mutex);
  made.plans.push_back(weak_from_this());
  for (size_t i = made.plans.size(); i > kMostGraphs; --i) {
    kept.push_back(made.plans.front().lock());
    made.plans.pop_front();
    if (kept.back() != nullptr && kept.back().get() != this && !kept.back()->try_drop()) {
      made.plans.push_back(kept.back());
    }
  }
}

bool ChainGraphs::try_drop() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) {
    streams_.clear();
  }
  return lock.owns_lock();
}

} // namespace nvfuser::host
