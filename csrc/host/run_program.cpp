#include "host/run_program.h"

#include <cstring>
#include <optional>

#include "base/errors.h"
#include "base/kept_vector.h"
#include "base/trace.h"
#include "ir/all_nodes.h"
#include "runtime/counters.h"
#include "runtime/cuda_driver.h"
#include "runtime/launch_graphs.h"
#include "runtime/leased_workspace.h"
#include "runtime/overlap.h"
#include "runtime/parameter_block.h"
#include "runtime/profiler.h"

namespace nvfuser::host {
namespace {

char* address_of(const DLTensor& tensor) {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

void put_address(std::byte* parameter, const char* address) {
  std::memcpy(parameter, static_cast<const void*>(&address), sizeof(address));
}

/// A tensor of its own description in memory that others own.
struct ViewTensor {
  DLManagedTensorVersioned managed{};
  SharedTensor memory;         // empty: an argument's, which the caller keeps
  std::vector<int64_t> layout; // sizes, then strides
};

void delete_view(DLManagedTensorVersioned* managed) {
  delete static_cast<ViewTensor*>(managed->manager_ctx);
}

DlpackHandle make_view(const TensorArg& tensor, SharedTensor memory) {
  auto view = std::make_unique<ViewTensor>();
  view->memory = std::move(memory);
  view->layout.assign(tensor.sizes().begin(), tensor.sizes().end());
  view->layout.insert(view->layout.end(), tensor.strides().begin(), tensor.strides().end());
  DLManagedTensorVersioned& managed = view->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.dl_tensor.data = tensor.data;
  managed.dl_tensor.device = to_dlpack(tensor.device);
  managed.dl_tensor.ndim = tensor.rank;
  managed.dl_tensor.dtype = to_dlpack(tensor.dtype);
  managed.dl_tensor.shape = view->layout.data();
  managed.dl_tensor.strides = view->layout.data() + tensor.rank;
  managed.manager_ctx = view.get();
  managed.deleter = delete_view;
  return DlpackHandle(&view.release()->managed);
}

int64_t bytes_of_arguments(std::span<const Argument> args) {
  int64_t bytes = 0;
  for (const Argument& arg : args) {
    if (const auto* tensor = std::get_if<TensorArg>(&arg)) {
      bytes += bytes_of(*tensor);
    }
  }
  return bytes;
}

int64_t bytes_of_outputs(std::span<const RunOutput> outputs, std::span<const Argument> args) {
  int64_t bytes = 0;
  for (const RunOutput& output : outputs) {
    if (output.same_as != RunOutput::kNone) {
      bytes += bytes_of_outputs(outputs.subspan(static_cast<size_t>(output.same_as), 1), args);
    } else if (output.evaluated != nullptr) {
      bytes += bytes_of(view_of(output.evaluated->dl_tensor));
    } else if (output.tensor != nullptr) {
      bytes += bytes_of(view_of(output.tensor->dl_tensor));
    } else {
      bytes += bytes_of(std::get<TensorArg>(args[static_cast<size_t>(output.input)]));
    }
  }
  return bytes;
}

class ProgramRun {
 public:
  ProgramRun(
      const ProgramPlan& plan,
      std::span<const Argument> args,
      const Caller& caller,
      ProfiledRun* profiled)
      : plan_(plan),
        args_(args),
        caller_(caller),
        profiled_(profiled),
        block_(plan.parameters, plan.parameter_offsets) {
    if (plan.device.is_cuda()) {
      context_.emplace(CudaDriver::get(), plan.device.index);
      stream_ = static_cast<CUstream>(caller.allocator.current_stream(plan.device));
    }
  }

  std::vector<RunOutput> run() {
    allocate();
    if (plan_.allocates_first) {
      allocate_all_tensors();
    }
    shared_ = stream_memory_for(
        plan_.counter_bytes, plan_.kernel_workspace_bytes, plan_.device, stream_,
        caller_.allocator);
    if (plan_.random_streams > 0) {
      random_ = draw_random_state(plan_.device, plan_.random_streams);
    }
    if (!try_launch_graph()) {
      for (size_t i = 0; i < plan_.steps.size(); ++i) {
        if (i >= bound_until_) {
          bind_chain(i);
        }
        std::visit([this](const auto& step) { run_step(step); }, plan_.steps[i]);
      }
    }
    allocate_all_tensors(); // those that no kernel writes have no elements
    return make_outputs();
  }

 private:
  // -- memory --

  void allocate() {
    bases_->resize(plan_.slots.size());
    handed_over_->resize(plan_.slots.size());
    memory_->resize(plan_.slots.size());
    char* const workspace = make_workspace();
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      const SlotPlan& slot = plan_.slots[i];
      if (slot.owner != static_cast<Slot>(i)) {
        continue;
      }
      if (slot.memory == SlotMemory::Argument) {
        base(slot.owner) = static_cast<char*>(std::get<TensorArg>(args_[i]).data);
      } else if (slot.memory == SlotMemory::Workspace && workspace != nullptr) {
        base(slot.owner) = workspace + slot.workspace_offset;
      }
    }
  }

  /// Evaluations may keep what they read: such a run has memory that no later one gets.
  char* make_workspace() {
    if (plan_.workspace_bytes == 0) {
      return nullptr;
    }
    if (!plan_.has_evaluations) {
      lease_.emplace(plan_.workspace_bytes, plan_.device, stream_, caller_.allocator);
      return static_cast<char*>(lease_->data());
    }
    workspace_ = caller_.allocator.allocate_workspace(plan_.workspace_bytes, plan_.device);
    return address_of(workspace_->dl_tensor);
  }

  /// The memory of a tensor that the caller gets, if it is not there yet.
  void allocate_tensor(Slot owner) {
    const SlotPlan& slot = slot_plan(owner);
    const auto i = static_cast<size_t>(owner);
    if (slot.memory != SlotMemory::NewTensor || (*handed_over_)[i] || (*memory_)[i]) {
      return;
    }
    DlpackHandle tensor = make_tensor(slot);
    base(owner) = address_of(tensor->dl_tensor);
    if (slot.is_handed_over) {
      (*handed_over_)[i] = std::move(tensor);
    } else {
      (*memory_)[i] = std::move(tensor);
    }
    set_addresses(owner);
  }

  /// Others see it through views, which have the strides.
  [[nodiscard]] DlpackHandle make_tensor(const SlotPlan& slot) {
    if (slot.is_row_major) {
      return caller_.allocator.allocate(slot.dtype, slot.sizes, plan_.device);
    }
    if (slot.is_handed_over) {
      return caller_.allocator.allocate_strided(
          slot.dtype, slot.sizes, slot.strides, slot.elements, plan_.device);
    }
    const int64_t elements[] = {slot.elements};
    return caller_.allocator.allocate(slot.dtype, elements, plan_.device);
  }

  void allocate_all_tensors() {
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      if (plan_.slots[i].owner == static_cast<Slot>(i)) {
        allocate_tensor(static_cast<Slot>(i));
      }
    }
  }

