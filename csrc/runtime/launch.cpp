#include "runtime/launch.h"

#include <cstring>
#include <iostream>
#include <optional>

#include "base/errors.h"
#include "base/kept_vector.h"
#include "ir/all_nodes.h"
#include "runtime/counters.h"
#include "runtime/cpu_runtime.h"
#include "runtime/cuda_driver.h"
#include "runtime/cuda_launch.h"
#include "runtime/launch_graphs.h"
#include "runtime/overlap.h"
#include "runtime/parameter_block.h"
#include "runtime/random_state.h"
#include "runtime/scalar_bytes.h"

namespace nvfuser {
namespace {

void check_alignment(const LaunchPlan& plan, std::span<const Argument> args) {
  for (const AlignmentCheck& check : plan.alignment_checks) {
    const auto& tensor = std::get<TensorArg>(args[check.arg]);
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    if (address % static_cast<uintptr_t>(check.bytes) == 0) {
      continue;
    }
    const VectorAccess& access = plan.code->kernel()->launch.vector_accesses.at(check.access);
    throw UserError({
        .headline =
            {"Vectorization of ", access.tensor->to_string(), " with word size ", access.width,
             " not possible as the memory address is not aligned. Address: ", tensor.data},
        .node = {describe(access.made_by), ", vectorized"},
        .expected = {"an address divisible by ", check.bytes, " bytes"},
        .found =
            {"remainder ", address % static_cast<uintptr_t>(check.bytes), ", input ", check.arg},
        .fix = {"vectorize with a smaller factor, or pass a tensor that starts at an aligned "
                "address"},
    });
  }
}

/// An argument that is written in place may not be read through another one.
void check_aliases(const LaunchPlan& plan, std::span<const Argument> args) {
  for (const PlannedBuffer& buffer : plan.buffers) {
    if (buffer.source != PlannedBuffer::Source::Input) {
      continue;
    }
    const auto& written = std::get<TensorArg>(args[buffer.input]);
    if (written.is_read_only) {
      throw UserError({
          .headline = {"Input ", buffer.input, " is updated in place but is read-only"},
          .node = {"kernel ", plan.code->name},
          .expected = {"an array that may be written"},
          .found = {written.str(), ", read-only"},
          .fix = {"pass a writable copy"},
      });
    }
    for (size_t i = 0; i < args.size(); ++i) {
      const auto* other = std::get_if<TensorArg>(&args[i]);
      if (i == buffer.input || other == nullptr || other->device != written.device ||
          !ranges_intersect(written, *other)) {
        continue;
      }
      throw UserError({
          .headline =
              {"Input ", buffer.input, " is updated in place but shares memory with input ", i},
          .node = {"kernel ", plan.code->name},
          .expected = {"memory of its own"},
          .found = {written.str(), " and ", other->str(), " at intersecting addresses"},
          .fix = {"pass a clone of one of them"},
      });
    }
  }
}

// ---- The two halves of a launch -----------------------------------------------------------------

void put_address(std::byte* parameters, size_t offset, const void* address) {
  std::memcpy(parameters + offset, static_cast<const void*>(&address), sizeof(address));
}

void* address_at(const std::byte* parameters, size_t offset) {
  void* address = nullptr;
  std::memcpy(static_cast<void*>(&address), parameters + offset, sizeof(address));
  return address;
}

void fill_arguments(const LaunchPlan& plan, std::span<const Argument> args, std::byte* parameters) {
  for (const ParameterPatch& patch : plan.patches) {
    std::visit(
        overloaded{
            [&](const PointerPatch& pointer) {
              put_address(parameters, patch.offset, std::get<TensorArg>(args[pointer.arg]).data);
            },
            [&](const NumberPatch& number) {
              write_scalar(
                  std::get<ScalarArg>(args[number.arg]).value, number.dtype, plan.code->index_type,
                  parameters + patch.offset);
            },
            [&](const HostElementPatch& element) {
              std::memcpy(
                  parameters + patch.offset, std::get<TensorArg>(args[element.arg]).data,
                  static_cast<size_t>(size_bytes(element.dtype)));
            },
        },
        patch.value);
  }
}

void fill_buffers(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    const LaunchMemory& memory,
    std::byte* parameters) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlannedBuffer& buffer = plan.buffers[i];
    switch (buffer.source) {
      case PlannedBuffer::Source::NewTensor:
        put_address(parameters, buffer.offset, memory.tensors[i]);
        break;
      case PlannedBuffer::Source::Input:
        put_address(parameters, buffer.offset, std::get<TensorArg>(args[buffer.input]).data);
        break;
      case PlannedBuffer::Source::Workspace:
        if (void* base =
                buffer.zero_init ? memory.counters : memory.workspace) { // else: no elements
          put_address(parameters, buffer.offset, static_cast<char*>(base) + buffer.byte_offset);
        }
        break;
    }
  }
}

