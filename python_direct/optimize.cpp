// Passes from fusion to fusion: Fusion.optimize, OptimizedFusion.
#include "bindings.h"
#include "optimize/optimized_fusion.h"
#include "optimize/pipeline.h"

namespace nvfuser::python {
namespace {

void bind_optimized_fusion(nb::module_& m) {
  nb::class_<OptimizedFusion, Fusion>(
      m, "OptimizedFusion",
      "A copy of a definition, rewritten by passes. It computes the same: inputs and outputs are "
      "those of the definition, in their order and with their names. Inputs behind them repeat "
      "some (`arguments`).")
      .def_ro("passes", &OptimizedFusion::passes, "The passes that ran, in order.")
      .def(
          "arguments", &OptimizedFusion::arguments,
          "For each input the argument that it is bound to: its position among the inputs of the\n"
          "definition. An input that meets itself along two axes is read as two.")
      .def(
          "run_pass", &OptimizedFusion::run_pass, "name"_a,
          R"(Run one more pass of `optimization_passes`.

Mistakes of the compiler are looked for before and after the pass.

Parameters
----------
name : str
    Name of the pass.

Raises
------
ValueError
    If there is no such pass.
UserError
    If the fusion was scheduled meanwhile.
)");
}

void bind_fusion_methods(nb::module_& m) {
  auto fusion = nb::borrow<nb::class_<Fusion>>(m.attr("Fusion"));
  fusion.def(
      "optimize",
      [](const Fusion& self, bool record_passes, const std::optional<std::string>& until,
         const std::optional<std::vector<std::string>>& passes, std::optional<bool> verify) {
        return OptimizedFusion::optimize(
            self, {.record_passes = record_passes,
                   .until = until.value_or(""),
                   .passes = passes,
                   .verifies_passes = verify});
      },
      "record_passes"_a = false, "until"_a = nb::none(), "passes"_a = nb::none(),
      "verify"_a = nb::none(),
      R"(A copy of the definition that computes the same with less.

Parameters
----------
record_passes : bool
    Keep the printed math after every pass in ``OptimizedFusion.passes``.
until : str, optional
    Name of the last pass that runs.
passes : list[str], optional
    Names of the passes that run, in the order of `optimization_passes`; all of them if left out.
verify : bool, optional
    Look for mistakes of the compiler after every pass, which are internal errors. Left out, the
    environment variable ``NVFUSER_VERIFY_PASSES`` decides.

Returns
-------
OptimizedFusion

Raises
------
ValueError
    If there is no pass of such a name.
UserError
    If the fusion is scheduled already, or if its shapes wait for sizes of a run:
    ``concretize(fusion, find_concretization(fusion, inputs))`` is the fusion for given inputs.
)");
  fusion.def(
      "try_optimize", [](const Fusion& self) { return OptimizedFusion::try_optimize(self); },
      R"(A copy of the definition that computes the same with less, or why there is none.

Returns
-------
OptimizedFusion or Refusal
    What `optimize` returns, or what it would raise as a value.
)");
}

} // namespace

void bind_optimize(nb::module_& m) {
  bind_optimized_fusion(m);
  bind_fusion_methods(m);
  m.def(
      "optimization_passes",
      [] {
        std::vector<std::pair<std::string, std::string>> passes;
        for (const Pass<OptimizedFusion>& pass : optimize::optimization_passes()) {
          passes.emplace_back(pass.name, pass.why_here);
        }
        return passes;
      },
      "The passes of `Fusion.optimize` in order: name, and why it stands there.");
}

} // namespace nvfuser::python
