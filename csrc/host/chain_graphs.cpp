#include "host/chain_graphs.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <string>

#include "base/options.h"
#include "ir/all_nodes.h"
#include "runtime/cuda_driver.h"

namespace nvfuser::host {
namespace {

/// Runs on a stream before its graph is made, which takes as long as ten launches.
constexpr int64_t kRunsBefore = 3;
/// The same where the process has enough graphs.
constexpr int64_t kRunsBeforeNextTry = 64;
/// Streams of one plan that have a graph.
constexpr size_t kMostStreams = 4;
/// Graphs in the process: the driver keeps 128 KiB of the device for each.
constexpr size_t kMostGraphs = 512;
/// Kernels of a plan that is a graph, where options do not say.
constexpr size_t kFewestKernels = 2;

/// Empty: no number of kernels is a graph.
std::optional<size_t> fewest_kernels() {
  if (has_option(DisableOption::LaunchGraphs)) {
    return std::nullopt;
  }
  size_t count = kFewestKernels;
  const std::vector<std::string> args = option_args(EnableOption::LaunchGraphs);
  if (!args.empty()) {
    const std::string& number = args.front();
    static_cast<void>(std::from_chars(number.data(), number.data() + number.size(), count));
  }
  return std::max(count, size_t{1});
}

/// The chains that have graphs, once for each; those that were looked at last are behind.
struct MadeGraphs {
  std::mutex mutex;
  std::deque<std::weak_ptr<ChainGraphs>> chains;

  /// Never destroyed: chains of static lifetime may be gone later.
  static MadeGraphs& get() {
    static auto& made = *new MadeGraphs();
    return made;
  }
};

} // namespace

std::shared_ptr<ChainGraphs> ChainGraphs::of(const ProgramPlan& plan) {
  const std::optional<size_t> fewest = fewest_kernels();
  if (!plan.device.is_cuda() || !fewest) {
    return nullptr;
  }
  std::vector<ChainLink> links;
  for (const PlannedStep& step : plan.steps) {
    if (const auto* launch = std::get_if<PlannedLaunch>(&step)) {
      if (launch->plan->is_empty) {
        continue;
      }
      if (!KernelGraph::takes(*launch->plan)) {
        return nullptr;
      }
      links.push_back({launch->plan.get(), launch->first_parameter, launch->first_address});
    } else if (!std::holds_alternative<PlannedRelease>(step)) {
      return nullptr;
    }
  }
  const CudaDriver* driver = CudaDriver::maybe_get();
  if (links.size() < *fewest || driver == nullptr || !KernelGraph::is_supported(*driver)) {
    return nullptr;
  }
  return std::shared_ptr<ChainGraphs>(new ChainGraphs(std::move(links)));
}

ChainGraphs::OfStream* ChainGraphs::find(CUstream stream) {
  const auto known = std::ranges::find(streams_, stream, &OfStream::stream);
  if (known != streams_.end()) {
    return &*known;
  }
  if (streams_.size() == kMostStreams) {
    return nullptr;
  }
  return &streams_.emplace_back(
      OfStream{.stream = stream, .runs_before = kRunsBefore, .graph = nullptr});
}

bool ChainGraphs::try_launch(
    CUstream stream, std::span<const std::byte> parameters, void** addresses) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  OfStream* const known = lock.owns_lock() ? find(stream) : nullptr;
  if (known == nullptr || known->is_refused) {
    return false;
  }
  if (known->graph == nullptr) {
    if (known->runs_before-- > 0) {
      return false;
    }
    if (!try_make_room()) {
      known->runs_before = kRunsBeforeNextTry;
      return false;
    }
    known->graph = KernelGraph::try_make(CudaDriver::get(), links_, parameters, addresses);
  } else if (!known->graph->try_update(links_, parameters, addresses)) {
    known->graph.reset();
  }
  known->is_refused = known->graph == nullptr;
  if (known->is_refused) {
    return false;
  }
  if (!was_used_.load(std::memory_order_relaxed)) { // mostly it was: nothing is written then
    was_used_.store(true, std::memory_order_relaxed);
  }
  known->graph->launch(stream);
  return true;
}

bool ChainGraphs::try_make_room() {
  std::shared_ptr<ChainGraphs> oldest; // let go of without the lock
  MadeGraphs& made = MadeGraphs::get();
  const std::lock_guard lock(made.mutex);
  if (made.chains.size() >= kMostGraphs) {
    oldest = made.chains.front().lock();
    made.chains.pop_front();
    const bool is_in_use =
        oldest != nullptr &&
        (oldest.get() == this || oldest->was_used_.exchange(false) || !oldest->try_drop());
    if (is_in_use) {
      made.chains.push_back(oldest);
      return false;
    }
  }
  made.chains.push_back(weak_from_this());
  return true;
}

bool ChainGraphs::try_drop() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) {
    streams_.clear();
  }
  return lock.owns_lock();
}

} // namespace nvfuser::host