  [[nodiscard]] const SlotPlan& slot_plan(Slot number) const {
    return plan_.slots[static_cast<size_t>(number)];
  }
  /// Where the memory of an owner begins; nullptr: it has no bytes, or is not there yet.
  [[nodiscard]] char*& base(Slot owner) {
    return (*bases_)[static_cast<size_t>(owner)];
  }
  [[nodiscard]] char* address(Slot number) {
    const SlotPlan& slot = slot_plan(number);
    char* const begin = base(slot.owner);
    return begin == nullptr ? nullptr : begin + slot.byte_offset;
  }

  // -- slots as arguments of steps, where a step asks for them --

  void describe_slots() {
    if (!slots_->empty()) {
      return;
    }
    slots_->assign(args_.begin(), args_.end());
    for (size_t i = slots_->size(); i < plan_.slots.size(); ++i) {
      const SlotPlan& slot = plan_.slots[i];
      slots_->emplace_back(
          TensorArg{
              .data = slot.owner == kNoSlot ? nullptr : address(static_cast<Slot>(i)),
              .size_data = slot.sizes.data(),
              .stride_data = slot.strides.data(),
              .rank = static_cast<int32_t>(slot.sizes.size()),
              .dtype = slot.dtype,
              .device = slot.device,
          });
    }
  }

  /// Let the slots that see the memory of `owner` know where it lies.
  void set_addresses(Slot owner) {
    for (size_t i = 0; i < slots_->size(); ++i) {
      if (plan_.slots[i].owner == owner) {
        std::get<TensorArg>((*slots_)[i]).data = address(static_cast<Slot>(i));
      }
    }
  }

