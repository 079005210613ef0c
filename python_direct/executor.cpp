// KernelExecutor: compile and run one scheduled fusion.
#include "runtime/kernel_executor.h"

#include "bindings.h"
#include "dlpack_exchange.h"
#include "gil.h"

namespace nvfuser::python {
namespace {

void compile(
    KernelExecutor& self,
    const Fusion& fusion,
    const nb::object& args,
    const std::optional<LaunchParams>& launch_constraints,
    const CompileParams& compile_params,
    SchedulerType scheduler_type) {
  const PythonArguments arguments(args);
  const std::shared_ptr<Fusion> copy = fusion.clone(); // it stays as it is while it compiles
  const GilRelease no_gil;
  self.compile(
      *copy, arguments.args(), launch_constraints.value_or(LaunchParams()), compile_params,
      scheduler_type);
}

nb::list run(
    KernelExecutor& self,
    const nb::object& args,
    const std::optional<LaunchParams>& launch_constraints,
    const CompileParams& compile_params) {
  const PythonArguments arguments(args);
  PythonAllocator allocator(arguments.framework());
  std::vector<RunOutput> outputs = self.run(
      arguments.args(), allocator, launch_constraints.value_or(LaunchParams()), compile_params);
  return to_python(std::move(outputs), arguments, allocator);
}

/// The check that functions written in Python have for their flags: the one of bound functions.
bool flag(nb::handle value) {
  const auto number = read_number(value);
  const auto result = number && is_flag_or_integer(*number) ? flag_of(*number) : std::nullopt;
  if (!result) {
    throw_no_flag(value);
  }
  return *result;
}

std::shared_ptr<const CompiledKernel> compiled_kernel(const KernelExecutor& self) {
  const auto program = self.program();
  auto kernel = program == nullptr ? nullptr : program->last_compiled();
  NVF_USER_CHECK(kernel != nullptr, "Fusion is not compiled!");
  return kernel;
}

void bind_inspection(nb::class_<KernelExecutor>& cls) {
  cls.def("is_compiled", &KernelExecutor::is_compiled, "Whether `compile` succeeded.")
      .def(
          "is_programmatic_dependent_launch_enabled",
          &KernelExecutor::is_programmatic_dependent_launch_enabled,
          "Whether the kernel may start before its predecessor ends. False before it is compiled.")
      .def(
          "kernel", [](const KernelExecutor& self) { return compiled_kernel(self)->kernel(); },
          "The lowered fusion that was compiled last.")
      .def(
          "kernel_source",
          [](const KernelExecutor& self) { return compiled_kernel(self)->source(); },
          "The complete source that was compiled last, with the support code it uses.")
      .def(
          "kernel_name", [](const KernelExecutor& self) { return compiled_kernel(self)->name; },
          "Name of the kernel function.")
      .def(
          "last_launch",
          [](const KernelExecutor& self) {
            (void)compiled_kernel(self);
            return self.program()->last_launch();
          },
          "The launch parameters of the last run.")
      .def(
          "num_compiled",
          [](const KernelExecutor& self) {
            const auto program = self.program();
            return program == nullptr ? 0 : program->num_compiled();
          },
          "How many kernels were compiled: one per target, architecture and index type.")
      .def(
          "num_plans",
          [](const KernelExecutor& self) {
            const auto program = self.program();
            return program == nullptr ? 0 : program->num_plans();
          },
          "How many signatures of arguments have a launch plan.");
}

/// Functions that the package calls with inputs and flags before and after a run.
void bind_arguments(nb::module_ internal) {
  internal.def(
      "input_list",
      [](const nb::object& inputs) {
        check_is_list_of_inputs(inputs);
        return nb::list(inputs);
      },
      "inputs"_a,
      nb::sig("def input_list(inputs: collections.abc.Iterable[object]) -> list[typing.Any]"),
      "The inputs of a run as a list; an error for a tensor, which is no list of inputs.");
  internal.def(
      "flag", &flag, "value"_a.none(),
      "A flag as a bool: True, False, 1, 0, or one of NumPy; an error for anything else.");
}

} // namespace

void bind_executor(nb::module_& m) {
  nb::class_<KernelExecutor> cls(
      m, "KernelExecutor", "Compiles and runs one scheduled fusion as one kernel.");
  cls.def(
         nb::init<int64_t, int64_t, int64_t, int64_t>(), "fusion_id"_a = 0, "concrete_id"_a = 0,
         "runtime_id"_a = 0, "group_id"_a = 0, "The numbers are part of the kernel's name.")
      .def(
          "compile", &compile, "fusion"_a, "args"_a = nb::list(),
          "launch_constraints"_a = nb::none(), "compile_params"_a = CompileParams(),
          "scheduler_type"_a = SchedulerType::none,
          R"(Lower and compile a copy of a scheduled fusion.

Parameters
----------
fusion : Fusion
    The scheduled fusion.
args : iterable
    Inputs; they decide the target and the index type. May be empty.
launch_constraints : LaunchParams, optional
    Sizes that the launch must have.
compile_params : CompileParams
    How to compile.
scheduler_type : SchedulerType
    Part of the kernel's name.

Raises
------
UserError
    If the fusion has no outputs, its schedule cannot be lowered, or inputs do not fit.
)")
      .def(
          "run", &run, "args"_a, "launch_constraints"_a = nb::none(),
          "compile_params"_a = CompileParams(),
          nb::sig(
              "def run(self, args: collections.abc.Iterable[object], "
              "launch_constraints: LaunchParams | None = None, "
              "compile_params: CompileParams = ...) -> list[torch.Tensor]"),
          R"(Launch on the caller's current stream; outputs are allocated.

Parameters
----------
args : iterable
    Tensors and numbers in the order of ``Fusion.inputs()``. One level of lists and tuples is
    opened.
launch_constraints : LaunchParams, optional
    Sizes that the launch must have, on top of those of `compile`.
compile_params : CompileParams
    How to compile where these arguments need another kernel.

Returns
-------
list[torch.Tensor]
    The visible outputs.

Raises
------
UserError
    If nothing was compiled, or inputs do not fit.
)");
  bind_inspection(cls);
  bind_arguments(internal_module(m));
}

} // namespace nvfuser::python
