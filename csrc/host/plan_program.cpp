// Planning a program: shapes go from step to step, then every tensor gets its place.
#include <algorithm>
#include <unordered_map>

#include "base/errors.h"
#include "host/plan_addresses.h"
#include "host/plan_launches.h"
#include "host/program_plan.h"
#include "host/side_by_side.h"
#include "host/view.h"
#include "host/workspace.h"
#include "ir/all_nodes.h"
#include "runtime/arguments.h"
#include "runtime/paired_tensor.h"
#include "transform/concretize.h"

namespace nvfuser::host {
namespace {

/// The device of a run: that of its first tensor with dimensions, beside which scalars of the host
/// may stand; else `wanted`; else that of its first tensor.
Device device_of(std::span<const Argument> args, std::optional<Device> wanted) {
  const TensorArg* first = nullptr;
  for (const Argument& arg : args) {
    const auto* tensor = std::get_if<TensorArg>(&arg);
    if (tensor != nullptr && (first == nullptr || (first->rank == 0 && tensor->rank > 0))) {
      first = tensor;
    }
  }
  if (first != nullptr && (first->rank > 0 || !wanted)) {
    return first->device;
  }
  return wanted ? *wanted : default_device();
}

/// The layout of a new tensor as the caller's framework sees it.
struct NewTensor {
  DataType dtype = DataType::Float;
  BufferLayout layout;
};

NewTensor new_tensor(const TensorView* tensor, ExpressionEvaluator& evaluator) {
  NewTensor result{framework_dtype(tensor->dtype()), layout_of_new(tensor, evaluator)};
  if (tensor->dtype() == DataType::Float4_e2m1fn) {
    pair_up(tensor, result.layout);
  }
  return result;
}

/// A kernel, and what it is launched with. The sizes are those of a plan.
struct LaunchArguments {
  std::shared_ptr<KernelProgram> kernel;
  std::vector<Argument> values;
};

class ProgramPlanner {
 public:
  ProgramPlanner(ProgramPlan& plan, std::span<const Step> steps, std::span<const Argument> args)
      : plan_(plan), steps_(steps), args_(args) {}

  /// The launches of the program with what they get, as far as it is known without any kernel.
  /// `run` meets again what is refused here, and reports it.
  std::vector<LaunchArguments> find_launches() {
    find_shapes_needed();
    plan_arguments();
    std::vector<LaunchArguments> launches;
    for (const Step& step : steps_) {
      if (const auto* launch = std::get_if<Launch>(&step)) {
        launches.push_back({launch->kernel, values_of(launch->inputs)});
        plan_step(Evaluate{{launch->fusion()}, launch->inputs, launch->outputs, {}});
      } else if (std::visit([this](const auto& kind) { return try_plan_step(kind); }, step)) {
        break;
      }
    }
    return launches;
  }

  std::optional<StepRefusal> run() {
    find_shapes_needed();
    plan_arguments();
    for (size_t i = 0; i < steps_.size(); ++i) {
      auto refusal =
          std::visit([this](const auto& kind) { return try_plan_step(kind); }, steps_[i]);
      if (refusal) {
        return StepRefusal{i, std::move(*refusal)};
      }
    }
    choose_memory();
    find_releases();
    place_workspace();
    find_single_launch();
    plan_launches(plan_);
    plan_addresses(plan_);
    return std::nullopt;
  }

 private:
  SlotPlan& slot(Slot number) {
    return plan_.slots[static_cast<size_t>(number)];
  }

  /// Slots that steps read.
  void find_shapes_needed() {
    for (const Step& step : steps_) {
      for (const Slot read : slots_read(step)) {
        slot(read).has_shape = true;
      }
    }
  }

  void plan_arguments() {
    for (size_t i = 0; i < args_.size(); ++i) {
      SlotPlan& plan = plan_.slots[i];
      plan.owner = plan.same_as = static_cast<Slot>(i);
      if (const auto* tensor = std::get_if<TensorArg>(&args_[i])) {
        plan.memory = SlotMemory::Argument;
        set_shape(plan, tensor->dtype, tensor->sizes(), tensor->strides());
        plan.device = tensor->device;
      }
    }
  }