  [[nodiscard]] const Argument& value_of(Slot number) {
    describe_slots();
    return (*slots_)[static_cast<size_t>(number)];
  }
  [[nodiscard]] const TensorArg& tensor_of(Slot number) {
    return std::get<TensorArg>(value_of(number));
  }

  /// The values of slots, until they are asked for again.
  [[nodiscard]] const std::vector<Argument>& values_of(const std::vector<Slot>& inputs) {
    values_.clear();
    for (const Slot input : inputs) {
      values_.push_back(value_of(input));
    }
    return values_;
  }

  // -- steps --

  /// Bind all kernels from step `first` up to the next evaluation, whose results have no address
  /// before: a run that fails here has changed nothing. Where no step changes arguments, bind the
  /// next one alone: the GPU works while the others, and their outputs, are prepared.
  void bind_chain(size_t first) {
    bound_until_ = first;
    if (plan_.leaves_arguments) {
      ++bound_until_;
      if (const auto* launch = std::get_if<PlannedLaunch>(&plan_.steps[first])) {
        bind_kernel(*launch);
      }
      return;
    }
    for (; bound_until_ < plan_.steps.size(); ++bound_until_) {
      const PlannedStep& step = plan_.steps[bound_until_];
      if (const auto* launch = std::get_if<PlannedLaunch>(&step)) {
        bind_kernel(*launch);
      } else if (std::holds_alternative<PlannedEvaluation>(step)) {
        ++bound_until_;
        return;
      }
    }
  }

  /// Launch all kernels at once, if they are a graph. Else they may be bound.
  bool try_launch_graph() {
    if (plan_.graphs == nullptr || profiled_ != nullptr) {
      return false;
    }
    for (const PlannedStep& step : plan_.steps) {
      if (const auto* launch = std::get_if<PlannedLaunch>(&step)) {
        bind_kernel(*launch);
      }
    }
    bound_until_ = plan_.steps.size();
    caller_.allocator.unlock();
    const TraceSpan span("graph");
    if (!plan_.graphs->try_launch(*context_, stream_, block_.view(), block_.addresses())) {
      return false;
    }
    for (const PlannedStep& step : plan_.steps) {
      if (const auto* launch = std::get_if<PlannedLaunch>(&step)) {
        launch->kernel->note_run(launch->plan);
      }
    }
    return true;
  }

  void bind_kernel(const PlannedLaunch& launch) {
    for (const Slot tensor : launch.tensors) {
      if (tensor != kNoSlot) {
        allocate_tensor(slot_plan(tensor).owner);
      }
    }
    if (!launch.addresses || !try_bind_addresses(*launch.addresses)) {
      bind_arguments(launch);
    }
  }

  /// Whether all addresses are aligned as the kernel needs it.
  bool try_bind_addresses(const LaunchAddresses& addresses) {
    for (const LaunchAddresses::Alignment& check : addresses.alignments) {
      if (reinterpret_cast<uintptr_t>(address(check.slot)) % static_cast<uintptr_t>(check.bytes) !=
          0) {
        return false;
      }
    }
    std::byte* const parameters = block_.bytes();
    for (const LaunchAddresses::OfSlot& place : addresses.slots) {
      put_address(parameters + place.offset, address(place.slot));
    }
    for (const LaunchAddresses::OfWorkspace& place : addresses.workspaces) {
      const LaunchPiece& piece = place.is_counter ? shared_.counters : shared_.workspace;
      if (piece.data != nullptr) { // else: no elements
        put_address(parameters + place.offset, static_cast<char*>(piece.data) + place.byte_offset);
      }
    }
    return true;
  }

  void bind_arguments(const PlannedLaunch& launch) {
    const LaunchPlan& plan = *launch.plan;
    const std::vector<Argument>& values = values_of(launch.inputs);
    dump_arguments(plan, values);
    if (plan.is_empty) {
      return;
    }
    tensors_->clear();
    for (const Slot tensor : launch.tensors) {
      tensors_->push_back(tensor == kNoSlot ? nullptr : address(tensor));
    }
    const LaunchMemory memory{*tensors_, shared_.workspace.data, shared_.counters.data};
    const RandomShare random{random_, launch.random_numbers};
    bind_launch(plan, values, memory, random, block_.bytes() + launch.first_parameter);
  }

