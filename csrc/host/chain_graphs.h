// ChainGraphs: the kernels of a plan as CUDA graphs, for the streams that it runs on.
//
// The host takes longer to launch a small kernel than the GPU to run it. Where a program is a chain
// of several kernels, it is made a graph once it has run a few times on a stream, and later runs
// launch the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "host/program_plan.h"
#include "runtime/kernel_graph.h"

namespace nvfuser::host {

class ChainGraphs : public std::enable_shared_from_this<ChainGraphs> {
 public:
  /// nullptr for plans that are not launched as graphs: of few kernels, or with other steps. The
  /// plan outlives the result.
  [[nodiscard]] static std::shared_ptr<ChainGraphs> of(const ProgramPlan& plan);

  /// Launch all kernels of the plan, as one graph. `parameters` are those of the plan, with what
  /// differs from run to run; `addresses`: where each of them lies. False, and nothing is launched,
  /// in the first runs on a stream, while another thread launches the same graph, and where the
  /// driver makes no graph. Requires: the device's context is current; `stream` is not captured.
  [[nodiscard]] bool try_launch(
      CUstream stream, std::span<const std::byte> parameters, void** addresses);

 private:
  struct OfStream {
    CUstream stream = nullptr;
    int64_t runs = 0;
    bool is_refused = false; // by the driver
    std::unique_ptr<KernelGraph> graph;
  };

  ChainGraphs(std::vector<ChainLink> links, Device device)
      : links_(std::move(links)), device_(device) {}
  /// nullptr: too many streams.
  [[nodiscard]] OfStream* find(CUstream stream);
  /// Keep the number of graphs in the process bounded: drop those that were made first.
  void note_graph();
  /// Whether graphs could be dropped: no thread was launching one.
  [[nodiscard]] bool try_drop();

  const std::vector<ChainLink> links_;
  const Device device_;
  std::mutex mutex_; // of what follows
  std::vector<OfStream> streams_;
};

} // namespace nvfuser::host