  void set_shape(
      SlotPlan& plan,
      DataType dtype,
      std::span<const int64_t> sizes,
      std::span<const int64_t> strides) const {
    plan.dtype = dtype;
    plan.device = plan_.device;
    plan.sizes.assign(sizes.begin(), sizes.end());
    plan.strides.assign(strides.begin(), strides.end());
    plan.has_shape = true;
  }

  /// The slot becomes a new tensor, whose place is chosen later.
  void set_owner(Slot number, DataType dtype, const BufferLayout& layout, SlotMemory memory) {
    SlotPlan& plan = slot(number);
    set_shape(plan, dtype, layout.sizes, layout.strides);
    plan.memory = memory;
    plan.owner = plan.same_as = number;
    plan.elements = layout.elements;
    plan.is_row_major = layout.is_row_major;
    plan.bytes = storage_bytes(dtype, layout.elements);
  }

  /// The slot holds the tensor of another one.
  void set_same(Slot number, Slot other) {
    SlotPlan& plan = slot(number);
    plan = slot(other);
    plan.same_as = slot(other).same_as;
  }

  /// The slots that a step reads, as a run would pass them; tensors that a run makes have no
  /// address yet.
  std::vector<Argument> values_of(const std::vector<Slot>& inputs) {
    std::vector<Argument> values;
    for (const Slot input : inputs) {
      const SlotPlan& plan = slot(input);
      if (static_cast<size_t>(input) < args_.size()) {
        values.push_back(args_[static_cast<size_t>(input)]);
        continue;
      }
      values.emplace_back(
          TensorArg{
              .size_data = plan.sizes.data(),
              .stride_data = plan.strides.data(),
              .rank = static_cast<int32_t>(plan.sizes.size()),
              .dtype = plan.dtype,
              .device = plan.device,
          });
    }
    return values;
  }

  /// Let `evaluator` know the sizes of a fusion that is not launched; checks them.
  void bind_fusion(
      const Fusion& fusion,
      std::span<const Argument> values,
      ExpressionEvaluator& evaluator) const {
    static_cast<void>(check_arguments(fusion, values, plan_.device));
    const UnpairedArguments elements(fusion, values);
    static_cast<void>(bind_arguments(fusion, elements.args(), {}, evaluator));
    check_meeting_sizes(fusion, evaluator);
  }

  // -- steps --

  std::optional<KernelRefusal> try_plan_step(const Launch& step) {
    PlannedLaunch launch;
    launch.kernel = step.kernel;
    launch.inputs = step.inputs;
    launch.random_numbers = step.random_numbers;
    CompileParams params;
    params.device = plan_.device;
    auto found = step.kernel->try_plan(values_of(step.inputs), {}, params);
    if (auto* refusal = std::get_if<KernelRefusal>(&found)) {
      return std::move(*refusal);
    }
    launch.plan = std::get<std::shared_ptr<const LaunchPlan>>(std::move(found));
    const LaunchPlan& plan = *launch.plan;
    NVF_USER_CHECK(
        plan.device == plan_.device, "The steps of a program run on one device, but ",
        step.kernel->identity().name(), " would run on ", plan.device.str(), ", others on ",
        plan_.device.str());
    launch.tensors.assign(plan.buffers.size(), kNoSlot);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const PlannedOutput& output = plan.outputs[i];
      switch (output.source) {
        case PlannedOutput::Source::Buffer: {
          const PlannedBuffer& buffer = plan.buffers[output.index];
          set_owner(step.outputs[i], buffer.dtype, buffer.layout, SlotMemory::Workspace);
          launch.tensors[output.index] = step.outputs[i];
          break;
        }
        case PlannedOutput::Source::Input:
          set_same(step.outputs[i], step.inputs[output.index]);
          break;
        case PlannedOutput::Source::Output:
          set_same(step.outputs[i], step.outputs[output.index]);
          break;
      }
    }
    launch.first_parameter = plan_.parameters.size();
    launch.first_address = plan_.parameter_offsets.size();
    plan_.parameters.insert(plan_.parameters.end(), plan.parameters.begin(), plan.parameters.end());
    for (const size_t offset : plan.parameter_offsets) {
      plan_.parameter_offsets.push_back(launch.first_parameter + offset);
    }
    plan_.steps.emplace_back(std::move(launch));
    return std::nullopt;
  }

  /// All other steps need no kernel.
  template <typename Other>
  std::optional<KernelRefusal> try_plan_step(const Other& step) {
    plan_step(step);
    return std::nullopt;
  }