  void run_step(const PlannedLaunch& launch) {
    const LaunchPlan& plan = *launch.plan;
    launch.kernel->note_run(launch.plan);
    if (plan.is_empty) {
      return;
    }
    const TraceSpan span(plan.code->name);
    const std::byte* parameters = block_.bytes() + launch.first_parameter;
    void** addresses = block_.addresses() + launch.first_address;
    unlock_for(plan, caller_.allocator);
    if (profiled_ == nullptr) {
      // A graph of all kernels takes over from the launches, else each kernel has its own.
      const bool is_graph = plan_.graphs == nullptr && context_ &&
                            try_enqueue_graph(plan, *context_, parameters, addresses, stream_);
      if (!is_graph) {
        enqueue_launch(plan, parameters, addresses, stream_);
      }
      return;
    }
    profiled_->measure(
        plan, values_of(launch.inputs), launch.kernel->identity(), stream_,
        [&](KernelTimer* timer) { enqueue_launch(plan, parameters, addresses, stream_, timer); });
  }

  [[nodiscard]] EvaluatorInput evaluator_input(Slot number) {
    const SlotPlan& slot = slot_plan(number);
    EvaluatorInput input{value_of(number)};
    if (slot.memory == SlotMemory::None || slot.memory == SlotMemory::Argument) {
      input.argument = slot.owner;
      input.is_whole = slot.same_as == slot.owner;
    } else if (slot.memory == SlotMemory::Workspace) {
      input.memory = workspace_;
    } else {
      input.memory = (*memory_)[static_cast<size_t>(slot.owner)];
    }
    return input;
  }

  void run_step(const PlannedEvaluation& evaluation) {
    std::vector<EvaluatorInput> inputs;
    for (const Slot input : evaluation.inputs) {
      inputs.push_back(evaluator_input(input));
    }
    std::optional<ProfiledEvaluation> profiled;
    if (profiled_ != nullptr) {
      profiled.emplace(plan_.device, stream_, evaluation.identity);
    }
    std::vector<DlpackHandle> results = caller_.evaluator.evaluate(
        evaluation.evaluated, inputs, plan_.device, {random_, evaluation.random_numbers});
    NVF_INVARIANT(
        results.size() == evaluation.outputs.size(), "an evaluator returns a place per output");
    int64_t bytes = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      if (evaluation.outputs[i] != kNoSlot) {
        take_result(evaluation.outputs[i], std::move(results[i]));
        bytes += bytes_of(tensor_of(evaluation.outputs[i]));
      }
    }
    if (profiled) {
      profiled->finish(bytes_of_arguments(values_of(evaluation.inputs)), bytes);
    }
  }

  /// A tensor that an evaluation made fills its slot, and those that see it.
  void take_result(Slot number, DlpackHandle result) {
    const SlotPlan& slot = slot_plan(number);
    NVF_INVARIANT(result != nullptr, "an evaluator returns every output that is new");
    SharedTensor& memory = (*memory_)[static_cast<size_t>(number)] = std::move(result);
    base(number) = address_of(memory->dl_tensor);
    TensorArg seen = view_of(memory->dl_tensor);
    if (slot.has_shape) {
      check_result(slot, seen);
    }
    describe_slots();
    (*slots_)[static_cast<size_t>(number)] = seen;
    set_addresses(number);
  }

  static void check_result(const SlotPlan& slot, const TensorArg& seen) {
    bool is_alike = seen.dtype == slot.dtype && seen.device == slot.device &&
                    static_cast<size_t>(seen.rank) == slot.sizes.size();
    for (size_t dim = 0; dim < slot.sizes.size() && is_alike; ++dim) {
      const bool has_stride = slot.sizes[dim] > 1 && slot.elements > 0;
      is_alike = seen.sizes()[dim] == slot.sizes[dim] &&
                 (!has_stride || seen.strides()[dim] == slot.strides[dim]);
    }
    NVF_INVARIANT(is_alike, "an evaluation has the planned type and layout, not ", seen.str());
  }

