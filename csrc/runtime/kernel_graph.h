// KernelGraph: a chain of kernels as a CUDA graph, which the driver launches at once.
//
// A launch takes most of the host's time for a kernel, and the launch of a graph hardly longer than
// that of one kernel. A graph keeps the parameters that its kernels were launched with last; those
// that differ in a run are replaced before.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/launch_plan.h"

namespace nvfuser {

/// A kernel of a chain. Its parameters are a part of those of the chain.
struct ChainLink {
  const LaunchPlan* plan = nullptr;
  size_t first_parameter = 0; // in the bytes of the chain
  size_t first_address = 0;   // in the addresses of its parameters
};

class KernelGraph {
 public:
  /// Whether the driver has graphs whose parameters can be replaced.
  [[nodiscard]] static bool is_supported(const CudaDriver& driver);
  /// Whether a launch of the plan is nothing but a kernel.
  [[nodiscard]] static bool takes(const LaunchPlan& plan);

  /// A graph of `links`, one after the other; nullptr if the driver makes none. `addresses`: where
  /// each of `parameters` lies.
  /// Requires: is_supported; takes(plan) of each link; the device's context is current.
  [[nodiscard]] static std::unique_ptr<KernelGraph> try_make(
      const CudaDriver& driver,
      std::span<const ChainLink> links,
      std::span<const std::byte> parameters,
      void** addresses);
  ~KernelGraph();
  KernelGraph(const KernelGraph&) = delete;
  KernelGraph& operator=(const KernelGraph&) = delete;

  /// Give later launches other parameters. Launches that were enqueued before keep theirs.
  /// Requires: links and sizes as in `try_make`. Returns whether the driver takes them.
  [[nodiscard]] bool try_update(
      std::span<const ChainLink> links, std::span<const std::byte> parameters, void** addresses);
  /// Enqueue all kernels. Throws UserError for errors of the driver.
  void launch(CUstream stream) const;

 private:
  explicit KernelGraph(const CudaDriver& driver) : driver_(driver) {}
  [[nodiscard]] bool try_add_nodes(std::span<const ChainLink> links, void** addresses);

  struct Node {
    CUgraphNode node = nullptr;
    CUgraphKernelNode description{}; // but for the addresses of parameters
  };

  const CudaDriver& driver_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<Node> nodes_;           // by link
  std::vector<std::byte> parameters_; // of the next launch
};

} // namespace nvfuser