  void plan_step(const Evaluate& step) {
    const std::vector<Argument> values = values_of(step.inputs);
    ExpressionEvaluator evaluator;
    const Fusion& fusion = *step.fusion();
    bind_fusion(fusion, values, evaluator);
    PlannedEvaluation evaluation{
        step.evaluated, step.inputs, {}, step.identity, step.random_numbers};
    std::unordered_map<const Val*, Slot> seen; // only looked up
    size_t next = 0;                           // among the slots that are set
    for (const Val* output : fusion.outputs()) {
      evaluation.outputs.push_back(kNoSlot);
      const AliasInfo* alias = fusion.alias_of(output);
      if (alias != nullptr && alias->is_hidden) {
        continue;
      }
      const Slot number = step.outputs[next++];
      const Val* same = alias != nullptr ? alias->input : output;
      const auto earlier = seen.emplace(output, number);
      if (same->is_fusion_input()) {
        set_same(number, step.inputs[position_of(fusion, same)]);
      } else if (!earlier.second) {
        set_same(number, earlier.first->second);
      } else {
        evaluation.outputs.back() = number;
        set_evaluated(number, static_cast<const TensorView*>(output), evaluator);
      }
    }
    plan_.steps.emplace_back(std::move(evaluation));
  }

  static size_t position_of(const Fusion& fusion, const Val* input) {
    const auto& inputs = fusion.inputs();
    return static_cast<size_t>(std::find(inputs.begin(), inputs.end(), input) - inputs.begin());
  }

  /// A tensor that an evaluation makes. Sizes that nothing needs need not be known.
  void set_evaluated(Slot number, const TensorView* tensor, ExpressionEvaluator& evaluator) {
    SlotPlan& plan = slot(number);
    if (plan.has_shape) {
      const NewTensor made = new_tensor(tensor, evaluator);
      set_owner(number, made.dtype, made.layout, SlotMemory::Evaluated);
    }
    plan.memory = SlotMemory::Evaluated;
    plan.owner = plan.same_as = number;
    plan.device = tensor->is_cpu_scalar() ? Device::cpu() : plan_.device;
  }

  std::optional<KernelRefusal> try_plan_step(const View& step) {
    const std::vector<Argument> values = values_of(step.inputs);
    ExpressionEvaluator evaluator;
    bind_fusion(*step.fusion, values, evaluator);
    std::unordered_map<const Val*, Slot> seen; // only looked up
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const auto* output = static_cast<const TensorView*>(step.fusion->outputs()[i]);
      const auto earlier = seen.emplace(output, step.outputs[i]);
      if (!earlier.second) {
        set_same(step.outputs[i], earlier.first->second);
        continue;
      }
      const auto found = find_view(*step.fusion, output, values, evaluator);
      if (const auto* refusal = std::get_if<Refusal>(&found)) {
        return KernelRefusal{*refusal, KernelRefusal::Cause::Launch};
      }
      const auto& view = std::get<ViewLayout>(found);
      if (output->is_fusion_input()) {
        set_same(step.outputs[i], step.inputs[view.base]);
      } else {
        set_view(step.outputs[i], step.inputs[view.base], view);
      }
    }
    return std::nullopt;
  }

  /// The slot sees memory of another one.
  void set_view(Slot number, Slot base_number, const ViewLayout& view) {
    const SlotPlan& base = slot(base_number);
    SlotPlan& plan = slot(number);
    set_shape(plan, base.dtype, view.sizes, view.strides);
    plan.device = base.device;
    plan.memory = base.memory;
    plan.owner = base.owner;
    plan.same_as = number;
    plan.byte_offset = base.byte_offset + view.offset * size_bytes(base.dtype);
  }

