#include "runtime/launch.h"

#include <cstring>
#include <optional>

#include "base/errors.h"
#include "ir/all_nodes.h"
#include "runtime/cpu_runtime.h"
#include "runtime/cuda_driver.h"
#include "runtime/overlap.h"
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
    throw UserError({
        .headline =
            {"Vectorization of ", check.tensor->to_string(), " with word size ", check.width,
             " not possible as the memory address is not aligned. Address: ", tensor.data},
        .node = {describe(check.made_by), ", vectorized"},
        .expected = {"an address divisible by ", check.bytes, " bytes"},
        .found =
            {"remainder ", address % static_cast<uintptr_t>(check.bytes), ", input ", check.arg},
        .fix = {"vectorize with a smaller factor, or pass a tensor that starts at an aligned "
                "address"},
    });
  }
}

/// What is written in place may not be read through another argument.
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

/// The tensors of one run beside its arguments.
struct RunBuffers {
  std::vector<DlpackHandle> tensors; // by buffer; only those that are new
  DlpackHandle workspace;
};

void* data_of(const DlpackHandle& handle) {
  const DLTensor& tensor = handle->dl_tensor;
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

DlpackHandle make_tensor(const PlannedBuffer& buffer, Device device, OutputAllocator& allocator) {
  const BufferLayout& layout = buffer.layout;
  if (layout.is_row_major) {
    return allocator.allocate(buffer.dtype, layout.sizes, device);
  }
  const int64_t elements[] = {layout.elements};
  return restride(allocator.allocate(buffer.dtype, elements, device), layout.sizes, layout.strides);
}

RunBuffers make_buffers(const LaunchPlan& plan, OutputAllocator& allocator) {
  RunBuffers buffers;
  buffers.tensors.resize(plan.buffers.size());
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].source == PlannedBuffer::Source::NewTensor) {
      buffers.tensors[i] = make_tensor(plan.buffers[i], plan.device, allocator);
    }
  }
  if (plan.workspace_bytes > 0 && !plan.is_empty) {
    const int64_t bytes[] = {plan.workspace_bytes};
    buffers.workspace = allocator.allocate(DataType::Byte, bytes, plan.device);
  }
  return buffers;
}

/// Fill what differs from run to run into a copy of the plan's parameters.
void fill_parameters(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    const RunBuffers& buffers,
    std::byte* parameters) {
  const auto put = [&](size_t offset, const void* pointer) {
    std::memcpy(parameters + offset, &pointer, sizeof(pointer));
  };
  for (const ParameterPatch& patch : plan.patches) {
    std::visit(
        overloaded{
            [&](const PointerPatch& pointer) {
              put(patch.offset, std::get<TensorArg>(args[pointer.arg]).data);
            },
            [&](const NumberPatch& number) {
              write_scalar(
                  std::get<ScalarArg>(args[number.arg]).value, number.dtype,
                  plan.code->kernel->index_type(), parameters + patch.offset);
            },
            [&](const HostElementPatch& element) {
              std::memcpy(
                  parameters + patch.offset, std::get<TensorArg>(args[element.arg]).data,
                  static_cast<size_t>(size_bytes(element.dtype)));
            },
        },
        patch.value);
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlannedBuffer& buffer = plan.buffers[i];
    switch (buffer.source) {
      case PlannedBuffer::Source::NewTensor: put(buffer.offset, data_of(buffers.tensors[i])); break;
      case PlannedBuffer::Source::Input:
        put(buffer.offset, std::get<TensorArg>(args[buffer.input]).data);
        break;
      case PlannedBuffer::Source::Workspace:
        if (plan.workspace_bytes > 0) { // otherwise none has elements
          put(buffer.offset, static_cast<char*>(data_of(buffers.workspace)) + buffer.byte_offset);
        }
        break;
    }
  }
}

void fill_random_state(const LaunchPlan& plan, std::byte* parameters) {
  const RandomState state = draw_random_state(plan.device, plan.random_streams);
  std::memcpy(parameters + plan.random_seed, &state.seed, sizeof(state.seed));
  std::memcpy(parameters + plan.random_offset, &state.offset, sizeof(state.offset));
}

/// Call `fill(pointer, bytes)` for everything that has to start as zeros.
template <typename Fill>
void fill_zeros(const LaunchPlan& plan, const RunBuffers& buffers, const Fill& fill) {
  if (plan.workspace_zero_bytes > 0) {
    fill(data_of(buffers.workspace), static_cast<size_t>(plan.workspace_zero_bytes));
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlannedBuffer& buffer = plan.buffers[i];
    if (buffer.source == PlannedBuffer::Source::NewTensor && buffer.zero_init) {
      const int64_t bytes = storage_bytes(buffer.dtype, buffer.layout.elements);
      fill(data_of(buffers.tensors[i]), static_cast<size_t>(bytes));
    }
  }
}

