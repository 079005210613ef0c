// Lowering: Fusion.lower, Kernel, and the passes between them.
#include <string>

#include "bindings.h"
#include "codegen/codegen.h"
#include "lower/kernel.h"
#include "lower/pipeline.h"
#include "runtime/compile_params.h"

namespace nvfuser::python {
namespace {

Target target_by_name(const std::string& name) {
  if (name == "cuda") {
    return Target::cuda();
  }
  if (name == "cpu") {
    return Target::cpu();
  }
  throw UserError(
      {.headline = {"Unknown target"},
       .node = Part::none(),
       .expected = "\"cuda\" or \"cpu\"",
       .found = {"\"", name, "\""},
       .fix = "the target of a run follows from its inputs; name one only to look at a kernel"},
      ErrorKind::Value);
}

void bind_pass_record(nb::module_& m) {
  nb::class_<PassRecord>(m, "PassRecord", "A lowering pass that ran.")
      .def_ro("name", &PassRecord::name, "Name of the pass.")
      .def_ro("text", &PassRecord::text, "The kernel after the pass; empty unless recorded.")
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
          [](const Kernel& self, const std::string& name) {
            return generate_kernel_text(self, name);
          },
          "kernel_name"_a = "",
          R"(The generated source of the kernel alone.

Parameters
----------
kernel_name : str
    Name of the function; a default for the target if empty.
)")
      .def(
          "launch_extents",
          [](const Kernel& self) {
            return std::vector<Val*>(self.launch.extents.begin(), self.launch.extents.end());
          },
          "Sizes of grid_x, grid_y, grid_z, block_x, block_y, block_z; None where unused.")
      .def(
          "is_cooperative", [](const Kernel& self) { return self.launch.is_cooperative; },
          "Whether all blocks must be resident at once.")
      .def(
          "shared_bytes", [](const Kernel& self) { return self.launch.shared_bytes; },
          "Dynamic shared memory of a block (bytes); None if there is none.")
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
      .def("__str__", &Kernel::print_kernel_ir)
      .def("__repr__", &Kernel::print_kernel_ir);
}

void bind_fusion_methods(nb::module_& m) {
  auto fusion = nb::borrow<nb::class_<Fusion>>(m.attr("Fusion"));
  fusion.def(
      "lower",
      [](const Fusion& self, const std::string& target, DataType index_type, bool record_passes) {
        return Kernel::lower(
            self, {.target = target_by_name(target),
                   .index_type = index_type,
                   .record_passes = record_passes});
      },
      "target"_a = "cuda", "index_type"_a = DataType::Int, "record_passes"_a = false,
      R"(Lower a copy of the scheduled fusion to kernel IR.

Parameters
----------
target : str
    ``"cuda"`` or ``"cpu"``.
index_type : DataType
    Width of index arithmetic: Int or Int32.
record_passes : bool
    Keep the printed kernel after every pass in ``Kernel.passes``.

Returns
-------
Kernel
)");
  fusion.def(
      "print_kernel",
      [](const Fusion& self, const CompileParams& params, const std::string& target) {
        const auto kernel = Kernel::lower(
            self, {.target = target_by_name(target),
                   .index_type = params.index_type.value_or(DataType::Int)});
        return generate_kernel_text(*kernel);
      },
      "compile_params"_a = CompileParams(), "target"_a = "cuda",
      R"(The source of the kernel that the scheduled fusion becomes.

Parameters
----------
compile_params : CompileParams
    Its index type decides the width of index arithmetic.
target : str
    ``"cuda"`` or ``"cpu"``.
)");
}

} // namespace

void bind_lower(nb::module_& m) {
  bind_pass_record(m);
  bind_kernel(m);
  bind_fusion_methods(m);
  m.def(
      "lowering_passes",
      [] {
        std::vector<std::pair<std::string, std::string>> passes;
        for (const Pass& pass : lowering_passes()) {
          passes.emplace_back(pass.name, pass.why_here);
        }
        return passes;
      },
      "The passes of lowering in order: name, and why it stands there.");
}

} // namespace nvfuser::python
