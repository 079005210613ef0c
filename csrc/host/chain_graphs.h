// ChainGraphs: the kernels of a plan as CUDA graphs, one for each stream that it runs on.
//
// The host takes longer to launch a small kernel than the GPU to run it. Where a
// plan is a chain of several kernels, it is made a graph once it has run a few times on a stream,
// and later runs launch the graph.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "host/program_plan.h"
#include "runtime/kernel_graph.h"

namespace nvfuser::host {

class ChainGraphs : public std::enable_shared_from_this<ChainGraphs> {
 public:
  /// nullptr for plans that are launched kernel by kernel: those with other steps, or with fewer
  /// kernels than options say. The plan outlives the result.
  [[nodiscard]] static std::shared_ptr<ChainGraphs> of(const ProgramPlan& plan);

  /// Launch all kernels as one graph. `parameters` are those of the plan; `addresses`: where each
  /// of them lies. False, and nothing is launched, in the first runs on a stream, while another
  /// thread launches the same plan, where the process has enough graphs that are in use, and where
  /// the driver makes none. Requires: the device's context is current; `stream` is not captured.
  [[nodiscard]] bool try_launch(
      CUstream stream, std::span<const std::byte> parameters, void** addresses);

 private:
  struct OfStream {
    CUstream stream = nullptr;
    int64_t runs_before = 0; // that the graph is made
    bool is_refused = false; // by the driver
    std::unique_ptr<KernelGraph> graph;
  };

  explicit ChainGraphs(std::vector<ChainLink> links) : links_(std::move(links)) {}
  /// nullptr: too many streams.
  [[nodiscard]] OfStream* find(CUstream stream);
  /// Whether the process may have one more graph, which is this chain's. One that was not used
  /// since it was looked at last makes room.
  [[nodiscard]] bool try_make_room();
  /// Whether graphs could be dropped: no thread was launching one.
  [[nodiscard]] bool try_drop();

  const std::vector<ChainLink> links_;
  std::atomic<bool> was_used_ = false;
  std::mutex mutex_; // of what follows
  std::vector<OfStream> streams_;
};

} // namespace nvfuser::host
