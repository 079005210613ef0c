// Cutting a fusion into segments: segment, SegmentedFusion.
#include "segment/segmented_fusion.h"

#include <nanobind/stl/unique_ptr.h>

#include "bindings.h"
#include "dlpack_exchange.h"
#include "host/segments.h"
#include "runtime/run_facts.h"
#include "schedule/table.h"
#include "target_names.h"

namespace nvfuser::python {
namespace {

using segment::Cut;

std::shared_ptr<const SegmentedFusion> segment_for_inputs(
    const std::shared_ptr<Fusion>& fusion,
    const nb::object& inputs,
    const std::optional<std::string>& target,
    std::vector<std::vector<TensorView*>> together,
    std::vector<TensorView*> cuts) {
  const PythonArguments arguments(inputs);
  const schedule::RunFacts facts =
      find_run_facts(*fusion, arguments.args(), target_by_name(target));
  return SegmentedFusion::segment(
      fusion, facts, {.together = std::move(together), .cuts = std::move(cuts)});
}

void bind_segments(nb::module_& m) {
  nb::class_<SegmentedGroup>(
      m, "SegmentedGroup",
      "A piece of a fusion that runs by itself, and what it is in the complete fusion.")
      .def_ro(
          "fusion", &SegmentedGroup::fusion,
          "The piece as a definition of its own, without a schedule. Its statements remember the "
          "lines of Python that made the originals.")
      .def_prop_ro(
          "kind", [](const SegmentedGroup& self) { return to_string(self.kind); },
          "``kernel``; ``view``: its outputs lie in the memory of its inputs; ``evaluated``: by "
          "PyTorch.")
      .def_ro(
          "scheduler", &SegmentedGroup::scheduler,
          "The scheduler that takes it; ``none``: the trivial schedule, or the evaluator.")
      .def_prop_ro(
          "params",
          [](const SegmentedGroup& self) {
            return self.params == nullptr ? nullptr : self.params->clone();
          },
          nb::sig("def params(self) -> nvfuser_direct._core.HeuristicParams | None"),
          "A copy of what the scheduler decides for the sizes of the run; None where there is "
          "none, "
          "and where PyTorch evaluates the group.")
      .def_prop_ro(
          "rejections",
          [](const SegmentedGroup& self) {
            std::vector<std::pair<SchedulerType, std::string>> found;
            for (const Rejection& rejection : self.rejections) {
              found.emplace_back(
                  rejection.scheduler,
                  schedule::rejection_text(rejection.scheduler, rejection.refusal));
            }
            return found;
          },
          "Schedulers that were asked before it, and why they do not take it.")
      .def_ro(
          "inputs", &SegmentedGroup::inputs,
          "Values of the complete fusion, in the order of ``fusion.inputs()``.")
      .def_ro(
          "outputs", &SegmentedGroup::outputs,
          "Tensors of the complete fusion, in the order of ``fusion.outputs()``, each once.")
      .def_ro(
          "exprs", &SegmentedGroup::exprs,
          "Its expressions in the complete fusion, operands before results. Cheap ones may "
          "be in several groups.")
      .def_ro(
          "kept_together", &SegmentedGroup::kept_together,
          "Tensors of the complete fusion that a hint keeps together in it.")
      .def("__str__", &SegmentedGroup::to_string);
  nb::class_<SegmentedEdge>(m, "SegmentedEdge", "A tensor that one group makes and another reads.")
      .def_ro("source", &SegmentedEdge::from, "Position of the group that makes it.")
      .def_ro("target", &SegmentedEdge::to, "Position of the group that reads it.")
      .def_ro("tensor", &SegmentedEdge::tensor, "The tensor, in the complete fusion.")
      .def_ro(
          "dtype", &SegmentedEdge::dtype,
          "Its type in memory. Where that is another one than that of the tensor, the groups "
          "cast.");
  nb::class_<Cut>(m, "Cut", "Why a tensor lies in memory between two groups.")
      .def_prop_ro(
          "rule", [](const Cut& self) { return segment::to_string(self.rule); },
          "``asked``, ``library``, ``lookup``, ``pattern``, ``space``, ``on_chip``, ``shapes``, "
          "``reshape``, ``itself``, ``view``, ``repeated``, ``update``, ``order`` or "
          "``unsuitable``.")
      .def_ro("tensor", &Cut::tensor, "The tensor that crosses.")
      .def_ro("reader", &Cut::reader, "A result of the expression that reads it.")
      .def_ro(
          "other", &Cut::other,
          "The tensor that the reader cannot be with; None: the one that crosses.")
      .def(
          "__str__", &Cut::to_string,
          "One sentence, which names tensors and the lines of Python that made them.");
  nb::class_<LateUpdate>(
      m, "LateUpdate",
      "An output that is copied into an input when all groups have run: while it is computed, "
      "elements of the input are still needed.")
      .def_ro("output", &LateUpdate::output, "The output.")
      .def_ro("input", &LateUpdate::argument, "The input that it updates.")
      .def_ro(
          "fusion", &LateUpdate::fusion,
          "Copies its first input into the memory of its second one.");
}

void bind_partition(nb::module_& m) {
  nb::module_ host = m.def_submodule("host");
  nb::class_<host::Piece>(host, "Piece", "A part of a fusion that one step computes.")
      .def_ro("fusion", &host::Piece::fusion, "The math that it computes, without a schedule.")
      .def_ro("inputs", &host::Piece::inputs, "The slot of each of its inputs.")
      .def_ro(
          "scheduler", &host::Piece::scheduler,
          "The scheduler that it was cut for; ``none``: whichever takes it.");
  nb::class_<host::Partition>(
      host, "Partition",
      "A fusion as pieces that are computed one after another. Slots are numbered as those of a "
      "`HostProgram`: first the inputs of the fusion, then the visible outputs of each piece.")
      .def_ro("pieces", &host::Partition::pieces, "In an order in which they can run.")
      .def_ro("outputs", &host::Partition::outputs, "The slots of the visible outputs.");
  host.def(
      "partition_of", &host::partition_of, "plan"_a,
      R"(The pieces that a segmented fusion runs as.

Parameters
----------
plan : SegmentedFusion
    The plan. Outputs that update an input late are pieces of their own, which copy.
)");
}

} // namespace

void bind_segment(nb::module_& m) {
  bind_segments(m);
  bind_partition(m);
  nb::class_<SegmentedFusion>(
      m, "SegmentedFusion", "A fusion cut into groups that one scheduler takes each.")
      .def_prop_ro(
          "groups", &SegmentedFusion::groups, nb::rv_policy::reference_internal,
          "In an order in which they can run.")
      .def_prop_ro(
          "edges", &SegmentedFusion::edges, nb::rv_policy::reference_internal,
          "Tensors between groups, by ``source``, then ``target``.")
      .def_prop_ro(
          "cuts", &SegmentedFusion::cuts, nb::rv_policy::reference_internal,
          "Why tensors cross: at least one for each edge, in their order.")
      .def(
          "cuts_before", &SegmentedFusion::cuts_before, "segment"_a,
          nb::rv_policy::reference_internal,
          "The cuts of the tensors that one group reads, by its position.")
      .def(
          "notes_on", &SegmentedFusion::notes_on, "segment"_a,
          "Lines of ``explain()`` on a group, by its position: its cuts, types in which tensors "
          "cross "
          "that are not their own, and what hints keep together.")
      .def_prop_ro(
          "late_updates", &SegmentedFusion::late_updates, nb::rv_policy::reference_internal,
          "Copies into inputs at the end of a run.")
      .def_prop_ro("complete_fusion", &SegmentedFusion::complete_fusion, "The fusion that was cut.")
      .def(
          "is_cut_like", &SegmentedFusion::is_cut_like, "other"_a,
          R"(Whether another plan of the same fusion has the same groups, params aside.

Parameters
----------
other : SegmentedFusion
    A plan of the same fusion, for other inputs.
)")
      .def_prop_ro(
          "is_whole", &SegmentedFusion::is_whole,
          "Whether it is not cut: one group has the inputs and outputs of the fusion.")
      .def(
          "explain", &SegmentedFusion::explain,
          "A text that says how each group runs, why it was cut, and why schedulers did not take "
          "it.")
      .def(
          "draw", &SegmentedFusion::draw,
          "Groups and the tensors between them, as a drawing in the language of Graphviz.")
      .def("__str__", &SegmentedFusion::to_string);
  m.def(
      "segment", &segment_for_inputs, "fusion"_a, "inputs"_a, "target"_a = nb::none(),
      nb::kw_only(), "keep_together"_a = std::vector<std::vector<TensorView*>>(),
      "cut_behind"_a = std::vector<TensorView*>(),
      nb::sig(
          "def segment(fusion: Fusion, inputs: collections.abc.Iterable[object], "
          "target: str | None = None, *, "
          "keep_together: collections.abc.Sequence[collections.abc.Sequence[TensorView]] = (), "
          "cut_behind: collections.abc.Sequence[TensorView] = ()) -> SegmentedFusion"),
      R"(Cut a fusion into groups that one scheduler takes each.

The fusion stays as it is. Cuts follow from the math and from the sizes of the inputs; the order of
statements does not matter. Nothing is compiled.

Parameters
----------
fusion : Fusion
    A definition without a schedule.
inputs : iterable
    Inputs of a run: their sizes, strides and addresses count.
target : str, optional
    "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.
keep_together : sequence of sequences of TensorView
    Hints: tensors of the fusion that one group computes.
cut_behind : sequence of TensorView
    Hints: tensors that other groups read than the one that computes them.

Returns
-------
SegmentedFusion

Raises
------
UserError
    If the inputs do not fit, if the fusion is scheduled already, if no scheduler takes what is to be
    kept together, or if its shapes wait for sizes of a run: ``concretize(fusion,
    find_concretization(fusion, inputs))`` is the fusion for given inputs.
)");
}

} // namespace nvfuser::python
