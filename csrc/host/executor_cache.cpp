#include "host/executor_cache.h"

#include <algorithm>
#include <bit>
#include <iostream>

#include "base/errors.h"
#include "base/options.h"
#include "base/trace.h"
#include "base/value_or_throw.h"
#include "base/warnings.h"
#include "host/capture.h"
#include "host/dump_stages.h"
#include "host/hand_schedules.h"
#include "host/options_number.h"
#include "host/plan_store.h"
#include "runtime/arguments.h"
#include "runtime/cuda_driver.h"
#include "runtime/kernel_store.h"
#include "runtime/profiler.h"

namespace nvfuser::host {
namespace {

/// Calls kept by one cache. Past that those are planned anew that were not used for long.
constexpr size_t kMaxCalls = 4096;
/// Runtimes kept by one cache; the one that was not planned with for longest goes first.
constexpr size_t kMaxRuntimes = 256;
constexpr size_t kMaxReasons = 256; // that are remembered

/// Append how the addresses of tensors are aligned, as far as vector accesses ask for it.
void add_alignments(std::span<const Argument> args, Signature& words) {
  constexpr uintptr_t kWidest = 16; // bytes
  constexpr int kBits = 3;          // of one alignment: 1, 2, 4, 8 or 16
  constexpr int kWordBits = 63;
  int64_t word = 0;
  int used = 0;
  for (const Argument& arg : args) {
    const auto* tensor = std::get_if<TensorArg>(&arg);
    if (tensor == nullptr) {
      continue;
    }
    const auto address = reinterpret_cast<uintptr_t>(tensor->data);
    word |= int64_t{std::countr_zero(address | kWidest)} << used;
    used += kBits;
    if (used == kWordBits) {
      words.push_back(word);
      word = 0;
      used = 0;
    }
  }
  words.push_back(word);
}

bool has_tensors(std::span<const Argument> args) {
  return std::ranges::any_of(args, [](const Argument& arg) {
    const auto* tensor = std::get_if<TensorArg>(&arg);
    return tensor != nullptr && tensor->rank > 0;
  });
}

std::vector<int64_t> sizes_of(std::span<const Argument> args) {
  std::vector<int64_t> sizes;
  for (const Argument& arg : args) {
    if (const auto* tensor = std::get_if<TensorArg>(&arg)) {
      sizes.insert(sizes.end(), tensor->sizes().begin(), tensor->sizes().end());
    }
  }
  return sizes;
}

/// A call that names a CUDA device can run there: the device exists, and all tensors are on it. A
/// host tensor without dimensions may stand beside device tensors.
void check_device(Device device, std::span<const Argument> args) {
  static_cast<void>(CudaDriver::get().device(device.index));
  for (size_t i = 0; i < args.size(); ++i) {
    const auto* tensor = std::get_if<TensorArg>(&args[i]);
    if (tensor == nullptr || tensor->rank == 0 || tensor->device == device) {
      continue;
    }
    throw UserError(
        {.headline =
             {"Expected input ", i, " on device ", device.str(),
              ", which the call names, but got a tensor on ", tensor->device.str()},
         .node = Part::none(),
         .expected = Part::none(),
         .found = Part::none(),
         .fix = "move the tensor, or leave out device: the inputs decide where a fusion runs"});
  }
}

/// A part of the keys of plans; empty: there are no hints.
std::string text_of(const CutHints& hints) {
  std::string text;
  const auto add = [&](const char* name, const std::vector<int64_t>& tensors) {
    text += name;
    for (const int64_t tensor : tensors) {
      text += " " + std::to_string(tensor);
    }
  };
  for (const std::vector<int64_t>& together : hints.together) {
    add(" together", together);
  }
  if (!hints.cuts.empty()) {
    add(" cut", hints.cuts);
  }
  return text;
}

void check_same_version(const Fusion& fusion, int64_t version) {
  if (fusion.version() == version) {
    return;
  }
  throw UserError(
      {.headline = "The definition was executed, and cannot be changed any more",
       .node = Part::none(),
       .expected = "the fusion as it was given to the executor cache",
       .found = "edits of the definition or of its schedule since then",
       .fix = "make a new definition; manual_execute() of one that was never executed follows "
              "edits"});
}

} // namespace

Device cuda_device_of_call(int64_t index) {
  constexpr int64_t kMost = 255;
  NVF_USER_CHECK(index <= kMost, "Maximum device index is ", kMost);
  return Device::cuda(static_cast<int32_t>(index));
}

std::string ExecutorCacheStats::to_string() const {
  std::string text = "ExecutorCacheStats(";
  const auto add = [&](const char* name, int64_t value) {
    text += std::string(text.back() == '(' ? "" : ", ") + name + "=" + std::to_string(value);
  };
  add("hits", hits);
  add("misses", misses);
  add("plans", plans);
  add("specializations", specializations);
  add("runtimes", runtimes);
  add("compiled", compiled);
  add("evictions", evictions);
  return text + ")";
}

FusionExecutorCache::FusionExecutorCache(
    std::shared_ptr<Fusion> fusion, int64_t fusion_id, bool auto_schedule)
    : fusion_(std::move(fusion)),
      version_(fusion_->version()),
      fusion_id_(fusion_id),
      auto_schedule_(auto_schedule),
      shapes_(fusion_) {}

// ---- Running ------------------------------------------------------------------------------------

std::vector<RunOutput> FusionExecutorCache::execute(
    std::span<const Argument> args, const Caller& caller, std::optional<Device> device) {
  if (!is_profiling()) {
    return run(args, caller, device);
  }
  caller.allocator.unlock();
  ProfiledRun profiled(fusion_id_); // with what is compiled on the way
  std::vector<RunOutput> outputs = run(args, caller, device);
  profiled.finish();
  return outputs;
}

std::vector<RunOutput> FusionExecutorCache::run(
    std::span<const Argument> args, const Caller& caller, std::optional<Device> device) {
  check_same_version(*fusion_, version_);
  static thread_local Signature words; // kept for its capacity
  write_signature(args, device, words);
  CallPtr call = calls_.find(words);
  if (call != nullptr) {
    hits_.add();
    if (!call->was_used.load(std::memory_order_relaxed)) { // most were: nothing is written then
      call->was_used.store(true, std::memory_order_relaxed);
    }
  } else {
    misses_.add();
    caller.allocator.unlock();
    // A copy: what compiles may warn, and a handler of warnings may run something in this thread.
    call = make_call(args, caller, device, Signature(words));
  }
  note_call(call);
  if (call->dumps_arguments) {
    std::cout << "Arguments for fusion " << fusion_id_ << ":\n"
              << arguments_text(args) << std::flush;
  }
  return run_plan(*call->plan, args, caller, fusion_id_);
}

void FusionExecutorCache::write_signature(
    std::span<const Argument> args, std::optional<Device> device, Signature& words) const {
  words.clear();
  const Device place = device.value_or(Device{DeviceKind::Other, 0});
  words.push_back(options_number());
  words.push_back((static_cast<int64_t>(place.kind) << 32) | place.index);
  add_alignments(args, words);
  add_arguments(args, shapes_.sizes_depend_on(), words);
}

FusionExecutorCache::CallPtr FusionExecutorCache::make_call(
    std::span<const Argument> args,
    const Caller& caller,
    std::optional<Device> device,
    const Signature& words) {
  if (device) {
    check_device(*device, args);
  }
  const TraceSpan span("plan fusion " + std::to_string(fusion_id_));
  const Device place = check_arguments(*fusion_, args, device);
  check(find_capture(place, caller.allocator));
  auto call = std::make_shared<Call>();
  const Specialization specialization = shapes_.resolve(args);
  const std::string key = plan_key_for(place, words);
  call->runtime = stored_runtime(key, specialization, args, place);
  if (call->runtime == nullptr) {
    call->runtime = runtime_for(specialization, args, place);
  }
  FusionRuntime::Planned planned = call->runtime->plan(args, place, caller.evaluator);
  // Pieces whose schedulers fail are cut further, as long as that makes a difference.
  while (!planned.unusable.empty() &&
         planner_for(specialization)
             ->note_unusable(call->runtime->cut().get(), planned.unusable, place)) {
    call->runtime = runtime_for(specialization, args, place);
    planned = call->runtime->plan(args, place, caller.evaluator);
  }
  // Later processes do not know which proposals were of no use, and would plan something else.
  if (!key.empty() && !planner_for(specialization)->has_unusable(place)) {
    if (const std::optional<StoredPlan> plan = call->runtime->plan_to_store()) {
      store_plan(key, *plan);
    }
  }
  call->program = std::move(planned.program);
  call->plan = std::move(planned.plan);
  call->dumps_arguments = has_option(DumpOption::FusionArgs);
  if (calls_.size() >= kMaxCalls) {
    evict_calls();
  }
  CallPtr result = calls_.insert(words, std::move(call));
  for (const std::string& warning : planned.warnings) {
    warn(warning);
  }
  return result;
}

FusionExecutorCache::RuntimeKey FusionExecutorCache::runtime_key_for(
    const Specialization& specialization, std::span<const Argument> args, Device device) {
  RuntimeKey key{device.kind, options_number(), specialization.number, {}};
  if (has_option(DisableOption::KernelReuse)) {
    key.sizes = sizes_of(args);
  }
  return key;
}

std::shared_ptr<FusionRuntime> FusionExecutorCache::runtime_for(
    const Specialization& specialization, std::span<const Argument> args, Device device) {
  RuntimeKey key = runtime_key_for(specialization, args, device);
  PlannedPieces pieces = [&] {
    const TraceSpan span("decide");
    return planner_for(specialization)->plan(args, device);
  }();
  const std::lock_guard lock(runtimes_mutex_);
  int64_t num_alike = 0; // with other schedules
  const Entry* alike = nullptr;
  for (Entry& entry : runtimes_) {
    if (entry.key == key && entry.runtime->serves(pieces)) {
      entry.last_use = ++num_uses_;
      return entry.runtime;
    }
    if (entry.key == key) {
      ++num_alike;
      alike = &entry;
    }
  }
  note_compilation(reason_for(key, pieces, alike));
  if (!is_definition_printed_) {
    dump_python(*fusion_);
    dump_segments(pieces.partition);
  }
  dump_stages(*fusion_, *specialization.fusion, *pieces.complete, pieces.partition);
  const KernelIdentity identity{
      .fusion_id = fusion_id_, .concrete_id = specialization.number, .runtime_id = num_alike};
  auto runtime = std::make_shared<FusionRuntime>(
      std::move(pieces), fusion_->inputs().size(), identity, !auto_schedule_, device);
  evict_runtimes();
  runtimes_.push_back({std::move(key), runtime, /*plan=*/"", ++num_uses_});
  return runtime;
}

std::string FusionExecutorCache::plan_key_for(Device device, const Signature& words) {
  if (!auto_schedule_ || has_hand_schedules()) {
    return "";
  }
  std::string digest;
  {
    const std::lock_guard lock(runtimes_mutex_);
    if (digest_.empty()) {
      const TraceSpan span("digest fusion " + std::to_string(fusion_id_));
      digest_ = digest_of_definition(*fusion_);
    }
    digest = digest_ + text_of(hints_);
  }
  // The first word numbers the options in this process; the key has their names.
  return plan_key(digest, device, std::span(words).subspan(1));
}

std::shared_ptr<FusionRuntime> FusionExecutorCache::stored_runtime(
    const std::string& key,
    const Specialization& specialization,
    std::span<const Argument> args,
    Device device) {
  const std::shared_ptr<PiecePlanner> planner = planner_for(specialization);
  if (key.empty() || planner->has_planned(device)) {
    return nullptr;
  }
  std::optional<std::string> bytes = find_plan(key);
  if (!bytes) {
    return nullptr;
  }
  const RuntimeKey runtime_key = runtime_key_for(specialization, args, device);
  KernelIdentity identity{.fusion_id = fusion_id_, .concrete_id = specialization.number};
  const std::lock_guard one_by_one(stored_mutex_);
  {
    const std::lock_guard lock(runtimes_mutex_);
    for (Entry& entry : runtimes_) {
      if (entry.key == runtime_key && entry.plan == *bytes) {
        entry.last_use = ++num_uses_;
        return entry.runtime;
      }
    }
    identity.runtime_id = std::ranges::count(runtimes_, runtime_key, &Entry::key);
  }
  std::optional<StoredPlan> stored = read_plan(*bytes);
  if (!stored) {
    return nullptr;
  }
  auto replanned = std::make_shared<Replanned>(planner, args, device);
  auto runtime = std::make_shared<FusionRuntime>(
      pieces_of(*std::move(stored), replanned), fusion_->inputs().size(), identity,
      /*is_by_hand=*/false, device);
  const std::lock_guard lock(runtimes_mutex_);
  note_compilation("a plan that an earlier process left");
  evict_runtimes();
  runtimes_.push_back({runtime_key, runtime, *std::move(bytes), ++num_uses_});
  return runtime;
}

void FusionExecutorCache::note_compilation(std::string reason) {
  compilations_.push_back(std::move(reason));
  if (compilations_.size() > kMaxReasons) {
    compilations_.pop_front();
  }
}

std::string FusionExecutorCache::reason_for(
    const RuntimeKey& key, const PlannedPieces& pieces, const Entry* alike) const {
  if (runtimes_.empty()) {
    return "first run";
  }
  if (alike != nullptr) {
    return alike->runtime->difference_of(pieces);
  }
  const RuntimeKey& last = runtimes_.back().key;
  if (last.device != key.device) {
    return "another kind of device";
  }
  if (last.options != key.options) {
    return "other options";
  }
  return last.specialization != key.specialization
             ? "shapes resolve in another way"
             : "other sizes, and kernels are not reused (kernel_reuse is disabled)";
}

void FusionExecutorCache::evict_calls() {
  const std::lock_guard lock(runtimes_mutex_);
  std::vector<std::pair<Signature, CallPtr>> calls = calls_.items();
  if (calls.size() < kMaxCalls) {
    return; // another thread did it meanwhile
  }
  std::erase_if(calls, [](const auto& entry) {
    return !entry.second->was_used.exchange(false, std::memory_order_relaxed);
  });
  if (calls.size() > kMaxCalls / 2) { // so do the oldest ones: else this would repeat soon
    calls.erase(calls.begin(), calls.end() - static_cast<std::ptrdiff_t>(kMaxCalls / 2));
  }
  num_evictions_ += static_cast<int64_t>(kMaxCalls - calls.size());
  calls_.clear();
  for (auto& [words, call] : calls) {
    calls_.insert(std::move(words), std::move(call));
  }
}

void FusionExecutorCache::evict_runtimes() {
  while (runtimes_.size() >= kMaxRuntimes) {
    runtimes_.erase(std::ranges::min_element(runtimes_, {}, &Entry::last_use));
    ++num_evictions_;
    calls_.clear(); // some lead to the runtime; the others plan again without compiling
  }
}

std::shared_ptr<PiecePlanner> FusionExecutorCache::planner_for(
    const Specialization& specialization) {
  const std::lock_guard lock(runtimes_mutex_);
  auto known = planners_.find(specialization.number);
  if (known == planners_.end()) {
    if (planners_.size() >= DynamicShapes::kMost) {
      planners_.erase(std::ranges::min_element(planners_, {}, [](const auto& entry) {
        return entry.second.last_use;
      }));
    }
    auto planner = std::make_shared<PiecePlanner>(specialization.fusion, !auto_schedule_, hints_);
    known = planners_.emplace(specialization.number, KnownPlanner{.planner = planner}).first;
  }
  known->second.last_use = ++num_uses_;
  return known->second.planner;
}

void FusionExecutorCache::note_call(const CallPtr& call) {
  // Most calls repeat the last one, and write nothing that other threads read.
  if (last_call_.load(std::memory_order_relaxed) != call.get()) {
    CallPtr last = call; // what it was before goes when the lock is free
    const std::lock_guard lock(last_mutex_);
    last_call_owner_.swap(last);
    last_call_ = call.get();
  }
}

std::shared_ptr<FusionRuntime> FusionExecutorCache::runtime_to_change(
    std::optional<std::span<const Argument>> args) {
  const std::shared_ptr<const FusionRuntime> wanted = args ? find_runtime(*args) : last_runtime();
  const std::lock_guard lock(runtimes_mutex_);
  const auto entry = std::ranges::find(runtimes_, wanted, &Entry::runtime);
  NVF_USER_CHECK(
      entry != runtimes_.end(),
      "A schedule takes the place of an automatic one: execute the fusion with such inputs first");
  return entry->runtime;
}

void FusionExecutorCache::use_schedule(
    std::optional<std::span<const Argument>> args, size_t segment, const HandSchedule* schedule) {
  runtime_to_change(args)->use_schedule(segment, schedule);
  calls_.clear(); // their programs have the schedule of before
}

void FusionExecutorCache::use_params(
    std::optional<std::span<const Argument>> args, size_t segment, const HeuristicParams& params) {
  runtime_to_change(args)->use_params(segment, params);
  calls_.clear();
}

void FusionExecutorCache::store_tuned(
    std::optional<std::span<const Argument>> args, size_t segment) {
  runtime_to_change(args)->store_tuned(segment);
}

void FusionExecutorCache::set_cut_hints(CutHints hints) {
  const std::lock_guard one_by_one(stored_mutex_);
  const std::lock_guard lock(runtimes_mutex_);
  hints_ = std::move(hints);
  planners_.clear();
  runtimes_.clear();
  calls_.clear();
}

CutHints FusionExecutorCache::cut_hints() const {
  const std::lock_guard lock(runtimes_mutex_);
  return hints_;
}

// ---- Looking into -------------------------------------------------------------------------------

std::shared_ptr<const FusionRuntime> FusionExecutorCache::find_runtime(
    std::span<const Argument> args) {
  return value_or_throw(try_find_runtime(args));
}

bool FusionExecutorCache::is_compiled(std::span<const Argument> args) {
  const auto found = try_find_runtime(args);
  const auto* runtime = std::get_if<std::shared_ptr<const FusionRuntime>>(&found);
  return runtime != nullptr && *runtime != nullptr;
}

std::variant<std::shared_ptr<const FusionRuntime>, Refusal> FusionExecutorCache::try_find_runtime(
    std::span<const Argument> args) {
  if (std::optional<Refusal> refusal = find_unfit_argument(*fusion_, args)) {
    return *std::move(refusal);
  }
  const Device place = device_of_run(*fusion_, args);
  auto resolved = shapes_.try_resolve(args);
  if (auto* refusal = std::get_if<Refusal>(&resolved)) {
    return std::move(*refusal);
  }
  const auto& specialization = std::get<Specialization>(resolved);
  auto planned = planner_for(specialization)->try_plan(args, place);
  if (auto* refusal = std::get_if<Refusal>(&planned)) {
    return std::move(*refusal);
  }
  const auto& pieces = std::get<PlannedPieces>(planned);
  const std::vector<int64_t> sizes = sizes_of(args);
  const int64_t options = options_number();
  const bool is_on_any_device = !has_tensors(args); // scalars alone leave open where a call ran
  const Entry* found = nullptr;
  const std::lock_guard lock(runtimes_mutex_);
  for (const Entry& entry : runtimes_) {
    const bool is_for_these = entry.key.specialization == specialization.number &&
                              (is_on_any_device || entry.key.device == place.kind) &&
                              (entry.key.sizes.empty() || entry.key.sizes == sizes) &&
                              entry.runtime->serves(pieces);
    const bool is_better =
        found == nullptr || (found->key.options != options && entry.key.options == options);
    if (is_for_these && is_better) {
      found = &entry;
    }
  }
  return found == nullptr ? std::shared_ptr<const FusionRuntime>() : found->runtime;
}

std::shared_ptr<const FusionRuntime> FusionExecutorCache::last_runtime() const {
  const std::lock_guard lock(last_mutex_);
  return last_call_owner_ == nullptr ? nullptr : last_call_owner_->runtime;
}

ExecutorCacheStats FusionExecutorCache::stats() const {
  ExecutorCacheStats stats;
  stats.hits = hits_.count();
  stats.misses = misses_.count();
  stats.plans = static_cast<int64_t>(calls_.size());
  stats.specializations = shapes_.count();
  const std::lock_guard lock(runtimes_mutex_);
  stats.runtimes = static_cast<int64_t>(runtimes_.size());
  stats.evictions = num_evictions_ + shapes_.num_forgotten();
  for (const Entry& entry : runtimes_) {
    stats.compiled += entry.runtime->num_compiled();
  }
  return stats;
}

std::vector<std::string> FusionExecutorCache::compilations() const {
  const std::lock_guard lock(runtimes_mutex_);
  return {compilations_.begin(), compilations_.end()};
}

} // namespace nvfuser::host
