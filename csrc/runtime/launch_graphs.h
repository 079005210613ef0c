// LaunchGraphs: the kernels of a run as CUDA graphs, one for each stream that it runs on.
//
// The host takes longer to launch a small kernel than the GPU to run it, and a graph takes it less
// than a kernel. Kernels that have run a few times on a stream are made a graph, and later runs
// launch the graph.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/cuda_driver.h"
#include "runtime/kernel_graph.h"

namespace nvfuser {

class LaunchGraphs : public std::enable_shared_from_this<LaunchGraphs> {
 public:
  /// nullptr for kernels that are launched one by one: fewer than options say, or launches that no
  /// graph has. The plans of the kernels outlive the result.
  [[nodiscard]] static std::shared_ptr<LaunchGraphs> of(std::vector<ChainLink> links);

  /// Launch all kernels as one graph. `parameters` are those of all of them; `addresses`: where
  /// each lies. False, and nothing is launched, in the first runs on a stream, while the stream is
  /// captured, while another thread launches the same kernels, in the context of a part of the
  /// device, where the process has enough graphs that are in use, and where the driver makes none.
  /// Requires: `context` of the device is entered.
  [[nodiscard]] bool try_launch(
      const CudaContextGuard& context,
      CUstream stream,
      std::span<const std::byte> parameters,
      void** addresses);

 private:
  struct OfStream {
    CUstream stream = nullptr;
    int64_t runs_before = 0; // that the graph is made
    bool is_refused = false; // by the driver
    std::unique_ptr<KernelGraph> graph;
  };

  explicit LaunchGraphs(std::vector<ChainLink> links) : links_(std::move(links)) {}
  [[nodiscard]] bool try_launch_on(
      CUstream stream, std::span<const std::byte> parameters, void** addresses);
  /// nullptr: too many streams.
  [[nodiscard]] OfStream* find(CUstream stream);
  /// Whether the process may have one more graph, which belongs to these kernels. One that was
  /// not used since it was looked at last makes room.
  [[nodiscard]] bool try_make_room();
  /// Whether graphs could be dropped: no thread was launching one.
  [[nodiscard]] bool try_drop();

  const std::vector<ChainLink> links_;
  std::atomic<bool> was_used_ = false;
  std::mutex mutex_; // of what follows
  std::vector<OfStream> streams_;
};

} // namespace nvfuser