void fill_tensor_maps(const LaunchPlan& plan, std::byte* parameters) {
  for (const PlannedTensorMap& planned : plan.tensor_maps) {
    write_tensor_map(
        CudaDriver::get(), planned.map, address_at(parameters, planned.tensor_offset),
        parameters + planned.offset);
  }
}

void fill_random_state(const LaunchPlan& plan, const RandomShare& random, std::byte* parameters) {
  const RandomKeys keys = keys_of(random.state.seed);
  std::memcpy(parameters + plan.random_seed, &keys, sizeof(keys));
  for (size_t i = 0; i < plan.random_offsets.size(); ++i) {
    const uint64_t offset = random.offset_of(i);
    std::memcpy(parameters + plan.random_offsets[i], &offset, sizeof(offset));
  }
}

/// Call `fill(address, bytes)` for each output that has to start as zeros.
template <typename Fill>
void fill_zeros(const LaunchPlan& plan, const std::byte* parameters, const Fill& fill) {
  for (const PlannedBuffer& buffer : plan.buffers) {
    if (buffer.source == PlannedBuffer::Source::NewTensor && buffer.zero_init) {
      const int64_t bytes = storage_bytes(buffer.dtype, buffer.layout.elements);
      fill(address_at(parameters, buffer.offset), static_cast<size_t>(bytes));
    }
  }
}

void enqueue_on_cpu(
    const LaunchPlan& plan, const std::byte* parameters, void** addresses, KernelTimer* timer) {
  fill_zeros(plan, parameters, [](void* data, size_t bytes) { std::memset(data, 0, bytes); });
  const LaunchParams& launch = plan.launch;
  const long long dims[] = {launch.gdimx(), launch.gdimy(), launch.gdimz(),
                            launch.bdimx(), launch.bdimy(), launch.bdimz()};
  const CpuRuntime runtime(plan.is_small);
  if (timer != nullptr) {
    timer->start(plan.device, nullptr);
  }
  plan.code->cpu->function()(addresses, dims, &runtime);
  if (timer != nullptr) {
    timer->stop(nullptr);
  }
  runtime.raise_race(plan.code->name);
}

void enqueue_on_cuda(
    const LaunchPlan& plan,
    const std::byte* parameters,
    void** addresses,
    CUstream stream,
    KernelTimer* timer) {
  const CudaDriver& driver = CudaDriver::get();
  fill_zeros(plan, parameters, [&](void* data, size_t bytes) {
    driver.check(
        driver.memset_d8_async(reinterpret_cast<CUdeviceptr>(data), 0, bytes, stream),
        "cuMemsetD8Async");
  });
  const bool is_capturing = driver.is_capturing(stream);
  if (is_capturing) {
    plan.code->cuda->keep_loaded();
  }
  // Where grids run one after the other, a wait is over at once: a graph has no need of them to
  // overlap, and older drivers have no such graphs.
  const bool overlaps_prior_grid =
      plan.waits_for_prior_grid && !is_capturing && driver.launch_kernel_ex != nullptr;
  const LaunchParams& launch = plan.launch;
  const auto dim = [](int64_t value) { return static_cast<unsigned>(value); };
  if (timer != nullptr) {
    timer->start(plan.device, stream);
  }
  if (CudaLaunch::is_needed(launch, overlaps_prior_grid)) {
    const CudaLaunch with_attributes(launch, plan.is_cooperative, stream, overlaps_prior_grid);
    driver.check(
        driver.launch_kernel_ex(&with_attributes.config, plan.function, addresses, nullptr),
        "cuLaunchKernelEx");
  } else if (plan.is_cooperative) {
    driver.check(
        driver.launch_cooperative_kernel(
            plan.function, dim(launch.gdimx()), dim(launch.gdimy()), dim(launch.gdimz()),
            dim(launch.bdimx()), dim(launch.bdimy()), dim(launch.bdimz()), dim(launch.smem_bytes()),
            stream, addresses),
        "cuLaunchCooperativeKernel");
  } else {
    driver.check(
        driver.launch_kernel(
            plan.function, dim(launch.gdimx()), dim(launch.gdimy()), dim(launch.gdimz()),
            dim(launch.bdimx()), dim(launch.bdimy()), dim(launch.bdimz()), dim(launch.smem_bytes()),
            stream, addresses, nullptr),
        "cuLaunchKernel");
  }
  if (timer != nullptr) {
    timer->stop(stream);
  }
}

// ---- Both at once -------------------------------------------------------------------------------

