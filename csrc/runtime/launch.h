// Running a launch plan: pointers and scalars in, outputs made, kernel launched.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/kernel_timer.h"
#include "runtime/launch_plan.h"
#include "runtime/random_state.h"

namespace nvfuser {

/// Output i of a run. One of: a new tensor; the argument `input` itself; the same tensor as the
/// earlier output `same_as`; with both `tensor` and `input`, a tensor in the memory of that
/// argument, which has to outlive it; a tensor that the caller's framework `evaluated`.
struct RunOutput {
  static constexpr int64_t kNone = -1;
  DlpackHandle tensor;
  int64_t input = kNone;
  int64_t same_as = kNone;
  std::shared_ptr<DLManagedTensorVersioned> evaluated{};
};

// ---- The two halves of a launch -----------------------------------------------------------------

/// Where the memory lies that a launch needs beside its arguments.
struct LaunchMemory {
  std::span<void* const> tensors; // by buffer of the plan; only those of new tensors are read
  void* workspace = nullptr;      // of plan.workspace_bytes
  void* counters = nullptr;       // of plan.counter_bytes, at rest
};

/// Write what differs from run to run into `parameters`, which begin as plan.parameters: addresses,
/// numbers, its share of the random numbers of the run. Refuses addresses that the kernel cannot
/// take.
/// Requires: arguments of the plan's signature; the plan is not empty.
void bind_launch(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    const LaunchMemory& memory,
    const RandomShare& random,
    std::byte* parameters);

/// Let go of the lock of the caller's language for the launch. A small kernel of a processor is
/// over sooner than another thread would have the lock.
void unlock_for(const LaunchPlan& plan, OutputAllocator& allocator);

/// Fill outputs that have to start as zeros, and launch. `parameters` were bound, and `addresses`
/// has that of each; both may be written again as soon as this returns. `timer`, if given, measures
/// the kernel. Requires: the context of the plan's device is current.
void enqueue_launch(
    const LaunchPlan& plan,
    const std::byte* parameters,
    void** addresses,
    CUstream stream,
    KernelTimer* timer = nullptr);

/// Enqueue the graph of the kernel alone. False, and nothing is enqueued: the plan has no graph, or
/// this launch has none (LaunchGraphs::try_launch). Parameters and addresses as in
/// `enqueue_launch`. Requires: `context` of the plan's device is entered.
[[nodiscard]] bool try_enqueue_graph(
    const LaunchPlan& plan,
    const CudaContextGuard& context,
    const std::byte* parameters,
    void** addresses,
    CUstream stream);

// ---- Both at once -------------------------------------------------------------------------------

/// A new tensor for a buffer of a plan.
[[nodiscard]] DlpackHandle make_tensor(
    const PlannedBuffer& buffer, Device device, OutputAllocator& allocator);
/// Where the elements of a tensor begin.
[[nodiscard]] void* data_of(const DlpackHandle& handle);

/// The text that NVFUSER_DUMP=kernel_args prints.
void dump_arguments(const LaunchPlan& plan, std::span<const Argument> args);

/// Run `plan` with arguments of its signature, on the caller's current stream. `timer`, if given,
/// measures the kernel.
[[nodiscard]] std::vector<RunOutput> launch(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    OutputAllocator& allocator,
    KernelTimer* timer = nullptr);

} // namespace nvfuser
