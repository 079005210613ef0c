#include "runtime/kernel_graph.h"

#include <algorithm>
#include <string>

#include "runtime/compiled_kernel.h"
#include "runtime/cuda_driver.h"
#include "runtime/cuda_launch.h"
#include "runtime/dynamic_library.h"

namespace nvfuser {
namespace {

/// Without the addresses of its parameters.
CUgraphKernelNode describe_node(const LaunchPlan& plan, const CUlaunchConfig& config) {
  return {
      .function = plan.function,
      .grid = config.grid,
      .block = config.block,
      .shared_bytes = config.shared_bytes,
  };
}

/// cuThreadExchangeStreamCaptureMode: gives this thread another mode, and tells the one of before.
using ExchangeCaptureMode = CUresult (*)(int* mode);

/// nullptr in drivers older than graphs. Requires: the driver was loaded.
ExchangeCaptureMode exchange_capture_mode() {
  static const ExchangeCaptureMode function = [] {
    std::string reason;
    DynamicLibrary library = DynamicLibrary::open("libcuda.so.1", reason);
    auto* const found = library.find("cuThreadExchangeStreamCaptureMode");
    library.release(); // the driver does not expect to be closed
    return reinterpret_cast<ExchangeCaptureMode>(found);
  }();
  return function;
}

/// For a scope, a graph that any thread captures does not forbid this one to make or end others.
class UnboundByCaptures {
 public:
  UnboundByCaptures() {
    exchange_capture_mode()(&mode_);
  }
  ~UnboundByCaptures() {
    exchange_capture_mode()(&mode_);
  }
  UnboundByCaptures(const UnboundByCaptures&) = delete;
  UnboundByCaptures& operator=(const UnboundByCaptures&) = delete;

 private:
  static constexpr int kRelaxed = 2; // CU_STREAM_CAPTURE_MODE_RELAXED
  int mode_ = kRelaxed;              // then that of before
};

/// The parameters of link `i`.
std::span<const std::byte> part_of(
    std::span<const ChainLink> links, size_t i, std::span<const std::byte> parameters) {
  return parameters.subspan(links[i].first_parameter, links[i].plan->parameters.size());
}

} // namespace

bool KernelGraph::is_supported(const CudaDriver& driver) {
  return exchange_capture_mode() != nullptr && driver.graph_create != nullptr &&
         driver.graph_add_kernel_node != nullptr && driver.graph_node_set_attribute != nullptr &&
         driver.graph_instantiate != nullptr && driver.graph_exec_set_parameters != nullptr &&
         driver.graph_launch != nullptr && driver.graph_exec_destroy != nullptr &&
         driver.graph_destroy != nullptr;
}

bool KernelGraph::takes(const LaunchPlan& plan) {
  return plan.device.is_cuda() && !plan.is_empty &&
         std::ranges::none_of(plan.buffers, [](const PlannedBuffer& buffer) {
           return buffer.source == BufferSource::NewTensor && buffer.zero_init; // a memset
         });
}

std::unique_ptr<KernelGraph> KernelGraph::try_make(
    const CudaDriver& driver,
    std::span<const ChainLink> links,
    std::span<const std::byte> parameters,
    void** addresses) {
  const UnboundByCaptures unbound;
  std::unique_ptr<KernelGraph> result(new KernelGraph(driver));
  constexpr unsigned long long kNoFlags = 0;
  if (driver.graph_create(&result->graph_, 0) != 0 || !result->try_add_nodes(links, addresses) ||
      driver.graph_instantiate(&result->executable_, result->graph_, kNoFlags) != 0) {
    return nullptr;
  }
  result->parameters_.assign(parameters.begin(), parameters.end());
  return result;
}

bool KernelGraph::try_add_nodes(std::span<const ChainLink> links, void** addresses) {
  for (const ChainLink& link : links) {
    const CudaLaunch launch(link.plan->launch, link.plan->is_cooperative, nullptr);
    CUgraphKernelNode description = describe_node(*link.plan, launch.config);
    description.parameters = addresses + link.first_address;
    const bool overlaps = !nodes_.empty() && link.plan->waits_for_prior_grid &&
                          driver_.graph_add_dependencies != nullptr;
    const CUgraphNode before = nodes_.empty() ? nullptr : nodes_.back().node;
    const size_t num_before = before == nullptr || overlaps ? 0 : 1; // else an edge is added below
    CUgraphNode node = nullptr;
    if (driver_.graph_add_kernel_node(&node, graph_, &before, num_before, &description) != 0) {
      return false;
    }
    if (overlaps &&
        driver_.graph_add_dependencies(graph_, &before, &node, &kProgrammaticEdge, 1) != 0) {
      return false;
    }
    nodes_.push_back({node, description});
    for (unsigned i = 0; i < launch.config.num_attributes; ++i) {
      const CUlaunchAttribute& attribute = launch.attributes.at(i);
      if (driver_.graph_node_set_attribute(node, attribute.id, attribute.value.data()) != 0) {
        return false;
      }
    }
  }
  return true;
}

KernelGraph::~KernelGraph() { // launches that were enqueued end first
  const UnboundByCaptures unbound;
  if (executable_ != nullptr) {
    driver_.graph_exec_destroy(executable_);
  }
  if (graph_ != nullptr) {
    driver_.graph_destroy(graph_);
  }
}

bool KernelGraph::try_update(
    std::span<const ChainLink> links, std::span<const std::byte> parameters, void** addresses) {
  for (size_t i = 0; i < links.size(); ++i) {
    const std::span<const std::byte> wanted = part_of(links, i, parameters);
    const auto known = parameters_.begin() + static_cast<std::ptrdiff_t>(links[i].first_parameter);
    if (std::equal(wanted.begin(), wanted.end(), known)) {
      continue;
    }
    auto& [node, description] = nodes_[i];
    description.parameters = addresses + links[i].first_address;
    if (driver_.graph_exec_set_parameters(executable_, node, &description) != 0) {
      return false;
    }
    std::ranges::copy(wanted, known);
  }
  return true;
}

void KernelGraph::launch(CUstream stream) const {
  driver_.check(driver_.graph_launch(executable_, stream), "cuGraphLaunch");
}

} // namespace nvfuser