  void plan_step(const Allocate& step) {
    ExpressionEvaluator evaluator;
    bind_fusion(*step.fusion, values_of(step.inputs), evaluator);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const NewTensor made =
          new_tensor(static_cast<const TensorView*>(step.fusion->outputs()[i]), evaluator);
      set_owner(step.outputs[i], made.dtype, made.layout, SlotMemory::Workspace);
    }
  }

  void plan_step(const Copy& step) {
    const SlotPlan& from = slot(step.from);
    const SlotPlan& to = slot(step.to);
    if (from.dtype != to.dtype || from.sizes != to.sizes || from.device != to.device) {
      throw UserError({
          .headline = {"copy: the two tensors differ"},
          .node = {host::to_string(Step(step))},
          .expected = {text_of(to)},
          .found = {text_of(from)},
          .fix = {"copy between tensors of one type, shape and device"},
      });
    }
    PlannedCopy copy{step.from, step.to};
    const int64_t elements = storage_elements(from.sizes, from.strides);
    int64_t count = 1;
    for (const int64_t size : from.sizes) {
      count *= size;
    }
    if (from.strides == to.strides && elements == count && from.owner != to.owner) {
      copy.bytes = storage_bytes(from.dtype, elements);
    }
    plan_.steps.emplace_back(copy);
  }

  void plan_step(const Free& step) {
    plan_.steps.emplace_back(
        PlannedRelease{step.slot}); // the slot; find_releases makes it the owner
  }

  static std::string text_of(const SlotPlan& plan) {
    return TensorArg{
        .size_data = plan.sizes.data(),
        .stride_data = plan.strides.data(),
        .rank = static_cast<int32_t>(plan.sizes.size()),
        .dtype = plan.dtype,
        .device = plan.device}
        .str();
  }

  // -- places --

  /// A tensor that the caller gets, or sees through one it gets, is made by its framework.
  void choose_memory() {
    for (const Slot output : plan_.outputs) {
      SlotPlan& owner = slot(slot(output).owner);
      if (owner.memory == SlotMemory::Workspace) {
        owner.memory = SlotMemory::NewTensor;
      }
    }
    for (SlotPlan& plan : plan_.slots) {
      plan.memory = plan.owner == kNoSlot ? SlotMemory::None : slot(plan.owner).memory;
    }
  }

  /// An evaluated tensor goes when the last slot that sees it is freed.
  void find_releases() {
    std::vector<size_t> holders(plan_.slots.size(), 0);
    for (const SlotPlan& plan : plan_.slots) {
      if (plan.owner != kNoSlot) {
        ++holders[static_cast<size_t>(plan.owner)];
      }
    }
    for (PlannedStep& step : plan_.steps) {
      if (auto* release = std::get_if<PlannedRelease>(&step)) {
        const Slot owner = slot(release->owner).owner;
        const bool is_last = owner != kNoSlot && --holders[static_cast<size_t>(owner)] == 0;
        const bool is_evaluated = owner != kNoSlot && slot(owner).memory == SlotMemory::Evaluated;
        release->owner = is_last && is_evaluated ? owner : kNoSlot;
      }
    }
  }

  void place_workspace() {
    // Lives of slots in the workspace, by slot.
    std::vector<BufferLife> lives(plan_.slots.size());
    std::vector<bool> is_begun(plan_.slots.size(), false);
    const auto use = [&](Slot number, int64_t position) {
      const Slot owner = slot(number).owner;
      if (owner == kNoSlot || slot(owner).memory != SlotMemory::Workspace) {
        return;
      }
      BufferLife& life = lives[static_cast<size_t>(owner)];
      if (!is_begun[static_cast<size_t>(owner)]) {
        life = {slot(owner).bytes, position, position};
        is_begun[static_cast<size_t>(owner)] = true;
      }
      life.last = position;
    };
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (const auto& slots : {slots_read(steps_[i]), slots_set(steps_[i])}) {
        for (const Slot number : slots) {
          use(number, static_cast<int64_t>(i));
        }
      }
    }
    const WorkspaceLayout layout = place_buffers(lives);
    plan_.workspace_bytes = layout.bytes;
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      plan_.slots[i].workspace_offset = is_begun[i] ? layout.offsets[i] : 0;
    }
  }

  /// One launch of the arguments in their order, whose outputs and random tensors are those of the
  /// program.
  void find_single_launch() {
    if (steps_.size() != 1 || !std::holds_alternative<Launch>(steps_.front())) {
      return;
    }
    const auto& launch = std::get<PlannedLaunch>(plan_.steps.front());
    bool is_in_order = launch.inputs.size() == args_.size();
    for (size_t i = 0; i < launch.inputs.size() && is_in_order; ++i) {
      is_in_order = launch.inputs[i] == static_cast<Slot>(i);
    }
    const auto num_random = static_cast<int64_t>(launch.random_numbers.size());
    is_in_order = is_in_order && num_random == plan_.random_streams;
    for (int64_t i = 0; i < num_random && is_in_order; ++i) {
      is_in_order = launch.random_numbers[static_cast<size_t>(i)] == i;
    }
    if (is_in_order && plan_.outputs == std::get<Launch>(steps_.front()).outputs) {
      plan_.single_launch = &launch;
    }
  }

  ProgramPlan& plan_;
  std::span<const Step> steps_;
  std::span<const Argument> args_;
};

} // namespace

