// The submodule `host`: programs of several steps.
#include "bindings.h"
#include "device_arg.h"
#include "evaluator.h"
#include "gil.h"
#include "host/host_scalars.h"
#include "host/program.h"

namespace nvfuser::python {
namespace {

using host::HostProgram;
using host::ProgramPlan;
using host::Slot;
using host::SlotPlan;

nb::list run(HostProgram& self, const nb::object& args, const nb::object& device) {
  const PythonArguments arguments(args);
  PythonAllocator allocator(arguments.framework());
  PythonEvaluator evaluator(arguments, allocator);
  const std::optional<Device> place = device_from_python(device);
  std::vector<RunOutput> outputs = self.run(arguments.args(), {allocator, evaluator}, place);
  return to_python(std::move(outputs), arguments, allocator);
}

/// A fusion for Python to look at; a run uses another one.
template <typename Step>
std::shared_ptr<Fusion> copy_of_fusion(const Step& step) {
  if constexpr (requires { step.fusion(); }) {
    return step.fusion()->clone();
  } else {
    return step.fusion->clone();
  }
}

template <typename Step>
nb::class_<Step> bind_step(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Step>(m, name, doc).def("__str__", [](const Step& self) {
    return host::to_string(host::Step(self));
  });
}

void bind_steps(nb::module_& m) {
  constexpr const char* kFusion = "A copy of what the step computes.";
  constexpr const char* kInputs = "The slots it reads.";
  constexpr const char* kOutputs = "The slots it sets.";
  bind_step<host::Launch>(m, "Launch", "Run a scheduled fusion as one kernel.")
      .def_prop_ro("fusion", &copy_of_fusion<host::Launch>, kFusion)
      .def_prop_ro(
          "name", [](const host::Launch& self) { return self.kernel->identity().name(); },
          "Name of the kernel.")
      .def_ro("inputs", &host::Launch::inputs, kInputs)
      .def_ro("outputs", &host::Launch::outputs, kOutputs);
  bind_step<host::Evaluate>(m, "Evaluate", "Evaluate a fusion through PyTorch.")
      .def_prop_ro("fusion", &copy_of_fusion<host::Evaluate>, kFusion)
      .def_ro("inputs", &host::Evaluate::inputs, kInputs)
      .def_ro("outputs", &host::Evaluate::outputs, kOutputs);
  bind_step<host::View>(
      m, "View", "See the memory of inputs as a fusion says that only moves elements.")
      .def_prop_ro("fusion", &copy_of_fusion<host::View>, kFusion)
      .def_ro("inputs", &host::View::inputs, kInputs)
      .def_ro("outputs", &host::View::outputs, kOutputs);
  bind_step<host::Allocate>(
      m, "Allocate", "Make tensors like the outputs of a fusion, without computing anything.")
      .def_prop_ro("fusion", &copy_of_fusion<host::Allocate>, kFusion)
      .def_ro("inputs", &host::Allocate::inputs, kInputs)
      .def_ro("outputs", &host::Allocate::outputs, kOutputs);
  nb::class_<host::Copy> copy = bind_step<host::Copy>(
      m, "Copy", "Copy the elements of one tensor into another of the same type and shape.");
  copy.def_ro("source", &host::Copy::from, "The slot that is read.")
      .def_ro("target", &host::Copy::to, "The slot whose elements are overwritten.");
  bind_step<host::Free>(m, "Free", "No later step reads a slot.")
      .def_ro("slot", &host::Free::slot, "The slot.");
}

void bind_plan(nb::module_& m) {
  nb::class_<SlotPlan>(m, "SlotPlan", "A slot in runs with arguments of one signature.")
      .def_prop_ro(
          "memory", [](const SlotPlan& self) { return host::to_string(self.memory); },
          "``none`` (a number), ``argument``, ``workspace``, ``new tensor`` or ``evaluated``.")
      .def_ro("owner", &SlotPlan::owner, "The slot whose memory this one sees.")
      .def_ro("same_as", &SlotPlan::same_as, "The slot that holds the very same tensor.")
      .def_ro("byte_offset", &SlotPlan::byte_offset, "Where it begins in the owner's memory.")
      .def_ro("bytes", &SlotPlan::bytes, "Size of the memory; 0 unless it is its own.")
      .def_ro(
          "workspace_offset", &SlotPlan::workspace_offset,
          "Where it begins in the workspace (bytes), if it lies there.")
      .def_ro("dtype", &SlotPlan::dtype, "Element type.")
      .def_ro("sizes", &SlotPlan::sizes, "Sizes.")
      .def_ro("strides", &SlotPlan::strides, "Strides, in elements.");
  nb::class_<ProgramPlan>(
      m, "ProgramPlan", "Runs of a program with arguments of one signature: what lies where.")
      .def_prop_ro(
          "device", [](const ProgramPlan& self) { return self.device.str(); },
          "``cpu`` or ``cuda:<index>``.")
      .def_ro("slots", &ProgramPlan::slots, "By number.")
      .def_ro(
          "workspace_bytes", &ProgramPlan::workspace_bytes,
          "Size of the one piece of memory for all tensors that live only between steps.")
      .def("__str__", &ProgramPlan::to_string);
}

void bind_building(nb::class_<HostProgram>& cls) {
  cls.def(
         "add_input", &HostProgram::add_input,
         "The slot of the next argument. All inputs come before the first step.")
      .def(
          "add_output", &HostProgram::add_output, "slot"_a,
          R"(Let the caller get a slot as the next output.

Parameters
----------
slot : int
    A tensor; the same one may be several outputs.
)")
      .def(
          "launch",
          [](HostProgram& self, const Fusion& fusion, std::vector<Slot> inputs,
             const std::optional<LaunchParams>& launch_constraints,
             const CompileParams& compile_params, SchedulerType scheduler_type) {
            return self.launch(
                fusion, std::move(inputs), launch_constraints.value_or(LaunchParams()),
                compile_params, scheduler_type);
          },
          "fusion"_a, "inputs"_a, "launch_constraints"_a = nb::none(),
          "compile_params"_a = CompileParams(), "scheduler_type"_a = SchedulerType::none,
          R"(Run a scheduled fusion as one kernel.

Parameters
----------
fusion : Fusion
    The scheduled fusion, which is copied.
inputs : list[int]
    A slot for each of its inputs.
launch_constraints : LaunchParams, optional
    Sizes that the launch must have.
compile_params : CompileParams
    How to compile.
scheduler_type : SchedulerType
    Part of the kernel's name.

Returns
-------
list[int]
    A slot for each of its visible outputs.

Raises
------
UserError
    For slots that are not there, were freed or hold something else, and for a fusion that is no
    kernel.
)")
      .def(
          "evaluate",
          [](HostProgram& self, const Fusion& fusion, std::vector<Slot> inputs) {
            return self.evaluate(fusion, std::move(inputs));
          },
          "fusion"_a, "inputs"_a,
          R"(Evaluate a fusion through PyTorch.

Parameters
----------
fusion : Fusion
    What to evaluate; it is copied.
inputs : list[int]
    A slot for each of its inputs.

Returns
-------
list[int]
    A slot for each of its visible outputs.
)")
      .def(
          "view", &HostProgram::view, "fusion"_a, "inputs"_a,
          R"(See the memory of tensors with other sizes and strides.

Parameters
----------
fusion : Fusion
    Its outputs are made of inputs by expressions that only move elements: set, permute, slice,
    broadcast, squeeze, expand, and reshapes that the strides of a run allow. It is copied.
inputs : list[int]
    A slot for each of its inputs.

Returns
-------
list[int]
    A slot for each of its outputs.
)")
      .def(
          "allocate", &HostProgram::allocate, "fusion"_a, "inputs"_a,
          R"(Make tensors like the outputs of a fusion, without computing anything.

Parameters
----------
fusion : Fusion
    Its outputs have the types, sizes and strides of the tensors. It is copied.
inputs : list[int]
    A slot for each of its inputs, from which sizes follow.

Returns
-------
list[int]
    A slot for each of its outputs.
)")
      .def(
          "copy", &HostProgram::copy, "source"_a, "target"_a,
          R"(Copy the elements of one tensor into another.

Parameters
----------
source, target : int
    Slots with tensors of one type and shape; strides may differ.
)")
      .def(
          "free", &HostProgram::free, "slot"_a,
          R"(Say that no later step reads a slot, so that others can have its memory.

Parameters
----------
slot : int
    A tensor that a step made, and that is no output.
)")
      .def(
          "insert_frees", &HostProgram::insert_frees,
          "Free every slot behind the last step that reads it.");
}

void bind_program(nb::module_& m) {
  nb::class_<HostProgram> cls(
      m, "HostProgram",
      "The program of a call: its arguments fill the first slots, its steps run in order, and the\n"
      "caller gets some of the slots. It can be changed until it is planned or run.");
  cls.def(
      nb::init<int64_t>(), "fusion_id"_a = 0,
      R"(A program without inputs, steps and outputs.

Parameters
----------
fusion_id : int
    Part of the names of kernels.
)");
  bind_building(cls);
  cls.def(
         "run", &run, "args"_a, "device"_a = nb::none(),
         nb::sig(
             "def run(self, args: collections.abc.Iterable[object], "
             "device: torch.device | str | int | None = None) -> list[torch.Tensor]"),
         R"(Run on the caller's current stream; kernels are compiled where they are new.

Parameters
----------
args : iterable
    Tensors and numbers, one for each input. One level of lists and tuples is opened.
device : torch.device, optional
    Where a program without tensor inputs runs.

Returns
-------
list[torch.Tensor]
    The outputs.

Raises
------
UserError
    If arguments do not fit the steps.
)")
      .def(
          "plan",
          [](HostProgram& self, const nb::object& args, const nb::object& device) {
            const PythonArguments arguments(args);
            const std::optional<Device> place = device_from_python(device);
            const GilRelease no_gil;
            return std::const_pointer_cast<ProgramPlan>(self.plan(arguments.args(), place));
          },
          "args"_a, "device"_a = nb::none(),
          nb::sig(
              "def plan(self, args: collections.abc.Iterable[object], "
              "device: torch.device | str | int | None = None) -> ProgramPlan"),
          R"(The places of all slots in runs with arguments like these; nothing runs.

Parameters
----------
args : iterable
    As for `run`.
device : torch.device, optional
    As for `run`.
)")
      .def_prop_ro("steps", &HostProgram::steps, nb::rv_policy::copy, "In the order of a run.")
      .def_prop_ro("outputs", &HostProgram::outputs, "The slots that the caller gets.")
      .def_prop_ro("num_inputs", &HostProgram::num_inputs, "How many arguments it takes.")
      .def_prop_ro("num_slots", &HostProgram::num_slots, "Inputs, and what steps set.")
      .def_prop_ro(
          "num_plans", &HostProgram::num_plans, "How many signatures of arguments have a plan.")
      .def_prop_ro("fusion_id", &HostProgram::fusion_id, "Part of the names of kernels.")
      .def("__str__", &HostProgram::to_string);
}

void bind_host_scalars(nb::module_ internal) {
  internal.def(
      "split_host_scalars",
      [](const std::shared_ptr<Fusion>& fusion) {
        const host::HostScalars parts = host::split_host_scalars(fusion, /*is_cuda=*/true);
        return nb::make_tuple(parts.scalars, parts.others, parts.inputs, parts.is_scalar);
      },
      "fusion"_a,
      nb::sig(
          "def split_host_scalars(fusion: nvfuser_direct._core.Fusion, /) -> "
          "tuple[nvfuser_direct._core.Fusion | None, nvfuser_direct._core.Fusion, list[int], "
          "list[bool]]"),
      R"(The two parts of a run on a GPU: scalars that the host computes, and all else.

Parameters
----------
fusion : Fusion
    A definition.

Returns
-------
tuple
    The scalars of the host as a fusion, None if there are none; the others; for each input of the
    first its position in `fusion`; for each output of `fusion` whether it is such a scalar.
)");
}

} // namespace

void bind_host(nb::module_& m) {
  nb::module_ host = m.def_submodule("host", "Programs: several kernels, and what runs between.");
  bind_steps(host);
  bind_plan(host);
  bind_program(host);
  bind_host_scalars(internal_module(m));
}

} // namespace nvfuser::python