/// The tensors of one run beside its arguments.
class RunBuffers {
 public:
  RunBuffers(const LaunchPlan& plan, OutputAllocator& allocator, CUstream stream) {
    for (const PlannedBuffer& buffer : plan.buffers) {
      const bool is_new = buffer.source == PlannedBuffer::Source::NewTensor;
      tensors_->push_back(is_new ? make_tensor(buffer, plan.device, allocator) : nullptr);
      addresses_->push_back(is_new ? data_of(tensors_->back()) : nullptr);
    }
    if (!plan.is_empty) {
      shared_ = stream_memory_for(
          plan.counter_bytes, plan.workspace_bytes, plan.device, stream, allocator);
    }
  }

  [[nodiscard]] LaunchMemory memory() const {
    return {*addresses_, shared_.workspace.data, shared_.counters.data};
  }
  [[nodiscard]] DlpackHandle take(size_t buffer) {
    return std::move((*tensors_)[buffer]);
  }

 private:
  KeptVector<DlpackHandle> tensors_; // by buffer; only those that are new
  KeptVector<void*> addresses_;      // of their elements
  StreamMemory shared_;
};

std::vector<RunOutput> make_outputs(const LaunchPlan& plan, RunBuffers& buffers) {
  std::vector<RunOutput> outputs(plan.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PlannedOutput& planned = plan.outputs[i];
    switch (planned.source) {
      case PlannedOutput::Source::Buffer: outputs[i].tensor = buffers.take(planned.index); break;
      case PlannedOutput::Source::Input:
        outputs[i].input = static_cast<int64_t>(planned.index);
        break;
      case PlannedOutput::Source::Output:
        outputs[i].same_as = static_cast<int64_t>(planned.index);
        break;
    }
  }
  return outputs;
}

} // namespace

void bind_launch(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    const LaunchMemory& memory,
    const RandomShare& random,
    std::byte* parameters) {
  check_alignment(plan, args);
  check_aliases(plan, args);
  fill_arguments(plan, args, parameters);
  fill_buffers(plan, args, memory, parameters);
  fill_tensor_maps(plan, parameters);
  if (!plan.random_offsets.empty()) {
    fill_random_state(plan, random, parameters);
  }
}

void unlock_for(const LaunchPlan& plan, OutputAllocator& allocator) {
  if (!plan.is_small) {
    allocator.unlock();
  }
}

void enqueue_launch(
    const LaunchPlan& plan,
    const std::byte* parameters,
    void** addresses,
    CUstream stream,
    KernelTimer* timer) {
  if (plan.device.is_cpu()) {
    enqueue_on_cpu(plan, parameters, addresses, timer);
  } else {
    enqueue_on_cuda(plan, parameters, addresses, stream, timer);
  }
}

bool try_enqueue_graph(
    const LaunchPlan& plan,
    const CudaContextGuard& context,
    const std::byte* parameters,
    void** addresses,
    CUstream stream) {
  return plan.graphs != nullptr &&
         plan.graphs->try_launch(context, stream, {parameters, plan.parameters.size()}, addresses);
}

DlpackHandle make_tensor(const PlannedBuffer& buffer, Device device, OutputAllocator& allocator) {
  const BufferLayout& layout = buffer.layout;
  if (layout.is_row_major) {
    return allocator.allocate(buffer.dtype, layout.sizes, device);
  }
  return allocator.allocate_strided(
      buffer.dtype, layout.sizes, layout.strides, layout.elements, device);
}

void* data_of(const DlpackHandle& handle) {
  const DLTensor& tensor = handle->dl_tensor;
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

void dump_arguments(const LaunchPlan& plan, std::span<const Argument> args) {
  if (plan.dumps_arguments) {
    std::cout << "Arguments for " << plan.code->name << ":\n" << arguments_text(args) << std::flush;
  }
}

std::vector<RunOutput> launch(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    OutputAllocator& allocator,
    KernelTimer* timer) {
  dump_arguments(plan, args);
  std::optional<CudaContextGuard> guard;
  if (plan.device.is_cuda()) {
    guard.emplace(CudaDriver::get(), plan.device.index);
  }
  auto* stream = plan.device.is_cuda()
                     ? static_cast<CUstream>(allocator.current_stream(plan.device))
                     : nullptr;
  RunBuffers buffers(plan, allocator, stream);
  if (!plan.is_empty) {
    ParameterBlock block(plan.parameters, plan.parameter_offsets);
    RandomShare random;
    if (!plan.random_offsets.empty()) {
      const auto streams = static_cast<int64_t>(plan.random_offsets.size());
      random.state = draw_random_state(plan.device, streams);
    }
    bind_launch(plan, args, buffers.memory(), random, block.bytes());
    unlock_for(plan, allocator);
    const bool is_graph = timer == nullptr && guard &&
                          try_enqueue_graph(plan, *guard, block.bytes(), block.addresses(), stream);
    if (!is_graph) {
      enqueue_launch(plan, block.bytes(), block.addresses(), stream, timer);
    }
  }
  return make_outputs(plan, buffers);
}

} // namespace nvfuser
