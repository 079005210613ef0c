#include "host/program.h"

#include <algorithm>
#include <iostream>
#include <numeric>

#include "base/errors.h"
#include "base/options.h"
#include "ir/all_nodes.h"
#include "ir/random_streams.h"
#include "runtime/buffer_layout.h"
#include "runtime/kernel_executor.h"
#include "runtime/paired_tensor.h"
#include "transform/concretization.h"

namespace nvfuser::host {
namespace {

/// Plans kept by one program, as by one kernel.
constexpr size_t kMaxPlans = 4096;

/// Whether its effects are seen without its outputs.
bool updates_inputs(const std::shared_ptr<Fusion>& fusion) {
  return std::ranges::any_of(
      fusion->outputs(), [&](const Val* output) { return fusion->alias_of(output) != nullptr; });
}

std::string slot_text(Slot slot) {
  return "s" + std::to_string(slot);
}

/// "a number", "a Float tensor of rank 2"
std::string kind_of(const Val* val) {
  if (!val->is_tensor()) {
    return "a number";
  }
  const auto* tensor = static_cast<const TensorView*>(val);
  return std::string("a ") + text(framework_dtype(tensor->dtype())) + " tensor of rank " +
         std::to_string(logical_axes(tensor).size());
}

} // namespace

// ---- Checks -------------------------------------------------------------------------------------

void HostProgram::check_open() const {
  NVF_USER_CHECK(
      !is_closed_, "The program was planned or run, and cannot be changed any more: build another");
}

void HostProgram::check_slot(const std::string& what, Slot slot) const {
  if (slot < 0 || slot >= num_slots()) {
    throw UserError({
        .headline = {"There is no slot ", slot},
        .node = {what},
        .expected = {"a slot in [0, ", num_slots(), ")"},
        .found = {slot},
        .fix = {"pass what add_input or an earlier step returned"},
    });
  }
  const int64_t freed_by = slots_[static_cast<size_t>(slot)].freed_by;
  if (freed_by != kNotFreed) {
    throw UserError({
        .headline = {"Slot ", slot_text(slot), " was freed"},
        .node = {what},
        .expected = {"a slot that no earlier step frees"},
        .found = {slot_text(slot), ", freed by step ", freed_by},
        .fix = {"free it behind the last step that reads it; insert_frees() does"},
    });
  }
}

void HostProgram::check_tensor_slot(const std::string& what, Slot slot) const {
  check_slot(what, slot);
  const Val* val = slots_[static_cast<size_t>(slot)].val;
  if (val != nullptr && !val->is_tensor()) {
    throw UserError({
        .headline = {"Slot ", slot_text(slot), " holds a number"},
        .node = {what},
        .expected = {"a slot that holds a tensor"},
        .found = {kind_of(val)},
        .fix = {"numbers are inputs of steps, and nothing else"},
    });
  }
}

void HostProgram::check_inputs(
    const std::string& what, const Fusion& fusion, const std::vector<Slot>& inputs) {
  check(find_unresolved(fusion));
  if (inputs.size() != fusion.inputs().size()) {
    throw UserError({
        .headline = {"A step reads one slot for every input of its fusion"},
        .node = {what},
        .expected = {fusion.inputs().size(), " slots"},
        .found = {inputs.size(), " slots"},
        .fix = {"pass slots in the order of Fusion.inputs()"},
    });
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_slot(what, inputs[i]);
    const Val* known = slots_[static_cast<size_t>(inputs[i])].val;
    if (known != nullptr && kind_of(known) != kind_of(fusion.inputs()[i])) {
      throw UserError({
          .headline = {"Slot ", slot_text(inputs[i]), " does not fit input ", i, " of a step"},
          .node = {what, ", ", describe(fusion.inputs()[i])},
          .expected = {kind_of(fusion.inputs()[i])},
          .found = {kind_of(known), ": ", describe(known)},
          .fix = {"pass the slots in the order of Fusion.inputs()"},
      });
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) { // nothing was wrong: learn what arguments are
    const Val*& known = slots_[static_cast<size_t>(inputs[i])].val;
    known = known == nullptr ? fusion.inputs()[i] : known;
  }
  const std::vector<bool> in_sizes = find_shape_scalars(fusion);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (in_sizes[i] && inputs[i] < num_inputs_) {
      sizes_depend_on_[static_cast<size_t>(inputs[i])] = true;
    }
  }
}

// ---- Building -----------------------------------------------------------------------------------

std::vector<Slot> HostProgram::new_slots(const Fusion& fusion) {
  std::vector<Slot> result;
  for (const Val* output : visible_outputs(fusion)) {
    result.push_back(num_slots());
    slots_.push_back({.val = output});
  }
  return result;
}

Slot HostProgram::add_input() {
  check_open();
  NVF_USER_CHECK(
      steps_.empty(), "Arguments fill the first slots: add all inputs before the first step");
  slots_.emplace_back();
  sizes_depend_on_.push_back(false);
  return num_inputs_++;
}

void HostProgram::add_output(Slot slot) {
  check_open();
  check_tensor_slot("output " + std::to_string(outputs_.size()), slot);
  outputs_.push_back(slot);
}

std::vector<int64_t> HostProgram::next_random_numbers(const Fusion& fusion) {
  std::vector<int64_t> numbers(static_cast<size_t>(count_random_streams(fusion)));
  std::iota(numbers.begin(), numbers.end(), random_streams_);
  random_streams_ += static_cast<int64_t>(numbers.size());
  return numbers;
}

std::vector<Slot> HostProgram::launch(
    std::shared_ptr<KernelProgram> kernel,
    std::vector<Slot> inputs,
    std::optional<std::vector<int64_t>> random_numbers) {
  check_open();
  check(find_unsupported(*kernel->fusion()));
  check_inputs("launch " + kernel->identity().name(), *kernel->fusion(), inputs);
  std::vector<Slot> outputs = new_slots(*kernel->fusion());
  fusions_.push_back(kernel->fusion());
  std::vector<int64_t> numbers =
      random_numbers ? std::move(*random_numbers) : next_random_numbers(*kernel->fusion());
  steps_.emplace_back(Launch{std::move(kernel), std::move(inputs), outputs, std::move(numbers)});
  return outputs;
}

std::vector<Slot> HostProgram::launch(
    const Fusion& fusion,
    std::vector<Slot> inputs,
    const LaunchParams& constraints,
    const CompileParams& params,
    SchedulerType scheduler) {
  check_open();
  check(find_unsupported(fusion));
  const KernelIdentity identity{
      .scheduler = scheduler,
      .fusion_id = fusion_id_,
      .group_id = static_cast<int64_t>(steps_.size())};
  return launch(
      std::make_shared<KernelProgram>(
          std::make_shared<ScheduledFusion>(fusion), identity, constraints, params),
      std::move(inputs));
}

std::vector<Slot> HostProgram::evaluate(
    const Fusion& fusion,
    std::vector<Slot> inputs,
    std::optional<KernelIdentity> identity,
    std::optional<std::vector<int64_t>> random_numbers) {
  check_open();
  const std::shared_ptr<Fusion> own = fusion.clone();
  check_inputs("evaluate", *own, inputs);
  std::vector<Slot> outputs = new_slots(*own);
  fusions_.push_back(own);
  const KernelIdentity own_identity{
      .scheduler = SchedulerType::expr_eval,
      .fusion_id = fusion_id_,
      .group_id = static_cast<int64_t>(steps_.size())};
  std::vector<int64_t> numbers =
      random_numbers ? std::move(*random_numbers) : next_random_numbers(*own);
  steps_.emplace_back(
      Evaluate{
          {own}, std::move(inputs), outputs, identity.value_or(own_identity), std::move(numbers)});
  return outputs;
}

std::vector<Slot> HostProgram::view(const Fusion& fusion, std::vector<Slot> inputs) {
  check_open();
  const std::shared_ptr<Fusion> own = fusion.clone();
  for (const Val* output : own->outputs()) {
    NVF_USER_CHECK(
        output->is_tensor() && own->alias_of(output) == nullptr,
        "view: every output is a tensor in the memory of an input, not ", describe(output));
  }
  check_inputs("view", *own, inputs);
  fusions_.push_back(own);
  std::vector<Slot> outputs = new_slots(*own);
  steps_.emplace_back(View{own, std::move(inputs), outputs});
  return outputs;
}

std::vector<Slot> HostProgram::allocate(const Fusion& fusion, std::vector<Slot> inputs) {
  check_open();
  const std::shared_ptr<Fusion> own = fusion.clone();
  check_inputs("allocate", *own, inputs);
  std::vector<const Val*> seen;
  for (const Val* output : own->outputs()) {
    const bool is_new = own->alias_of(output) == nullptr && !output->is_fusion_input() &&
                        std::find(seen.begin(), seen.end(), output) == seen.end();
    NVF_USER_CHECK(is_new, "allocate: every output is a new tensor, not ", describe(output));
    seen.push_back(output);
  }
  fusions_.push_back(own);
  std::vector<Slot> outputs = new_slots(*own);
  steps_.emplace_back(Allocate{own, std::move(inputs), outputs});
  return outputs;
}

void HostProgram::copy(Slot from, Slot to) {
  check_open();
  check_tensor_slot("copy", from);
  check_tensor_slot("copy", to);
  NVF_USER_CHECK(from != to, "copy: slot ", slot_text(from), " would be copied to itself");
  const Val* source = slots_[static_cast<size_t>(from)].val;
  const Val* target = slots_[static_cast<size_t>(to)].val;
  if (source != nullptr && target != nullptr && kind_of(source) != kind_of(target)) {
    throw UserError({
        .headline = {"copy: the two tensors differ in type or rank"},
        .node = {"copy ", slot_text(from), " to ", slot_text(to)},
        .expected = {kind_of(target)},
        .found = {kind_of(source)},
        .fix = {"launch or evaluate a fusion that casts or reshapes"},
    });
  }
  steps_.emplace_back(Copy{from, to});
}

void HostProgram::free(Slot slot) {
  check_open();
  check_slot("free", slot);
  NVF_USER_CHECK(
      slot >= num_inputs_, "free: slot ", slot_text(slot),
      " is an argument, which is the caller's");
  NVF_USER_CHECK(
      std::find(outputs_.begin(), outputs_.end(), slot) == outputs_.end(), "free: slot ",
      slot_text(slot), " is an output");
  slots_[static_cast<size_t>(slot)].freed_by = static_cast<int64_t>(steps_.size());
  steps_.emplace_back(Free{slot});
}

void HostProgram::insert_frees() {
  check_open();
  std::vector<size_t> last_use(slots_.size(), 0); // position of the step
  std::vector<bool> stays(slots_.size(), false);
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    stays[slot] = slot < static_cast<size_t>(num_inputs_) || slots_[slot].freed_by != kNotFreed;
  }
  for (const Slot slot : outputs_) {
    stays[static_cast<size_t>(slot)] = true;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const auto& slots : {slots_read(steps_[i]), slots_set(steps_[i])}) {
      for (const Slot slot : slots) {
        last_use[static_cast<size_t>(slot)] = i;
      }
    }
  }
  std::vector<Step> result;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (const auto* free = std::get_if<Free>(&steps_[i])) {
      slots_[static_cast<size_t>(free->slot)].freed_by = static_cast<int64_t>(result.size());
    }
    result.push_back(steps_[i]);
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      if (!stays[slot] && last_use[slot] == i) {
        slots_[slot].freed_by = static_cast<int64_t>(result.size());
        result.emplace_back(Free{static_cast<Slot>(slot)});
      }
    }
  }
  steps_ = std::move(result);
}

