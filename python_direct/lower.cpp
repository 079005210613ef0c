// Lowering: Fusion.lower, Kernel, and the passes between them.
#include <nanobind/stl/map.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/compile_params.h"
#include "bindings.h"
#include "codegen/codegen.h"
#include "codegen/names.h"
#include "dlpack_exchange.h"
#include "lower/analysis/bank_conflicts.h"
#include "lower/dump.h"
#include "lower/kernel.h"
#include "lower/kernel_text.h"
#include "lower/pipeline.h"
#include "lower/verify.h"
#include "record_caster.h"
#include "runtime/arguments.h"
#include "runtime/paired_tensor.h"
#include "target_names.h"

template <>
struct nanobind::detail::type_caster<nvfuser::BankConflict>
    : nvfuser::python::RecordCaster<nvfuser::BankConflict, &nvfuser::BankConflict::statement> {};

namespace nvfuser::python {
namespace {

void bind_pass_record(nb::module_& m) {
  nb::class_<PassRecord>(m, "PassRecord", "A pass that ran.")
      .def_ro("name", &PassRecord::name, "Name of the pass.")
      .def_ro(
          "text", &PassRecord::text,
          "The kernel or the math after the pass, \"(unchanged)\" if it printed like that before; "
          "empty unless "
          "recorded.")
      .def_ro("milliseconds", &PassRecord::milliseconds, "How long the pass took.");
}

void bind_kernel(nb::module_& m) {
  nb::class_<Kernel, Fusion>(m, "Kernel", "A lowered fusion: kernel IR made from a copy of it.")
      .def_ro("body", &Kernel::body, "The statements.")
      .def_ro("passes", &Kernel::passes, "The passes that made it, in order.")
      .def(
          "target", [](const Kernel& self) { return self.target().name(); }, "cuda or cpu.")
      .def("index_type", &Kernel::index_type, "Width of index arithmetic: Int or Int32.")
      .def("print_kernel_ir", &Kernel::print_kernel_ir, "The kernel IR as text.")
      .def(
          "print_source",
          [](const Kernel& self, const std::string& name, bool comments) {
            self.check_complete();
            return generate_kernel_text(self, name, comments ? Comments::Fusion : Comments::None);
          },
          "kernel_name"_a = "", "comments"_a = true,
          R"(The generated source of the kernel alone.

Parameters
----------
kernel_name : str
    Name of the function; a default for the target if empty.
comments : bool
    Name the Python line of each statement, the axis of each loop, and tensors that the fusion
    numbers otherwise.
)")
      .def(
          "launch_extents",
          [](const Kernel& self) {
            std::vector<Val*> extents;
            for (const ParallelType type : kHardwareTypes) {
              extents.push_back(self.launch.extents[type]);
            }
            return extents;
          },
          "Sizes of grid_x, grid_y, grid_z, block_x, block_y, block_z; None where unused.")
      .def(
          "is_cooperative", [](const Kernel& self) { return self.launch.is_cooperative; },
          "Whether all blocks must be resident at once.")
      .def(
          "waits_for_prior_grid",
          [](const Kernel& self) { return self.launch.waits_for_prior_grid; },
          "Whether the kernel may begin while the grid before it in the stream runs.")
      .def(
          "shared_bytes", [](const Kernel& self) { return self.launch.shared_bytes; },
          "Dynamic shared memory of a block (bytes); None if there is none.")
      .def(
          "index_bounds",
          [](const Kernel& self) {
            return std::pair(self.launch.code.smallest_index, self.launch.code.largest_index);
          },
          R"(The bounds of every index of the kernel, by sizes, strides and scalars of the inputs.

Returns
-------
tuple[Val | None, Val | None]
    The smallest and the largest one; None before the pass `bound_indices`.
)")
      .def(
          "has_empty_axis", [](const Kernel& self) { return self.launch.code.has_empty_axis; },
          "Whether an axis bound to a hardware index has no element; None before `bound_indices`.")
      .def(
          "buffers",
          [](const Kernel& self) {
            std::vector<std::tuple<TensorView*, bool, bool>> buffers;
            for (const GlobalBuffer& buffer : self.launch.buffers) {
              buffers.emplace_back(buffer.tensor, buffer.zero_init, buffer.is_output);
            }
            return buffers;
          },
          R"(Memory the host allocates for a run, in the order of the kernel's parameters.

Returns
-------
list[tuple[TensorView, bool, bool]]
    The tensor, whether it is filled with zeros, whether it is an output.
)")
      .def(
          "run_pass", [](Kernel& self, const std::string& name) { run_pass(self, name); }, "name"_a,
          R"(Run one pass of lowering on a kernel that was lowered up to an earlier one.

Passes in between may be left out once the kernel has statements. Mistakes of the compiler are looked
for before and after the pass.

Parameters
----------
name : str
    Name of the pass.

Raises
------
ValueError
    If there is no such pass, or if it is not one of those that may come next.
UserError
    If the pass refuses the schedule.
)")
      .def("__str__", &kernel_state)
      .def("__repr__", &kernel_state);
}

/// `sizes` by their names in the kernel's text: "i0", "blockDim.x".
void bind_sizes(
    const Kernel& kernel,
    const std::map<std::string, int64_t>& sizes,
    ExpressionEvaluator& evaluator) {
  const KernelNames names(kernel);
  for (const auto& [name, value] : sizes) {
    const auto source = std::find_if(
        kernel.launch.sizes.begin(), kernel.launch.sizes.end(),
        [&, &name = name](const SizeSource& size) { return names.of(size.extent) == name; });
    if (source != kernel.launch.sizes.end()) {
      evaluator.bind(source->extent, value);
    } else {
      evaluator.bind(name, value);
    }
  }
}

std::vector<BankConflict> bank_conflicts(
    const Kernel& self, const nb::object& inputs, const std::map<std::string, int64_t>& sizes) {
  self.check_complete();
  ExpressionEvaluator evaluator;
  const PythonArguments arguments(inputs);
  if (!arguments.args().empty()) {
    (void)check_arguments(self, arguments.args());
    const UnpairedArguments unpaired(self, arguments.args());
    (void)bind_arguments(self, unpaired.args(), {}, evaluator);
  }
  bind_sizes(self, sizes, evaluator);
  return find_bank_conflicts(self, evaluator);
}

void bind_bank_conflicts(nb::module_& m) {
  nb::class_<BankConflict>(
      m, "BankConflict", "An access to shared memory by the first warp of a block.")
      .def_ro("statement", &BankConflict::statement, "The statement of the kernel.")
      .def_ro("tensor", &BankConflict::tensor, "The tensor that is accessed.")
      .def_ro("is_write", &BankConflict::is_write, "Written or read.")
      .def_ro("bytes", &BankConflict::bytes, "Bytes that a thread accesses at once.")
      .def_ro(
          "ways", &BankConflict::ways,
          "How often the hardware repeats the access, at worst; 1: no conflict.")
      .def("__str__", &BankConflict::to_string)
      .def("__repr__", &BankConflict::to_string);
  nb::borrow<nb::class_<Kernel>>(m.attr("Kernel"))
      .def(
          "bank_conflicts", &bank_conflicts, "inputs"_a = nb::tuple(),
          "sizes"_a = std::map<std::string, int64_t>(),
          R"(Find out how the first warp of a block meets in the banks of shared memory.

Shared memory has 32 banks of 4-byte words. A warp's access is repeated until every thread was served;
a bank serves one word at a time. Accesses of 8 (16) bytes a thread are served for 16 (8) threads at
a time.

Parameters
----------
inputs : sequence of tensor or scalar
    As for a run; sizes are all that is used. May be left out if every size is constant or in `sizes`.
sizes : dict[str, int]
    Sizes by their names in the kernel's text: ``"i0"``, ``"blockDim.x"``.

Returns
-------
list[BankConflict]
    One for every access that some thread makes, in the order of the kernel; the worst over the
    iterations of the loops around it.

Raises
------
UserError
    If an index depends on a size that is not known.
)");
}

void bind_fusion_methods(nb::module_& m) {
  auto fusion = nb::borrow<nb::class_<Fusion>>(m.attr("Fusion"));
  fusion.def(
      "lower",
      [](const Fusion& self, const std::string& target, DataType index_type, bool record_passes,
         const std::optional<std::string>& until, std::optional<bool> verify) {
        return Kernel::lower(
            self, {.target = target_by_name(target),
                   .index_type = index_type,
                   .record_passes = record_passes,
                   .until = until.value_or(""),
                   .verifies_passes = verify});
      },
      "target"_a = "cuda", "index_type"_a = DataType::Int, "record_passes"_a = false,
      "until"_a = nb::none(), "verify"_a = nb::none(),
      R"(Lower a copy of the scheduled fusion to kernel IR.

Parameters
----------
target : str
    ``"cuda"`` or ``"cpu"``, or the architecture of a GPU, as ``"sm_100a"``.
index_type : DataType
    Width of index arithmetic: Int or Int32.
record_passes : bool
    Keep the printed kernel after every pass in ``Kernel.passes``.
until : str, optional
    Name of the last pass that runs; all run if left out. A kernel that is not lowered to its end has
    no source.
verify : bool, optional
    Look for mistakes of the compiler after every pass, which are internal errors. Left out, the
    environment variable ``NVFUSER_VERIFY_PASSES`` decides.

Returns
-------
Kernel

Raises
------
ValueError
    If there is no pass called `until`.
UserError
    If the schedule has no kernel, or if a reshape waits for sizes of a run:
    ``concretize(fusion, find_concretization(fusion, inputs))`` is the fusion for given inputs.
)");
  fusion.def(
      "try_lower",
      [](const Fusion& self, const std::string& target, DataType index_type) {
        return Kernel::try_lower(
            self, {.target = target_by_name(target), .index_type = index_type});
      },
      "target"_a = "cuda", "index_type"_a = DataType::Int,
      R"(Lower a copy of the scheduled fusion, or find out why it has no kernel.

Parameters
----------
target : str
    ``"cuda"`` or ``"cpu"``, or the architecture of a GPU, as ``"sm_100a"``.
index_type : DataType
    Width of index arithmetic: Int or Int32.

Returns
-------
Kernel or Refusal
    What `lower` returns, or what it would raise as a value.
)");
  fusion.def(
      "print_kernel",
      [](const Fusion& self, const CompileParams& params, const std::string& target,
         bool comments) {
        const auto kernel = Kernel::lower(
            self, {.target = target_by_name(target),
                   .index_type = params.index_type.value_or(DataType::Int)});
        return generate_kernel_text(*kernel, "", comments ? Comments::Fusion : Comments::None);
      },
      "compile_params"_a = CompileParams(), "target"_a = "cuda", "comments"_a = true,
      R"(The source of the kernel that the scheduled fusion becomes.

Parameters
----------
compile_params : CompileParams
    Its index type decides the width of index arithmetic.
target : str
    ``"cuda"`` or ``"cpu"``, or the architecture of a GPU, as ``"sm_100a"``.
comments : bool
    Name the Python line of each statement, the axis of each loop, and tensors that the fusion
    numbers otherwise. Without comments the text follows from the scheduled fusion alone: it is the
    same for the fusion that ``translate_fusion(fusion, schedule=True)`` builds.

Returns
-------
str

Raises
------
UserError
    As for `lower`: if the schedule has no kernel, or if a reshape waits for sizes of a run.
)");
}

} // namespace

void bind_statement_lists(nb::module_& m) {
  nb::module_ internal = internal_module(m);
  internal.def(
      "set_statements",
      [](Kernel& kernel, Expr* owner, const std::string& list, const Scope& statements) {
        set_statements(kernel, owner, list, statements);
      },
      "kernel"_a, "owner"_a.none(), "list"_a, "statements"_a,
      R"(Replace a list of statements, to see what passes and the verifier make of the kernel.

Parameters
----------
kernel : Kernel
    The kernel.
owner : Expr, optional
    The loop or condition; the kernel itself if None.
list : str
    ``"body"``, ``"then_body"`` or ``"else_body"``.
statements : list[Expr]
    Statements of the kernel.
)");
  internal.def(
      "print_statements", &print_statements, "kernel"_a,
      "The statements of a kernel with all fields and facts, as text that can be read back.");
  internal.def(
      "read_statements", &read_statements, "kernel"_a, "text"_a,
      R"(Replace the statements of a kernel by those of a text.

Parameters
----------
kernel : Kernel
    A kernel that has statements. Its tensors, axes and sizes are those of the text.
text : str
    Text in the form of `print_statements`.

Raises
------
ValueError
    If a line does not have that form, or names what the kernel does not have.
)");
  internal.def(
      "find_violations", &find_violations, "kernel"_a,
      "The faults of the statements of a kernel, one line for each finding.");
}

void bind_lower(nb::module_& m) {
  bind_pass_record(m);
  bind_statement_lists(m);
  bind_kernel(m);
  bind_bank_conflicts(m);
  bind_fusion_methods(m);
  m.def(
      "lowering_passes",
      [] {
        std::vector<std::pair<std::string, std::string>> passes;
        for (const Pass<Kernel>& pass : lowering_passes()) {
          passes.emplace_back(pass.name, pass.why_here);
        }
        return passes;
      },
      "The passes of lowering in order: name, and why it stands there.");
}

} // namespace nvfuser::python