  void run_step(const PlannedCopy& copy) {
    const TensorArg& from = tensor_of(copy.from);
    const TensorArg& to = tensor_of(copy.to);
    caller_.allocator.unlock();
    if (from.is_empty()) {
      return;
    }
    NVF_USER_CHECK(!to.is_read_only, "copy: the target is a read-only tensor");
    if (copy.bytes == 0 || ranges_intersect(from, to)) {
      caller_.evaluator.copy(evaluator_input(copy.from), evaluator_input(copy.to));
    } else if (to.device.is_cpu()) {
      std::memcpy(to.data, from.data, static_cast<size_t>(copy.bytes));
    } else {
      const CudaDriver& driver = CudaDriver::get();
      driver.check(
          driver.memcpy_dtod_async(
              reinterpret_cast<CUdeviceptr>(to.data), reinterpret_cast<CUdeviceptr>(from.data),
              static_cast<size_t>(copy.bytes), stream_),
          "cuMemcpyDtoDAsync");
    }
  }

  void run_step(const PlannedRelease& release) {
    if (release.owner != kNoSlot) {
      (*memory_)[static_cast<size_t>(release.owner)].reset();
    }
  }

  // -- results --

  std::vector<RunOutput> make_outputs() {
    std::vector<RunOutput> outputs(plan_.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Slot number = plan_.outputs[i];
      const SlotPlan& slot = plan_.slots[static_cast<size_t>(number)];
      for (size_t k = 0; k < i; ++k) {
        if (plan_.slots[static_cast<size_t>(plan_.outputs[k])].same_as == slot.same_as) {
          outputs[i].same_as = static_cast<int64_t>(k);
          break;
        }
      }
      if (outputs[i].same_as != RunOutput::kNone) {
        continue;
      }
      if (slot.memory == SlotMemory::Argument) {
        outputs[i].input = slot.owner;
        if (slot.same_as != slot.owner) {
          outputs[i].tensor = make_view(tensor_of(number), nullptr);
        }
        continue;
      }
      if (slot_plan(slot.owner).is_handed_over) {
        outputs[i].tensor = std::move((*handed_over_)[static_cast<size_t>(slot.owner)]);
        continue;
      }
      const SharedTensor& memory = (*memory_)[static_cast<size_t>(slot.owner)];
      if (slot.memory == SlotMemory::Evaluated && slot.owner == number) {
        outputs[i].evaluated = memory; // the framework may know more of it than its elements
      } else {
        outputs[i].tensor = make_view(tensor_of(number), memory);
      }
    }
    return outputs;
  }

  const ProgramPlan& plan_;
  std::span<const Argument> args_;
  const Caller& caller_;
  ProfiledRun* const profiled_;
  ParameterBlock block_;
  std::optional<CudaContextGuard> context_;
  CUstream stream_ = nullptr;
  RandomState random_;
  SharedTensor workspace_;               // of a run with evaluations
  std::optional<LeasedWorkspace> lease_; // of all others
  StreamMemory shared_;
  // -- by slot --
  KeptVector<char*> bases_;              // of owners
  KeptVector<DlpackHandle> handed_over_; // of owners that are
  KeptVector<SharedTensor> memory_;      // of all other owners
  KeptVector<Argument> slots_;           // empty as long as no step asks for them
  // -- of the launch that is bound --
  std::vector<Argument> values_;
  KeptVector<void*> tensors_;
  size_t bound_until_ = 0; // steps before are bound
};

} // namespace

std::vector<RunOutput> run_plan(
    const ProgramPlan& plan,
    std::span<const Argument> args,
    const Caller& caller,
    int64_t fusion_id) {
  const PlannedLaunch* single = plan.single_launch;
  if (is_profiling()) {
    ProfiledRun profiled(fusion_id);
    std::vector<RunOutput> outputs =
        single != nullptr
            ? profiled.launch(*single->plan, args, caller.allocator, single->kernel->identity())
            : ProgramRun(plan, args, caller, &profiled).run();
    if (single != nullptr) {
      single->kernel->note_run(single->plan);
    }
    profiled.set_bytes(bytes_of_arguments(args), bytes_of_outputs(outputs, args));
    profiled.finish();
    return outputs;
  }
  if (single == nullptr) {
    return ProgramRun(plan, args, caller, nullptr).run();
  }
  const TraceSpan span(single->plan->code->name);
  std::vector<RunOutput> outputs = launch(*single->plan, args, caller.allocator);
  single->kernel->note_run(single->plan);
  return outputs;
}

} // namespace nvfuser::host
