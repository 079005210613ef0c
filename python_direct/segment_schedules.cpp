// Segments of automatic runs as texts: why they are what they are, and their schedules, which can
// be edited and put back.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "evaluator.h"
#include "executor_cache.h"
#include "gil.h"
#include "host/definition_texts.h"
#include "host/hand_schedules.h"
#include "host/tuned_schedules.h"
#include "python_translate.h"

namespace nvfuser::python {
namespace {

using host::FusionExecutorCache;
using host::HandSchedule;

std::string unscheduled_text(const Fusion& fusion) {
  try {
    return translate_unscheduled(fusion);
  } catch (const Error&) { // what passes make may have no line of Python
    return "";
  }
}

/// Call `change` with the arguments that say which runs are meant.
template <typename Change>
void change_runs_like(const nb::object& inputs, const Change& change) {
  if (inputs.is_none()) {
    const GilRelease no_gil;
    change(std::nullopt);
    return;
  }
  const PythonArguments arguments(inputs);
  const GilRelease no_gil;
  change(arguments.args());
}

void use_schedule(
    FusionExecutorCache& self,
    size_t segment,
    const std::shared_ptr<Fusion>& scheduled,
    const std::string& origin,
    const nb::object& inputs,
    const CompileParams& params) {
  const HandSchedule schedule{.fusion = scheduled, .origin = origin, .compile_params = params};
  change_runs_like(inputs, [&](std::optional<std::span<const Argument>> args) {
    self.use_schedule(args, segment, scheduled == nullptr ? nullptr : &schedule);
  });
}

void use_params(
    FusionExecutorCache& self,
    size_t segment,
    const HeuristicParams& params,
    const nb::object& inputs) {
  change_runs_like(inputs, [&](std::optional<std::span<const Argument>> args) {
    self.use_params(args, segment, params);
  });
}

void store_tuned(FusionExecutorCache& self, size_t segment, const nb::object& inputs) {
  change_runs_like(inputs, [&](std::optional<std::span<const Argument>> args) {
    self.store_tuned(args, segment);
  });
}

/// The names of tensors of the definition.
std::vector<int64_t> names_of(
    const FusionExecutorCache& cache, const std::vector<const TensorView*>& tensors) {
  std::vector<int64_t> names;
  for (const TensorView* tensor : tensors) {
    if (tensor->fusion() != cache.fusion().get()) {
      throw UserError(
          {.headline = "A hint speaks of tensors of the definition",
           .node = describe(tensor),
           .expected = "a tensor of the definition that the cache runs",
           .found = "a tensor of another one",
           .fix = "take what fd.ops gave for this definition"});
    }
    names.push_back(tensor->name());
  }
  return names;
}

void bind_hints(nb::class_<FusionExecutorCache>& cls) {
  cls.def(
         "keep_together",
         [](FusionExecutorCache& self, const std::vector<const TensorView*>& tensors) {
           host::CutHints hints = self.cut_hints();
           hints.together.push_back(names_of(self, tensors));
           self.set_cut_hints(std::move(hints));
         },
         "tensors"_a,
         nb::sig(
             "def keep_together(self, "
             "tensors: collections.abc.Sequence[TensorView]) -> None"),
         R"(Compute these tensors in one segment, with all that lies between them.

It holds for all later runs, and what was compiled is compiled again. Tensors that passes replace
are passed over; `explain` prints those that a hint kept together.

Parameters
----------
tensors : sequence of TensorView
    Tensors of the definition.

Raises
------
UserError
    For tensors of another definition. A later `execute` raises one with the reasons of the
    schedulers, if none of them takes what computes the tensors as one segment.
)")
      .def(
          "cut_behind",
          [](FusionExecutorCache& self, const std::vector<const TensorView*>& tensors) {
            host::CutHints hints = self.cut_hints();
            const std::vector<int64_t> names = names_of(self, tensors);
            hints.cuts.insert(hints.cuts.end(), names.begin(), names.end());
            self.set_cut_hints(std::move(hints));
          },
          "tensors"_a,
          nb::sig(
              "def cut_behind(self, "
              "tensors: collections.abc.Sequence[TensorView]) -> None"),
          R"(Let what reads these tensors be in other segments than what computes them.

It does what a ``segment_set`` of each does in a definition, for all later runs.

Parameters
----------
tensors : sequence of TensorView
    Tensors of the definition.

Raises
------
UserError
    For tensors of another definition.
)")
      .def(
          "forget_hints", [](FusionExecutorCache& self) { self.set_cut_hints({}); },
          "Cut as if `keep_together` and `cut_behind` had never been called.");
}

void bind_texts(nb::class_<FusionExecutorCache>& cls) {
  cls.def(
         "explain",
         [](FusionExecutorCache& self, const nb::object& inputs) {
           const auto runtime = compiled_runtime(self, inputs);
           const GilRelease no_gil;
           return runtime->explain();
         },
         "inputs"_a, nb::sig("def explain(self, inputs: collections.abc.Iterable[object]) -> str"),
         R"(Say what runs each segment, and why.

For every segment: its scheduler, the kernel with its grid, the params; why the tensors that it
reads were cut from what makes them; why other schedulers do not take it, and why it fell back.
Tensors have the lines of Python that made them.

Parameters
----------
inputs : iterable
    As in `execute`.

Raises
------
UserError
    ``Fusion is not compiled!`` for these inputs.
)")
      .def(
          "schedules",
          [](FusionExecutorCache& self, const nb::object& inputs) {
            const auto runtime = compiled_runtime(self, inputs);
            const GilRelease no_gil;
            return runtime->schedules();
          },
          "inputs"_a,
          nb::sig("def schedules(self, inputs: collections.abc.Iterable[object]) -> list[str]"),
          R"(Each segment as Python: its definition, and the calls that schedule it.

`use_schedule` takes such a text back, edited or not, and so does a folder that ``NVFUSER_SCHEDULES``
names. Segments that run without a kernel are definitions alone.

Parameters
----------
inputs : iterable
    As in `execute`.

Raises
------
UserError
    ``Fusion is not compiled!`` for these inputs.
)");
}

} // namespace

void bind_segment_schedules(nb::module_& m, nb::class_<FusionExecutorCache>& cls) {
  host::set_definition_texts(
      {.definition = [](const Fusion& fusion) { return translate_fusion(fusion); },
       .unscheduled = unscheduled_text,
       .scheduled = [](const Fusion& fusion) { return translate_fusion(fusion, true); }});
  bind_texts(cls);
  bind_hints(cls);
  cls.def(
      "use_fusion", &use_schedule, "segment"_a, "scheduled"_a.none(), "origin"_a,
      "inputs"_a = nb::none(), "compile_params"_a = CompileParams(),
      nb::sig(
          "def use_fusion(self, segment: int, scheduled: Fusion | None, origin: str, "
          "inputs: collections.abc.Iterable[object] | None = None, "
          "compile_params: CompileParams = ...) -> None"),
      "As `nvfuser_direct.FusionExecutorCache.use_schedule`, with the schedule as a fusion. "
      "`origin` says in errors where it comes from.");
  cls.def(
         "use_params", &use_params, "segment"_a, "params"_a, "inputs"_a = nb::none(),
         nb::sig(
             "def use_params(self, segment: int, params: nvfuser_direct._core.HeuristicParams, "
             "inputs: collections.abc.Iterable[object] | None = None) -> None"),
         R"(Run a segment as its scheduler, or another one, schedules it with these params.

It holds as long, and for the same runs, as what `use_schedule` puts in place.

Parameters
----------
segment : int
    Its number in ``explain``.
params : HeuristicParams
    Edited ones of `last_pieces`, or those of ``schedule.compute_heuristics``.
inputs : iterable, optional
    Inputs that were executed, to say which sizes are meant; the last ones if left out.

Raises
------
UserError
    If the params cannot be applied to the segment, or what they make cannot be lowered.
)")
      .def(
          "store_tuned", &store_tuned, "segment"_a, "inputs"_a = nb::none(),
          nb::sig(
              "def store_tuned(self, segment: int, "
              "inputs: collections.abc.Iterable[object] | None = None) -> None"),
          R"(Keep what `use_params` or `use_schedule` put in place on disk, as the best for such a segment.

Other processes use it on devices of this name, with this driver and compiler, for runs with the
same decisions; a segment that draws random numbers is not kept.

Raises
------
UserError
    If the segment has its automatic schedule.
)");
  internal_module(m).def(
      "keep_schedule",
      [](std::shared_ptr<Fusion> scheduled, std::string decisions, std::string origin,
         const CompileParams& params) {
        host::keep_hand_schedule(
            {std::move(scheduled), std::move(decisions), std::move(origin), params});
      },
      "scheduled"_a, "decisions"_a, "origin"_a, "compile_params"_a = CompileParams(),
      R"(Use a schedule for all segments of this process that compute what it does.

Parameters
----------
scheduled : Fusion
    A definition with its schedule.
decisions : str
    Those that it is for, as the texts of `FusionExecutorCache.schedules` have them; empty: any.
origin : str
    Where it comes from, for errors.
compile_params : CompileParams
    How its kernel is compiled.
)");
}

} // namespace nvfuser::python
