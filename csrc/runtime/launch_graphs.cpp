#include "runtime/launch_graphs.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/options.h"

namespace nvfuser {
namespace {

/// Runs on a stream before its graph is made, which takes as long as ten launches.
constexpr int64_t kRunsBefore = 3;
/// The same where the process has enough graphs.
constexpr int64_t kRunsBeforeNextTry = 64;
/// Streams that the same kernels have a graph for.
constexpr size_t kMostStreams = 4;
/// Graphs in the process: the driver keeps some 120 KiB of the device for each.
constexpr size_t kMostGraphs = 512;
/// Kernels of a run that is a graph, where options do not say.
constexpr size_t kFewestKernels = 1;

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

/// The runs that have graphs, once for each; those that were looked at last are behind.
struct MadeGraphs {
  std::mutex mutex;
  std::deque<std::weak_ptr<LaunchGraphs>> runs;

  /// Never destroyed: plans of static lifetime may be gone later.
  static MadeGraphs& get() {
    static auto& made = *new MadeGraphs();
    return made;
  }
};

} // namespace

std::shared_ptr<LaunchGraphs> LaunchGraphs::of(std::vector<ChainLink> links) {
  const std::optional<size_t> fewest = fewest_kernels();
  if (!fewest || links.empty() || links.size() < *fewest) {
    return nullptr;
  }
  // A kernel begins early behind those of its graph, not behind what the stream had before.
  const bool begins_early = links.size() == 1 && links.front().plan->waits_for_prior_grid;
  const auto is_kernel = [](const ChainLink& link) { return KernelGraph::takes(*link.plan); };
  if (begins_early || !std::ranges::all_of(links, is_kernel)) {
    return nullptr;
  }
  const CudaDriver* driver = CudaDriver::maybe_get();
  if (driver == nullptr || !KernelGraph::is_supported(*driver)) {
    return nullptr;
  }
  return std::shared_ptr<LaunchGraphs>(new LaunchGraphs(std::move(links)));
}

LaunchGraphs::OfStream* LaunchGraphs::find(CUstream stream) {
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

bool LaunchGraphs::try_launch(
    const CudaContextGuard& context,
    CUstream stream,
    std::span<const std::byte> parameters,
    void** addresses) {
  return context.was_current() && !CudaDriver::get().is_capturing(stream) &&
         try_launch_on(stream, parameters, addresses);
}

bool LaunchGraphs::try_launch_on(
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

bool LaunchGraphs::try_make_room() {
  std::shared_ptr<LaunchGraphs> oldest; // let go of without the lock
  MadeGraphs& made = MadeGraphs::get();
  const std::lock_guard lock(made.mutex);
  if (made.runs.size() >= kMostGraphs) {
    oldest = made.runs.front().lock();
    made.runs.pop_front();
    const bool is_in_use =
        oldest != nullptr &&
        (oldest.get() == this || oldest->was_used_.exchange(false) || !oldest->try_drop());
    if (is_in_use) {
      made.runs.push_back(oldest);
      return false;
    }
  }
  made.runs.push_back(weak_from_this());
  return true;
}

bool LaunchGraphs::try_drop() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) {
    streams_.clear();
  }
  return lock.owns_lock();
}

} // namespace nvfuser