const char* to_string(SlotMemory memory) {
  switch (memory) {
    case SlotMemory::None: return "none";
    case SlotMemory::Argument: return "argument";
    case SlotMemory::Workspace: return "workspace";
    case SlotMemory::NewTensor: return "new tensor";
    case SlotMemory::Evaluated: return "evaluated";
  }
  return "?";
}

std::string ProgramPlan::to_string() const {
  std::string result = "plan on " + device.str() + ", workspace of " +
                       std::to_string(workspace_bytes) + " bytes, parameters of " +
                       std::to_string(parameters.size()) + " bytes {\n";
  for (size_t i = 0; i < slots.size(); ++i) {
    const SlotPlan& slot = slots[i];
    result += "  s" + std::to_string(i) + ": ";
    if (slot.memory == SlotMemory::None) {
      result += "number\n";
      continue;
    }
    result += slot.has_shape
                  ? TensorArg{
                        .size_data = slot.sizes.data(),
                        .stride_data = slot.strides.data(),
                        .rank = static_cast<int32_t>(slot.sizes.size()),
                        .dtype = slot.dtype,
                        .device = slot.device}
                        .str()
                  : std::string("any shape");
    result += std::string(", ") + host::to_string(slot.memory);
    if (slot.memory == SlotMemory::Workspace) {
      const SlotPlan& owner = slots[static_cast<size_t>(slot.owner)];
      result += " [" + std::to_string(owner.workspace_offset) + ", " +
                std::to_string(owner.workspace_offset + owner.bytes) + ")";
    }
    if (slot.owner != static_cast<Slot>(i)) {
      result += slot.same_as != static_cast<Slot>(i) ? ", the same as s" : ", a view of s";
      result += std::to_string(slot.same_as != static_cast<Slot>(i) ? slot.same_as : slot.owner);
      if (slot.byte_offset != 0) {
        result += " from byte " + std::to_string(slot.byte_offset);
      }
    }
    result += '\n';
  }
  return result + "}\n";
}

namespace {

ProgramPlan empty_plan(
    std::span<const Slot> outputs,
    size_t num_slots,
    int64_t random_streams,
    std::span<const Argument> args,
    std::optional<Device> device) {
  ProgramPlan plan;
  plan.random_streams = random_streams;
  plan.device = device_of(args, device);
  plan.slots.resize(num_slots);
  plan.outputs.assign(outputs.begin(), outputs.end());
  return plan;
}

/// Compile the kernels of several launches side by side. They keep the plans that they make, so
/// that launches, planned one after another, find them.
void compile_launches(
    ProgramPlan plan, std::span<const Step> steps, std::span<const Argument> args) {
  const std::vector<LaunchArguments> launches = ProgramPlanner(plan, steps, args).find_launches();
  make_side_by_side(launches.size(), [&](size_t i) {
    const LaunchArguments& launch = launches[i];
    CompileParams params;
    params.device = plan.device;
    static_cast<void>(launch.kernel->try_plan(launch.values, {}, params));
  });
}

} // namespace

std::variant<std::shared_ptr<const ProgramPlan>, StepRefusal> try_make_program_plan(
    std::span<const Step> steps,
    std::span<const Slot> outputs,
    size_t num_slots,
    int64_t random_streams,
    std::span<const Argument> args,
    std::optional<Device> device) {
  const auto is_launch = [](const Step& step) { return std::holds_alternative<Launch>(step); };
  if (std::ranges::count_if(steps, is_launch) > 1) {
    compile_launches(empty_plan(outputs, num_slots, random_streams, args, device), steps, args);
  }
  auto plan =
      std::make_shared<ProgramPlan>(empty_plan(outputs, num_slots, random_streams, args, device));
  if (std::optional<StepRefusal> refusal = ProgramPlanner(*plan, steps, args).run()) {
    return std::move(*refusal);
  }
  return plan;
}

} // namespace nvfuser::host