void launch_on_cpu(
    const LaunchPlan& plan, const RunBuffers& buffers, void** parameters, KernelTimer* timer) {
  fill_zeros(plan, buffers, [](void* data, size_t bytes) { std::memset(data, 0, bytes); });
  const LaunchParams& launch = plan.launch;
  const long long dims[] = {launch.gdimx(), launch.gdimy(), launch.gdimz(),
                            launch.bdimx(), launch.bdimy(), launch.bdimz()};
  const CpuRuntime runtime(plan.is_small);
  if (timer != nullptr) {
    timer->start(plan.device, nullptr);
  }
  plan.code->cpu->function()(parameters, dims, &runtime);
  if (timer != nullptr) {
    timer->stop(nullptr);
  }
  runtime.raise_race(plan.code->name);
}

void launch_on_cuda(
    const LaunchPlan& plan,
    const RunBuffers& buffers,
    void** parameters,
    OutputAllocator& allocator,
    KernelTimer* timer) {
  const CudaDriver& driver = CudaDriver::get();
  auto* stream = static_cast<CUstream>(allocator.current_stream(plan.device));
  fill_zeros(plan, buffers, [&](void* data, size_t bytes) {
    driver.check(
        driver.memset_d8_async(reinterpret_cast<CUdeviceptr>(data), 0, bytes, stream),
        "cuMemsetD8Async");
  });
  const LaunchParams& launch = plan.launch;
  const auto dim = [](int64_t value) { return static_cast<unsigned>(value); };
  if (timer != nullptr) {
    timer->start(plan.device, stream);
  }
  if (plan.is_cooperative) {
    driver.check(
        driver.launch_cooperative_kernel(
            plan.function, dim(launch.gdimx()), dim(launch.gdimy()), dim(launch.gdimz()),
            dim(launch.bdimx()), dim(launch.bdimy()), dim(launch.bdimz()), dim(launch.smem_bytes()),
            stream, parameters),
        "cuLaunchCooperativeKernel");
  } else {
    driver.check(
        driver.launch_kernel(
            plan.function, dim(launch.gdimx()), dim(launch.gdimy()), dim(launch.gdimz()),
            dim(launch.bdimx()), dim(launch.bdimy()), dim(launch.bdimz()), dim(launch.smem_bytes()),
            stream, parameters, nullptr),
        "cuLaunchKernel");
  }
  if (timer != nullptr) {
    timer->stop(stream);
  }
}

std::vector<RunOutput> make_outputs(const LaunchPlan& plan, RunBuffers& buffers) {
  std::vector<RunOutput> outputs(plan.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PlannedOutput& planned = plan.outputs[i];
    switch (planned.source) {
      case PlannedOutput::Source::Buffer:
        outputs[i].tensor = std::move(buffers.tensors[planned.index]);
        break;
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

std::vector<RunOutput> launch(
    const LaunchPlan& plan,
    std::span<const Argument> args,
    OutputAllocator& allocator,
    KernelTimer* timer) {
  std::optional<CudaContextGuard> guard;
  if (plan.device.is_cuda()) {
    guard.emplace(CudaDriver::get(), plan.device.index);
  }
  RunBuffers buffers = make_buffers(plan, allocator);
  if (!plan.is_empty) {
    check_alignment(plan, args);
    check_aliases(plan, args);
    // Kept from run to run: a launch copies its parameters.
    static thread_local std::vector<std::byte> bytes;
    static thread_local std::vector<void*> parameters;
    // A CPU kernel reads them while it runs; a nested run in the same thread has its own.
    std::vector<std::byte> own_bytes;
    std::vector<void*> own_parameters;
    own_bytes.swap(bytes);
    own_parameters.swap(parameters);
    own_bytes.assign(plan.parameters.begin(), plan.parameters.end());
    own_parameters.clear();
    for (const size_t offset : plan.parameter_offsets) {
      own_parameters.push_back(own_bytes.data() + offset);
    }
    fill_parameters(plan, args, buffers, own_bytes.data());
    if (plan.random_streams > 0) {
      fill_random_state(plan, own_bytes.data());
    }
    if (plan.device.is_cpu()) {
      launch_on_cpu(plan, buffers, own_parameters.data(), timer);
    } else {
      launch_on_cuda(plan, buffers, own_parameters.data(), allocator, timer);
    }
    bytes.swap(own_bytes);
    parameters.swap(own_parameters);
  }
  return make_outputs(plan, buffers);
}

} // namespace nvfuser