// ---- Running ------------------------------------------------------------------------------------

std::variant<std::shared_ptr<const ProgramPlan>, StepRefusal> HostProgram::try_plan(
    std::span<const Argument> args, std::optional<Device> device) {
  static thread_local Signature words; // kept for its capacity
  words.clear();
  const Device place = device.value_or(Device{DeviceKind::Other, 0});
  words.push_back((static_cast<int64_t>(place.kind) << 32) | place.index);
  add_arguments(args, sizes_depend_on_, words);
  if (std::shared_ptr<const ProgramPlan> plan = plans_.find(words)) {
    return plan;
  }
  // A copy: what compiles may warn, and a handler of warnings may run something in this thread.
  return try_make_plan(args, device, Signature(words));
}

std::shared_ptr<const ProgramPlan> HostProgram::plan(
    std::span<const Argument> args, std::optional<Device> device) {
  auto plan = try_plan(args, device);
  if (const auto* refusal = std::get_if<StepRefusal>(&plan)) {
    throw_refusal(refusal->refusal);
  }
  return std::get<std::shared_ptr<const ProgramPlan>>(std::move(plan));
}

std::variant<std::shared_ptr<const ProgramPlan>, StepRefusal> HostProgram::try_make_plan(
    std::span<const Argument> args, std::optional<Device> device, const Signature& words) {
  const std::lock_guard lock(plan_mutex_);
  if (std::shared_ptr<const ProgramPlan> plan = plans_.find(words)) {
    return plan; // another thread made it meanwhile
  }
  NVF_USER_CHECK(
      args.size() == static_cast<size_t>(num_inputs_), "The program takes ", num_inputs_,
      " arguments, but got ", args.size());
  NVF_USER_CHECK(
      !outputs_.empty() || std::ranges::any_of(fusions_, updates_inputs),
      "The program has no outputs: nothing would see what it does");
  is_closed_ = true;
  auto made = try_make_program_plan(steps_, outputs_, slots_.size(), random_streams_, args, device);
  if (auto* refusal = std::get_if<StepRefusal>(&made)) {
    return std::move(*refusal);
  }
  auto plan = std::get<std::shared_ptr<const ProgramPlan>>(std::move(made));
  if (has_option(DumpOption::HostIr)) {
    std::cout << to_string() << plan->to_string() << std::flush;
  }
  if (plans_.size() >= kMaxPlans) {
    plans_.clear();
  }
  return plans_.insert(words, std::move(plan));
}

std::vector<RunOutput> HostProgram::run(
    std::span<const Argument> args, const Caller& caller, std::optional<Device> device) {
  caller.allocator.unlock();
  return run_plan(*plan(args, device), args, caller, fusion_id_);
}

// ---- Looking at it ------------------------------------------------------------------------------

std::string HostProgram::to_string() const {
  const auto list = [](int64_t count, const auto& slot_at) {
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ", ") + slot_text(slot_at(i));
    }
    return text;
  };
  std::string result = "program(" + list(num_inputs_, [](int64_t i) { return i; }) + ") {\n";
  for (const Step& step : steps_) {
    result += "  " + host::to_string(step) + "\n";
  }
  const auto num_outputs = static_cast<int64_t>(outputs_.size());
  return result + "  return " +
         list(num_outputs, [&](int64_t i) { return outputs_[static_cast<size_t>(i)]; }) + "\n}\n";
}

} // namespace nvfuser::host
