#include "runtime/compiled_kernel.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "base/architectures.h"
#include "base/environment.h"
#include "base/errors.h"
#include "base/options.h"
#include "base/register_file.h"
#include "base/trace.h"
#include "base/warnings.h"
#include "codegen/codegen.h"
#include "lower/analysis/loading_threads.h"
#include "runtime/dump_kernel.h"
#include "runtime/file_io.h"
#include "runtime/kernel_cache.h"
#include "runtime/nvrtc.h"
#include "runtime/try_automatic.h"

namespace nvfuser {
namespace {

/// The source a user put in place of the generated one; empty if there is none.
std::string external_source(int64_t group_id) {
  const std::string list = environment_text("NVFUSER_EXTERNAL_SRC");
  if (list.empty()) {
    return "";
  }
  std::istringstream in(list);
  std::string path;
  for (int64_t i = 0; i <= group_id && std::getline(in, path, ','); ++i) {
    std::string source;
    if (i == group_id && !path.empty()) {
      NVF_USER_CHECK(read_file(path, source), "NVFUSER_EXTERNAL_SRC: cannot read ", path);
      return source;
    }
  }
  warn(
      "NVFUSER_EXTERNAL_SRC names no file for segment " + std::to_string(group_id) +
      "; its generated source is compiled.");
  return "";
}

struct CompilerInput {
  std::string name; // of the function
  std::string source;
};

/// The source without comments, and with a name that follows from the source: equal kernels of
/// different programs and processes are compiled once, and profilers tell others apart.
CompilerInput print_for_compiler(const Kernel& kernel, SchedulerType scheduler) {
  constexpr size_t kDigits = 8;
  const std::string prefix = std::string("nvfuser_") + enum_name(scheduler) + "_";
  const std::string unnamed = prefix + std::string(kDigits, '0');
  CompilerInput input{.name = "", .source = generate_source(kernel, unnamed, Comments::None)};
  input.name = prefix + KernelCache::name_of(input.source).substr(0, kDigits);
  for (size_t at = input.source.find(unnamed); at != std::string::npos;
       at = input.source.find(unnamed, at)) {
    input.source.replace(at, unnamed.size(), input.name);
  }
  return input;
}

/// With registers for a whole block, where the block's size is known: a kernel that uses more does
/// not launch. One whose warps share registers says itself how many it begins with.
CompileParams limit_registers(const Kernel& kernel, CompileParams params) {
  const Target& target = kernel.target();
  int64_t threads = 1;
  for (const ParallelType type : kBlockDimTypes) {
    const Val* extent = kernel.launch.extents[type];
    if (extent != nullptr && !extent->is_const()) {
      return params;
    }
    threads *= extent == nullptr ? 1 : std::max<int64_t>(as_int(extent->value()), 1);
  }
  const int64_t limit = registers_of_thread(
      target, target.registers_per_block, threads + loading_threads(kernel).threads);
  params.maxrregcount = std::min(params.maxrregcount, std::max(limit, target.register_granularity));
  return params;
}

} // namespace

std::string KernelRequest::key() const {
  std::ostringstream out;
  out << enum_name(scheduler) << "\n"
      << target_of(device).name() << " " << target_of(device).architecture << " "
      << enum_name(choice.index_type) << (choice.has_empty_parallel_axis ? " empty" : "")
      << (has_option(EnableOption::KernelDebug) ? " debug" : "")
      << (has_option(EnableOption::DependentLaunch) ? " dependent" : "") << "\n"
      << constraints.to_string() << params.to_string();
  for (const int64_t least : choice.least_extents) {
    out << least << " ";
  }
  return out.str();
}

Target target_of(Device device) {
  if (!device.is_cuda()) {
    return Target::cpu();
  }
  Target target = Target::cuda();
  if (const CudaDriver* driver = CudaDriver::maybe_get()) {
    const CudaDeviceInfo& info = driver->device(device.index);
    constexpr int kManyParameters = 12010; // CUDA 12.1
    target = cuda_target_of(info.major * 10 + info.minor);
    target.num_sms = info.num_sms;
    target.max_threads_per_block = info.max_threads_per_block;
    target.max_shared_bytes = info.max_shared_bytes;
    target.registers_per_block = info.registers_per_block;
    target.max_threads_per_sm = info.max_threads_per_sm;
    target.shared_bytes_per_sm = info.max_shared_bytes_per_sm;
    target.reserved_shared_bytes = info.reserved_shared_bytes;
    target.registers_per_sm = info.registers_per_sm;
    target.warp_size = info.warp_size;
    target.l2_bytes = info.l2_bytes;
    target.has_cooperative_launch = info.has_cooperative_launch;
    if (driver->version() < kManyParameters) {
      target.max_parameter_bytes = Target::kFewParameterBytes;
    }
    if (!driver->has_tensor_maps()) {
      target.has_bulk_copies = false;
    }
    if (!driver->has_clusters()) {
      target.max_cluster_size = 1;
    }
  }
  return target;
}

std::string architecture_of(Device device) {
  constexpr int kHopperMajor = 9;
  const CudaDriver* driver = CudaDriver::maybe_get();
  if (driver == nullptr) {
    return Nvrtc::get().architecture(kHopperMajor, 0);
  }
  const CudaDeviceInfo& info = driver->device(device.index);
  return Nvrtc::get().architecture(info.major, info.minor);
}

CudaTexts compile_cuda(
    const Fusion& fusion,
    const CompileParams& params,
    const std::string& architecture,
    const std::string& name) {
  constexpr std::string_view kReal = "sm_";
  const std::optional<int64_t> capability = compute_capability(architecture);
  if (!capability) {
    throw UserError(
        {.headline = {"No machine code can be made for ", architecture},
         .node = Part::none(),
         .expected = "the architecture of a GPU, like sm_80, sm_90a or sm_100a",
         .found = {"'", architecture, "'"},
         .fix =
             "PTX, which virtual architectures like compute_90 stand for, is made along with it"},
        ErrorKind::Value);
  }
  CudaTexts result;
  LoweringOptions options;
  options.target = cuda_target_of(*capability);
  options.index_type = params.index_type.value();
  result.kernel = Kernel::lower(fusion, options);
  result.name = name.empty() ? default_kernel_name(options.target) : name;
  result.source = generate_source(*result.kernel, result.name);
  const CompileParams limited = limit_registers(*result.kernel, params);
  const Nvrtc& nvrtc = Nvrtc::get();
  result.cubin =
      nvrtc.compile(result.source, result.name, architecture, nvrtc_options(limited)).code;
  OptionsGuard guard; // without options of the assembler
  guard.set(DisableOption::CompileToSass);
  result.ptx = nvrtc
                   .compile(
                       result.source, result.name, "compute_" + architecture.substr(kReal.size()),
                       nvrtc_options(limited))
                   .code;
  return result;
}

std::variant<LoweredKernel, KernelRefusal> try_lower_kernel(
    const ScheduledFusion& scheduled, const KernelRequest& request) {
  if (const auto* refusal = std::get_if<Refusal>(&scheduled.try_get())) {
    return KernelRefusal{*refusal, KernelRefusal::Cause::Schedule};
  }
  const Fusion& fusion = *scheduled.get();
  dump_scheduled_fusion(fusion, request.name);
  const TraceSpan span("lower " + request.name);
  const Stopwatch watch;
  LoweringOptions options;
  options.target = target_of(request.device);
  options.index_type = request.choice.index_type;
  options.has_empty_parallel_axis = request.choice.has_empty_parallel_axis;
  options.least_extents = request.choice.least_extents;
  const auto lower = [&] { return Kernel::try_lower(fusion, options); };
  auto kernel = scheduled.is_automatic() ? try_automatic(lower) : lower();
  if (auto* refusal = std::get_if<Refusal>(&kernel)) {
    return KernelRefusal{std::move(*refusal), KernelRefusal::Cause::Schedule};
  }
  return LoweredKernel{std::get<std::shared_ptr<Kernel>>(std::move(kernel)), watch.milliseconds()};
}

LoweredKernel lower_kernel(const ScheduledFusion& fusion, const KernelRequest& request) {
  return get_or_throw(try_lower_kernel(fusion, request));
}

CompiledKernel::CompiledKernel(std::shared_ptr<const ScheduledFusion> fusion, KernelRequest request)
    : name(request.name),
      index_type(request.choice.index_type),
      fusion_(std::move(fusion)),
      request_(std::move(request)),
      options_(current_options()) {}

const std::shared_ptr<Kernel>& CompiledKernel::locked_kernel() const {
  if (kernel_ == nullptr) {
    const OptionsGuard guard(options_);
    kernel_ = lower_kernel(*fusion_, request_).kernel;
  }
  return kernel_;
}

std::shared_ptr<Kernel> CompiledKernel::kernel() const {
  const std::lock_guard lock(mutex_);
  return locked_kernel();
}

std::string CompiledKernel::source() const {
  const std::lock_guard lock(mutex_);
  if (source_.empty()) {
    const OptionsGuard guard(options_);
    source_ = generate_source(*locked_kernel(), name);
  }
  return source_;
}

namespace {

/// Compile the source of `code`; or why nothing here can. Throws UserError for a source that does
/// not compile.
std::optional<KernelRefusal> find_refusal_to_compile(
    CompiledKernel& code,
    const CompilerInput& input,
    const KernelRequest& request,
    const CompileParams& params) {
  if (request.device.is_cuda()) {
    const std::string architecture = architecture_of(request.device);
    code.cuda = CudaCode::compile(input.source, input.name, architecture, params);
    return std::nullopt;
  }
  auto made = CpuCode::try_compile(input.source, input.name, request.params.include_paths);
  if (auto* refusal = std::get_if<KernelRefusal>(&made)) {
    return std::move(*refusal);
  }
  code.cpu = std::get<std::shared_ptr<CpuCode>>(std::move(made));
  return std::nullopt;
}

} // namespace

std::variant<std::shared_ptr<const CompiledKernel>, KernelRefusal> try_compile_kernel(
    std::shared_ptr<const ScheduledFusion> fusion,
    const LaunchWords& words,
    LoweredKernel lowered,
    const KernelRequest& request) {
  const bool is_automatic = fusion->is_automatic();
  auto code = std::make_shared<CompiledKernel>(std::move(fusion), request);
  Kernel& kernel = *lowered.kernel;
  code->set_kernel(std::move(lowered.kernel));
  kernel.set_index_type(request.choice.index_type);
  CompilerInput input;
  bool is_external = false;
  {
    const TraceSpan span("print " + request.name);
    const Stopwatch watch;
    if (std::string external = external_source(request.group_id); !external.empty()) {
      code->set_source(external);
      is_external = true;
      input = {.name = request.name, .source = std::move(external)};
    } else {
      input = print_for_compiler(kernel, request.scheduler);
    }
    code->recipe = make_launch_recipe(kernel, words);
    code->lowering_ms = lowered.milliseconds + watch.milliseconds();
  }
  const CompileParams params = limit_registers(kernel, request.params);
  dump_source(*code, request);

  const TraceSpan span("compile " + request.name);
  const Stopwatch watch;
  if (request.device.is_cuda()) {
    if (const std::optional<Refusal> missing = Nvrtc::find_missing()) {
      // A machine that has none is no news; a name that leads nowhere is.
      const bool is_named = !environment_text("NVFUSER_NVRTC").empty();
      return KernelRefusal{
          *missing,
          is_named ? KernelRefusal::Cause::CompilerFailure : KernelRefusal::Cause::NoCompiler};
    }
  }
  std::optional<KernelRefusal> refusal;
  const auto compile = [&]() -> std::optional<Refusal> {
    refusal = find_refusal_to_compile(*code, input, request, params);
    return std::nullopt;
  };
  if (!is_automatic || is_external) {
    compile();
  } else if (std::optional<Refusal> error = try_automatic(compile)) {
    refusal = KernelRefusal{*std::move(error), KernelRefusal::Cause::Source};
  }
  if (refusal) {
    return *std::move(refusal);
  }
  code->compilation_ms = watch.milliseconds();
  code->compiled_at = std::chrono::steady_clock::now();
  dump_binary(*code, request);
  return code;
}

} // namespace nvfuser
