// HeuristicParams: what schedulers decide. Attributes are the fields that csrc/schedule/params
// declares.
#include "bindings.h"
#include "params_binding.h"
#include "schedule/params/greedy_params.h"
#include "schedule/params/plain_params.h"
#include "schedule/params/pointwise_params.h"
#include "schedule/params/reduction_params.h"
#include "schedule/params/transpose_params.h"

namespace nvfuser::python {

void bind_heuristic_params(nb::module_& m) {
  nb::class_<HeuristicParams>(
      m, "HeuristicParams",
      "The decisions of a scheduler: computed from a definition, sizes, alignments and a device. "
      "They can be printed, edited, compared and applied.")
      .def_rw(
          "lparams", &HeuristicParams::lparams,
          "The block, which the schedule splits by; and the grid that the sizes lead to.")
      .def_rw("cparams", &HeuristicParams::cparams, "How the kernel is compiled.")
      .def_rw("tag", &HeuristicParams::tag, "A word shown in the text.")
      .def_prop_ro(
          "scheduler_type", &HeuristicParams::scheduler_type, "The scheduler they belong to.")
      .def("hash", &HeuristicParams::hash, "Equal for params that are equal.")
      .def("__hash__", &HeuristicParams::hash)
      .def(
          "__eq__",
          [](const HeuristicParams& self, const HeuristicParams& other) { return self == other; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"),
          "Whether both make the same kernel: the grid is not compared.")
      .def(
          "differences_from", &HeuristicParams::differences_from, "other"_a,
          R"(Tell which values differ.

``"vectorization_factor 4 instead of 1, threadIdx.x 64 instead of 128"``: own values, and those of
`other`. A number that is not set is `unset`. Params of another scheduler differ by its name only.

Parameters
----------
other : HeuristicParams
    What these params are compared with.

Returns
-------
str
    The differences, separated by commas; empty if both make the same kernel.
)")
      .def("__repr__", &HeuristicParams::to_string);
  bind_params<NoChoice>(
      m, "PlainParams", "Params of a scheduler that decides nothing: no_op and expr_eval.");
  bind_params<PointwiseChoice>(
      m, "PointwiseParams",
      "How a map over the axes of an output is computed: its axes merged to one side or two, split "
      "into blocks, threads and vectors.");
  bind_params<TransposeChoice>(
      m, "TransposeParams",
      "How tensors whose innermost dimensions differ are computed: tile by tile.");
  bind_params<GreedyChoice>(
      m, "GreedyParams", "How scans, scatters and the maps around them are computed.");
  bind_params<ReductionChoice>(
      m, "ReductionParams", "How reductions are computed, and norms that keep their rows on chip.");
  bind_matmul_params(m);
}

} // namespace nvfuser::python
