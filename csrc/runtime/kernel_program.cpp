#include "runtime/kernel_program.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "base/errors.h"
#include "base/options.h"
#include "base/trace.h"
#include "ir/domain_exprs.h"
#include "lower/index_types.h"
#include "runtime/launch_graphs.h"
#include "runtime/paired_tensor.h"
#include "runtime/profiler.h"

namespace nvfuser {
namespace {

/// Plans kept by one executor. Past that they are made anew: programs with that many shapes gain
/// nothing from keeping them.
constexpr size_t kMaxPlans = 4096;

/// Options that a run asks for on top of those it was compiled for.
CompileParams merge_params(const CompileParams& compiled, const CompileParams& given) {
  const CompileParams defaults;
  CompileParams merged = compiled;
  if (given.index_type) {
    merged.index_type = given.index_type;
  }
  if (given.device) {
    merged.device = given.device;
  }
  if (given.maxrregcount != defaults.maxrregcount) {
    merged.maxrregcount = given.maxrregcount;
  }
  if (given.enable_magic_zero != defaults.enable_magic_zero) {
    merged.enable_magic_zero = given.enable_magic_zero;
  }
  if (given.enable_ptxas_verbose != defaults.enable_ptxas_verbose) {
    merged.enable_ptxas_verbose = given.enable_ptxas_verbose;
  }
  if (!given.include_paths.empty()) {
    merged.include_paths = given.include_paths;
  }
  return merged;
}

LaunchParams merge_constraints(const LaunchParams& compiled, const LaunchParams& given) {
  LaunchParams merged = compiled;
  for (const ParallelType type : kHardwareTypes) {
    if (given.is_set(type)) {
      merged.bind(type, given.raw(type));
    }
  }
  return merged;
}

/// Registers, memory and resident blocks of a CUDA kernel.
void dump_occupancy(const LaunchPlan& plan) {
  const CudaDriver& driver = CudaDriver::get();
  const CudaFunction& function = plan.code->cuda->on_device(driver, plan.device.index);
  const CudaDeviceInfo& info = driver.device(plan.device.index);
  int per_sm = 0;
  driver.check(
      driver.occupancy_max_active_blocks(
          &per_sm, plan.function, static_cast<int>(plan.launch.num_threads()),
          static_cast<size_t>(plan.launch.smem_bytes())),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  std::cout << "occupancy of " << plan.code->name << ": " << function.registers << " registers, "
            << function.static_shared_bytes << " + " << plan.launch.smem_bytes()
            << " bytes shared, " << function.local_bytes << " bytes local, " << per_sm
            << " blocks of " << plan.launch.num_threads() << " threads on each of " << info.num_sms
            << " multiprocessors ("
            << 100 * per_sm * plan.launch.num_threads() / info.max_threads_per_sm << "%)"
            << std::endl;
}

void dump_plan(const LaunchPlan& plan) {
  if (has_option(DumpOption::LaunchParam)) {
    std::cout << plan.launch.to_string() << std::flush;
  }
  if (has_option(DumpOption::Occupancy) && plan.function != nullptr) {
    dump_occupancy(plan);
  }
  if (has_option(DumpOption::DynamicSharedMemory)) {
    std::cout << "dynamic shared memory of " << plan.code->name << ": " << plan.launch.smem_bytes()
              << " bytes" << std::endl;
  }
  if (has_option(DumpOption::GlobalZeroedMemory)) {
    std::cout << "global memory that " << plan.code->name << " needs zeroed: " << plan.counter_bytes
              << " of " << plan.counter_bytes + plan.workspace_bytes << " bytes of workspace"
              << std::endl;
  }
  if (has_option(DumpOption::IndexType)) {
    std::cout << "index type of " << plan.code->name << ": " << text(plan.code->index_type)
              << std::endl;
  }
}

} // namespace

KernelProgram::KernelProgram(
    std::shared_ptr<const ScheduledFusion> fusion,
    const KernelIdentity& identity,
    const LaunchParams& constraints,
    const CompileParams& params)
    : identity_(identity),
      kernel_name_(identity.name()),
      constraints_(constraints),
      params_(params),
      scheduled_(std::move(fusion)),
      fusion_(scheduled_->definition()),
      equal_dims_(equal_input_dims(*fusion_)),
      words_(*fusion_),
      sizes_depend_on_(find_shape_scalars(*fusion_)),
      store_(scheduled_, words_) {}

void KernelProgram::compile(std::span<const Argument> args) {
  const std::lock_guard lock(compile_mutex_);
  Device device = params_.device ? *params_.device : default_device();
  CodeChoice choice{.index_type = params_.index_type.value_or(DataType::Int)};
  if (!args.empty() || fusion_->inputs().empty()) {
    device = check_arguments(*fusion_, args, params_.device);
    const UnpairedArguments unpaired(*fusion_, args);
    choice = get_or_throw(try_choose_code(device, bind(unpaired.args()), params_));
  }
  static_cast<void>(get_or_throw(try_code_for(device, choice, params_)));
}

std::optional<KernelRefusal> KernelProgram::find_no_kernel(Device device) {
  const std::lock_guard lock(compile_mutex_);
  auto chooser = try_chooser_for(device, params_);
  if (auto* refusal = std::get_if<KernelRefusal>(&chooser)) {
    return std::move(*refusal);
  }
  return std::nullopt;
}

KernelRequest KernelProgram::request_for(Device device, const CompileParams& params) const {
  if (params.index_type) {
    check(find_wrong_index_type(*params.index_type));
  }
  return {
      .name = kernel_name_,
      .scheduler = identity_.scheduler,
      .device = device,
      .choice = {},
      .constraints = constraints_,
      .params = params,
      .group_id = identity_.group_id,
  };
}

std::variant<const CodeChooser*, KernelRefusal> KernelProgram::try_chooser_for(
    Device device, const CompileParams& params) {
  const TargetKind kind = target_of(device).kind;
  if (const auto known = choosers_.find(kind); known != choosers_.end()) {
    return &known->second;
  }
  const KernelRequest request = request_for(device, params);
  if (auto stored = store_.find_chooser(request)) {
    return &choosers_.emplace(kind, std::move(*stored)).first->second;
  }
  auto lowered = try_lower_kernel(*scheduled_, request);
  if (auto* refusal = std::get_if<KernelRefusal>(&lowered)) {
    return std::move(*refusal);
  }
  lowered_for_ = request;
  lowered_ = std::get<LoweredKernel>(std::move(lowered));
  return &keep_chooser(*lowered_.kernel, request);
}

/// It is the same for all kernels of the fusion on a target.
const CodeChooser& KernelProgram::keep_chooser(const Kernel& kernel, const KernelRequest& request) {
  const auto [position, is_new] =
      choosers_.try_emplace(target_of(request.device).kind, kernel, words_);
  if (is_new) {
    store_.store(position->second, request);
  }
  return position->second;
}

/// The expression that has no value says so itself.
void KernelProgram::throw_division_by_zero(Device device, std::span<const Argument> args) {
  const LoweredKernel lowered = lower_kernel(*scheduled_, request_for(device, params_));
  const CodeFacts& facts = lowered.kernel->launch.code;
  ExpressionEvaluator evaluator;
  bind_arguments(*lowered.kernel, args, equal_dims_, evaluator);
  for (const Val* val : {facts.smallest_index, facts.largest_index, facts.has_empty_axis}) {
    static_cast<void>(evaluator.evaluate(val));
  }
  NVF_INVARIANT(false, "the evaluator refuses what the program refused");
}

std::variant<CodeChoice, KernelRefusal> KernelProgram::try_choose_code(
    Device device, const BoundArguments& bound, const CompileParams& params) {
  auto chooser = try_chooser_for(device, params);
  if (auto* refusal = std::get_if<KernelRefusal>(&chooser)) {
    return std::move(*refusal);
  }
  std::vector<ScalarRegister> words(words_.count());
  words_.fill(bound.args, bound.layouts, words);
  // Processors index with 64 bits. Narrower arithmetic, which wraps, would hide from a compiler
  // that vectorizes which elements are neighbours.
  const bool may_be_narrow = device.is_cuda() || params.index_type == DataType::Int32;
  std::optional<CodeChoice> choice =
      std::get<const CodeChooser*>(chooser)->choose(words, constraints_, may_be_narrow);
  if (!choice) {
    throw_division_by_zero(device, bound.args);
  }
  if (!params.index_type) {
    return *choice;
  }
  if (*params.index_type == DataType::Int32 && choice->index_type == DataType::Int) {
    throw UserError({
        .headline = {"Compilation with int32 is requested but int64 is required for the arguments"},
        .node = {"kernel ", kernel_name_},
        .expected = {"index_type DataType.Int, or None"},
        .found = {"index_type DataType.Int32, and an index that may exceed 2^31 - 1"},
        .fix = {"leave CompileParams.index_type unset"},
    });
  }
  choice->index_type = *params.index_type;
  return *choice;
}

/// The kernel that was lowered to choose the code, if that is what was chosen.
std::variant<LoweredKernel, KernelRefusal> KernelProgram::try_lower(const KernelRequest& request) {
  const std::optional<KernelRequest> lowered_for = std::exchange(lowered_for_, std::nullopt);
  LoweredKernel lowered = std::exchange(lowered_, LoweredKernel());
  if (lowered_for && lowered_for->device == request.device &&
      lowered_for->choice.has_empty_parallel_axis == request.choice.has_empty_parallel_axis &&
      lowered_for->choice.least_extents == request.choice.least_extents) {
    return lowered;
  }
  return try_lower_kernel(*scheduled_, request);
}

std::variant<KernelProgram::CodePtr, KernelRefusal> KernelProgram::try_compile(
    const KernelRequest& request) {
  auto lowered = try_lower(request);
  if (auto* refusal = std::get_if<KernelRefusal>(&lowered)) {
    return std::move(*refusal);
  }
  auto& kernel = std::get<LoweredKernel>(lowered);
  keep_chooser(*kernel.kernel, request);
  return try_compile_kernel(scheduled_, words_, std::move(kernel), request);
}

std::variant<KernelProgram::CodePtr, KernelRefusal> KernelProgram::try_code_for(
    Device device, const CodeChoice& choice, const CompileParams& params) {
  KernelRequest request = request_for(device, params);
  request.choice = choice;
  const auto key_with = [&](DataType index_type) {
    request.choice.index_type = index_type;
    request.params.index_type = index_type; // however it was chosen, the code is the same
    return request.key();
  };
  // Code with wide indices also serves small sizes: no reason to compile once more.
  const bool may_be_wide = choice.index_type == DataType::Int32 && !params.index_type;
  if (may_be_wide && code_.count(key_with(DataType::Int32)) == 0) {
    if (const auto wide = code_.find(key_with(DataType::Int)); wide != code_.end()) {
      return wide->second;
    }
  }
  const std::string key = key_with(choice.index_type);
  if (const auto found = code_.find(key); found != code_.end()) {
    return found->second;
  }
  CodePtr code = store_.find_code(request);
  if (code == nullptr) {
    auto compiled = try_compile(request);
    if (auto* refusal = std::get_if<KernelRefusal>(&compiled)) {
      return std::move(*refusal);
    }
    code = std::get<CodePtr>(std::move(compiled));
    store_.store(*code, request);
  }
  code_.emplace(key, code);
  const std::lock_guard lock(last_mutex_);
  last_compiled_ = code;
  ++num_compiled_;
  return code;
}

std::variant<LaunchPlan, KernelRefusal> KernelProgram::try_plan_with(
    const CodeChoice& choice,
    BoundArguments& bound,
    Device device,
    const LaunchParams& constraints,
    const CompileParams& params) {
  auto code = try_code_for(device, choice, params);
  if (auto* refusal = std::get_if<KernelRefusal>(&code)) {
    return std::move(*refusal);
  }
  const TraceSpan span("plan " + kernel_name_);
  auto plan = try_make_launch_plan(std::get<CodePtr>(std::move(code)), bound, device, constraints);
  if (auto* refusal = std::get_if<Refusal>(&plan)) {
    return KernelRefusal{std::move(*refusal), KernelRefusal::Cause::Launch};
  }
  return std::get<LaunchPlan>(std::move(plan));
}

void KernelProgram::write_signature(
    std::span<const Argument> args,
    const LaunchParams& constraints,
    const CompileParams& params,
    Signature& words) const {
  words.clear();
  add_arguments(args, sizes_depend_on_, words);
  for (const auto& sizes :
       {constraints.dims().grid, constraints.dims().block, constraints.dims().cluster}) {
    words.insert(words.end(), sizes.begin(), sizes.end());
  }
  const Device device = params.device.value_or(Device{DeviceKind::Other, 0});
  words.push_back(params.index_type ? static_cast<int64_t>(*params.index_type) : -1);
  words.push_back((static_cast<int64_t>(device.kind) << 32) | device.index);
  words.push_back(
      params.maxrregcount * 4 + (params.enable_magic_zero ? 2 : 0) +
      (params.enable_ptxas_verbose ? 1 : 0));
  for (const std::string& path : params.include_paths) {
    words.push_back(static_cast<int64_t>(std::hash<std::string>()(path)));
  }
}

std::variant<KernelProgram::PlanPtr, KernelRefusal> KernelProgram::try_make_plan(
    std::span<const Argument> args,
    const LaunchParams& constraints,
    const CompileParams& params,
    const Signature& words) {
  const std::lock_guard lock(compile_mutex_);
  if (PlanPtr plan = plans_.find(words)) {
    return plan; // another thread made it meanwhile
  }
  CompileParams merged = merge_params(params_, params);
  const LaunchParams merged_constraints = merge_constraints(constraints_, constraints);
  const Device device = check_arguments(*fusion_, args, merged.device);
  const UnpairedArguments unpaired(*fusion_, args);
  BoundArguments bound = bind(unpaired.args());
  auto choice = try_choose_code(device, bound, merged);
  if (auto* refusal = std::get_if<KernelRefusal>(&choice)) {
    return std::move(*refusal);
  }
  const auto try_once = [&] {
    return try_plan_with(std::get<CodeChoice>(choice), bound, device, merged_constraints, merged);
  };
  auto planned = try_once();
  const auto* first = std::get_if<LaunchPlan>(&planned);
  if (first != nullptr && first->register_limit > 0) {
    // The size of blocks was not known when the code was compiled.
    merged.maxrregcount = std::min(merged.maxrregcount, first->register_limit);
    planned = try_once();
  }
  if (auto* refusal = std::get_if<KernelRefusal>(&planned)) {
    return std::move(*refusal);
  }
  const auto plan = std::make_shared<LaunchPlan>(std::get<LaunchPlan>(std::move(planned)));
  if (plan->register_limit > 0) {
    return KernelRefusal{
        refuse({
            .headline =
                {"Kernel ", kernel_name_, " needs too many registers for blocks of ",
                 plan->launch.num_threads(), " threads"},
            .node = {"kernel ", kernel_name_},
            .expected = {"at most ", plan->register_limit, " registers in a thread"},
            .found = {"more, however it is compiled"},
            .fix = {"bind a smaller axis to the threads, or keep fewer elements in a thread"},
        }),
        KernelRefusal::Cause::Launch};
  }
  plan->dumps_arguments = has_option(DumpOption::KernelArgs);
  plan->graphs = LaunchGraphs::of({{.plan = plan.get()}});
  dump_plan(*plan);
  if (plans_.size() >= kMaxPlans) {
    plans_.clear();
  }
  return plans_.insert(words, plan);
}

std::variant<KernelProgram::PlanPtr, KernelRefusal> KernelProgram::try_plan(
    std::span<const Argument> args, const LaunchParams& constraints, const CompileParams& params) {
  static thread_local Signature words; // kept for its capacity
  write_signature(args, constraints, params, words);
  if (PlanPtr plan = plans_.find(words)) {
    return plan;
  }
  // A copy: what compiles may warn, and a handler of warnings may run something in this thread.
  return try_make_plan(args, constraints, params, Signature(words));
}

KernelProgram::PlanPtr KernelProgram::plan(
    std::span<const Argument> args, const LaunchParams& constraints, const CompileParams& params) {
  return get_or_throw(try_plan(args, constraints, params));
}

std::vector<RunOutput> KernelProgram::run(
    std::span<const Argument> args,
    OutputAllocator& allocator,
    const LaunchParams& constraints,
    const CompileParams& params) {
  std::optional<ProfiledRun> profiled;
  if (is_profiling()) {
    profiled.emplace(identity_.fusion_id);
  }
  static thread_local Signature words; // kept for its capacity
  write_signature(args, constraints, params, words);
  PlanPtr plan = plans_.find(words);
  if (plan == nullptr) {
    allocator.unlock();
    plan = get_or_throw(try_make_plan(args, constraints, params, Signature(words))); // as above
  }
  const TraceSpan span(kernel_name_);
  std::vector<RunOutput> outputs = profiled ? profiled->launch(*plan, args, allocator, identity_)
                                            : launch(*plan, args, allocator);
  if (profiled) {
    profiled->finish();
  }
  note_run(plan);
  return outputs;
}

void KernelProgram::note_run(const PlanPtr& plan) {
  // Most runs repeat the last one, and write nothing that other threads read.
  if (last_plan_.load(std::memory_order_relaxed) != plan.get()) {
    PlanPtr last = plan; // what it was before goes when the lock is free
    const std::lock_guard lock(last_mutex_);
    last_plan_owner_.swap(last);
    last_plan_ = plan.get();
  }
}

std::shared_ptr<const CompiledKernel> KernelProgram::last_compiled() const {
  const std::lock_guard lock(last_mutex_);
  return last_compiled_;
}

LaunchParams KernelProgram::last_launch() const {
  const std::lock_guard lock(last_mutex_);
  return last_plan_owner_ != nullptr ? last_plan_owner_->launch : LaunchParams();
}

int64_t KernelProgram::num_compiled() const {
  const std::lock_guard lock(last_mutex_);
  return num_compiled_;
}

int64_t KernelProgram::num_plans() const {
  return static_cast<int64_t>(plans_.size());
}

} // namespace nvfuser
