// FusionExecutorCache: runs a definition without a schedule.
#include "host/executor_cache.h"

#include <nanobind/stl/unique_ptr.h>

#include "base/options.h"
#include "bindings.h"
#include "evaluator.h"
#include "executor_cache.h"
#include "gil.h"
#include "runtime/run_facts.h"

namespace nvfuser::python {
namespace {

using host::ExecutorCacheStats;
using host::FusionExecutorCache;
using host::FusionRuntime;
using host::PieceReport;

std::optional<Device> device_of_call(const nb::object& device) {
  if (device.is_none()) {
    return std::nullopt;
  }
  int64_t index = -1;
  if (!nb::try_cast(device, index) || index < 0) {
    throw UserError(
        {"Expected the index of a CUDA device, an int from 0 on, but got ",
         nb::repr(device).c_str()},
        ErrorKind::Value);
  }
  return host::cuda_device_of_call(index);
}

std::vector<std::string> option_names(const nb::object& names) {
  if (nb::isinstance<nb::str>(names)) {
    throw UserError(
        {"expected a list of names of options, but got ", nb::repr(names).c_str()},
        ErrorKind::Type);
  }
  return nb::cast<std::vector<std::string>>(nb::list(names));
}

nb::list run(FusionExecutorCache& self, nb::handle inputs, std::optional<Device> device) {
  const PythonArguments arguments(inputs);
  PythonAllocator allocator(arguments.framework());
  PythonEvaluator evaluator(arguments, allocator);
  std::vector<RunOutput> outputs = self.execute(arguments.args(), {allocator, evaluator}, device);
  return to_python(std::move(outputs), arguments, allocator);
}

nb::list execute(
    FusionExecutorCache& self,
    const nb::object& inputs,
    const nb::object& device,
    const nb::object& enable_options,
    const nb::object& disable_options) {
  check_is_list_of_inputs(inputs);
  const std::optional<Device> place = device_of_call(device);
  OptionsGuard guard;
  guard.enable(option_names(enable_options));
  guard.disable(option_names(disable_options));
  return run(self, inputs, place);
}

std::shared_ptr<const FusionRuntime> find_runtime(
    FusionExecutorCache& self, const nb::object& inputs) {
  const PythonArguments arguments(inputs);
  const GilRelease no_gil;
  return self.find_runtime(arguments.args());
}

} // namespace

std::shared_ptr<const FusionRuntime> compiled_runtime(
    FusionExecutorCache& self, const nb::object& inputs) {
  auto runtime = find_runtime(self, inputs);
  NVF_USER_CHECK(runtime != nullptr, "Fusion is not compiled! Execute it with inputs like these.");
  return runtime;
}

namespace {

std::shared_ptr<const FusionRuntime> last_runtime(const FusionExecutorCache& self) {
  auto runtime = self.last_runtime();
  NVF_USER_CHECK(runtime != nullptr, "Invalid fusion definition! It was not executed yet.");
  return runtime;
}

void bind_stats(nb::module_& m) {
  nb::class_<ExecutorCacheStats>(
      m, "ExecutorCacheStats", "The contents of a cache, and its use so far.")
      .def_ro("hits", &ExecutorCacheStats::hits, "Calls whose signature was known.")
      .def_ro("misses", &ExecutorCacheStats::misses, "Calls that were planned.")
      .def_ro("plans", &ExecutorCacheStats::plans, "Signatures that are known.")
      .def_ro(
          "specializations", &ExecutorCacheStats::specializations,
          "Concretized fusions; 1 where no shape is dynamic.")
      .def_ro(
          "runtimes", &ExecutorCacheStats::runtimes,
          "Kernels of one specialization for a kind of device and for options.")
      .def_ro("compiled", &ExecutorCacheStats::compiled, "Kernels that were compiled.")
      .def_ro(
          "evictions", &ExecutorCacheStats::evictions,
          "Plans, runtimes and specializations that were forgotten to make room.")
      .def("__repr__", &ExecutorCacheStats::to_string);
}

void bind_reports(nb::module_& m) {
  nb::class_<PieceReport>(m, "PieceReport", "How a segment runs, and why not in a better way.")
      .def_prop_ro(
          "fusion", [](const PieceReport& self) { return self.fusion->clone(); },
          "A copy of what it computes.")
      .def_prop_ro(
          "way", [](const PieceReport& self) { return host::to_string(self.way.kind); },
          "``view``: no kernel, its outputs lie in the memory of its inputs; ``scheduled``: by a "
          "scheduler; ``trivial``: by the schedule that is right for any fusion; ``optimized``: "
          "the "
          "same after passes; ``by hand``; ``evaluated``: through PyTorch.")
      .def_prop_ro(
          "scheduler",
          [](const PieceReport& self) {
            return self.way.params == nullptr ? SchedulerType::none
                                              : self.way.params->scheduler_type();
          },
          "The scheduler of its kernel; ``none`` for all other ways.")
      .def_prop_ro(
          "params",
          [](const PieceReport& self) {
            return self.way.params == nullptr ? nullptr : self.way.params->clone();
          },
          nb::sig("def params(self) -> nvfuser_direct._core.HeuristicParams | None"),
          "A copy of what the scheduler decided; None for all other ways.")
      .def_prop_ro(
          "origin", [](const PieceReport& self) { return self.origin; },
          "Where a schedule comes from that stands in for the automatic one: ``tuning``, or a "
          "file; "
          "empty if none does.")
      .def_ro(
          "inputs", &PieceReport::inputs,
          "Where each input of `fusion` comes from: the inputs of the whole fusion are numbered "
          "first, then the visible outputs of segment 0, those of segment 1, and so on.")
      .def_prop_ro(
          "refused",
          [](const PieceReport& self) {
            std::vector<std::pair<std::string, std::string>> reasons;
            for (const host::RefusedWay& refused : self.refused) {
              const bool is_scheduled = refused.kind == host::Way::Kind::Scheduled;
              reasons.emplace_back(
                  is_scheduled ? enum_name(refused.scheduler) : host::to_string(refused.kind),
                  refused.refusal.refusal.report.str());
            }
            return reasons;
          },
          "Better ways that were tried in vain, each with the reason: names of schedulers, or of "
          "ways.");
}

void bind_running(nb::class_<FusionExecutorCache>& cls) {
  cls.def(
         "execute", &execute, "inputs"_a, nb::kw_only(), "device"_a = nb::none(),
         "_enable_options"_a = nb::make_tuple(), "_disable_options"_a = nb::make_tuple(),
         nb::sig(
             "def execute(self, inputs: collections.abc.Iterable[object], *, "
             "device: int | None = None, "
             "_enable_options: collections.abc.Sequence[str] = (), "
             "_disable_options: collections.abc.Sequence[str] = ()) -> list[torch.Tensor]"),
         R"(Run, compiling when needed.

Parameters
----------
inputs : iterable
    Tensors and numbers in the order of ``fusion().inputs()``. One level of lists and tuples is
    opened.
device : int, optional
    CUDA device, less than 256, for a fusion without tensor inputs; those of other fusions have to
    be on it.
_enable_options, _disable_options : sequence of str
    Names as in ``NVFUSER_ENABLE`` and ``NVFUSER_DISABLE``; they hold for this call.

Returns
-------
list[torch.Tensor]
    The visible outputs; tensors of the framework that the inputs came from.

Raises
------
UserError
    For inputs that do not fit, for a device that is not there, for unknown options, if the
    definition was edited since it was given to the cache, and for inputs that need a new kernel
    while a CUDA graph is captured.
)")
      .def(
          "run",
          [](FusionExecutorCache& self, nb::handle inputs) {
            return run(self, inputs, std::nullopt);
          },
          nb::sig(
              "def run(self, inputs: collections.abc.Iterable[object], /) -> list[torch.Tensor]"),
          "`execute` on the device of the inputs, with the options that hold; a call takes less "
          "time.");
}

void bind_inspection(nb::class_<FusionExecutorCache>& cls) {
  cls.def(
         "get_cuda_kernel",
         [](FusionExecutorCache& self, const nb::object& inputs, bool intrinsic_code, int64_t) {
           return compiled_runtime(self, inputs)->kernel_source(intrinsic_code);
         },
         "inputs"_a, "intrinsic_code"_a = false, "device"_a = 0,
         nb::sig(
             "def get_cuda_kernel(self, inputs: collections.abc.Iterable[object], "
             "intrinsic_code: bool = False, device: int = 0) -> str"),
         R"(Generated source of the kernels for these inputs; empty where there are none.

Parameters
----------
inputs : iterable
    As in `execute`.
intrinsic_code : bool
    With the support code it uses.
device : int
    CUDA device, for fusions without tensor inputs.

Raises
------
UserError
    ``Fusion is not compiled!`` for these inputs.
)")
      .def(
          "get_scheduled_ir",
          [](FusionExecutorCache& self, const nb::object& inputs, bool tensor_transforms, int64_t) {
            return compiled_runtime(self, inputs)->scheduled_text(tensor_transforms);
          },
          "inputs"_a, "tensor_transforms"_a = false, "device"_a = 0,
          nb::sig(
              "def get_scheduled_ir(self, inputs: collections.abc.Iterable[object], "
              "tensor_transforms: bool = False, device: int = 0) -> str"),
          R"(The scheduled fusion as text, with the transforms of every tensor if asked for.

Parameters
----------
inputs : iterable
    As in `execute`.
tensor_transforms : bool
    With the transforms of every tensor.
device : int
    CUDA device, for fusions without tensor inputs.
)")
      .def(
          "kernel_sources",
          [](FusionExecutorCache& self, const nb::object& inputs, bool intrinsic_code) {
            const auto runtime =
                inputs.is_none() ? last_runtime(self) : compiled_runtime(self, inputs);
            return runtime->kernel_sources(intrinsic_code);
          },
          "inputs"_a = nb::none(), "intrinsic_code"_a = false,
          nb::sig(
              "def kernel_sources(self, inputs: collections.abc.Iterable[object] | None = None, "
              "intrinsic_code: bool = False) -> list[str]"),
          R"(Generated source of each kernel; the last run's, if no inputs are given.

Parameters
----------
inputs : iterable, optional
    As in `execute`.
intrinsic_code : bool
    With the support code it uses.
)")
      .def(
          "has_run", [](const FusionExecutorCache& self) { return self.last_runtime() != nullptr; },
          "Whether there is a last run, which `last_pieces` and its like tell of.")
      .def(
          "get_most_recent_scheduled_ir",
          [](const FusionExecutorCache& self, bool tensor_transforms) {
            return last_runtime(self)->scheduled_text(tensor_transforms);
          },
          "tensor_transforms"_a = false, "As `get_scheduled_ir`, for the last run.")
      .def(
          "last_launches",
          [](const FusionExecutorCache& self) { return last_runtime(self)->last_launches(); },
          "The launch parameters of the kernels of the last run, in their order.")
      .def(
          "last_pieces",
          [](const FusionExecutorCache& self) { return last_runtime(self)->last_pieces(); },
          "How each segment of the last run is computed, in their order: a list of `PieceReport`.")
      .def(
          "get_output_shardings", [](const FusionExecutorCache&) { return nb::list(); },
          nb::sig("def get_output_shardings(self) -> list[object]"),
          "How outputs are distributed over devices; empty, since no tensor has a device mesh.")
      .def(
          "compilations", &FusionExecutorCache::compilations,
          "Why each runtime was made, in their order: a list of texts, of the latest 256.")
      .def("stats", &FusionExecutorCache::stats, "The contents of the cache, and how it was used.");
}

/// How a fusion is computed as one piece, if its first scheduler decides on `params`.
PieceReport report_of_piece(
    const std::shared_ptr<Fusion>& fusion,
    const nb::object& inputs,
    const HeuristicParams& params) {
  const PythonArguments arguments(inputs);
  PythonAllocator allocator(arguments.framework());
  PythonEvaluator evaluator(arguments, allocator);
  const Device device = device_of_run(*fusion, arguments.args());
  auto summarized = std::make_shared<host::SummarizedFusion>(fusion->clone());
  auto facts = std::make_shared<schedule::RunFacts>(
      find_run_facts(*summarized->fusion, arguments.args(), target_of(device)));
  auto candidates = std::make_shared<host::Candidates>(
      nullptr, std::move(summarized), std::move(facts), params.clone(), params.scheduler_type());
  host::PieceWays ways(
      {.fusion = fusion, .inputs = {}}, std::move(candidates), KernelIdentity{},
      /*is_by_hand=*/false);
  return ways.report_of(ways.find_best_way(device, evaluator));
}

} // namespace

void bind_executor_cache(nb::module_& m) {
  bind_stats(m);
  bind_reports(m);
  nb::class_<FusionExecutorCache> cls(
      m, "FusionExecutorCache",
      "Compiles a fusion when it first meets a kind of device, then runs it. Thread-safe.");
  cls.def(
         nb::init<std::shared_ptr<Fusion>, int64_t, bool>(), "fusion"_a, "fusion_id"_a = 0,
         "auto_schedule"_a = true,
         R"(A cache without kernels.

Parameters
----------
fusion : Fusion
    The definition, which belongs to the cache from now on and must not be changed any more.
fusion_id : int
    Part of the names of kernels.
auto_schedule : bool
    Whether to schedule the fusion; if not it is compiled as it is.
)")
      .def("fusion", &FusionExecutorCache::fusion, "The definition.")
      .def(
          "set_definition_is_printed", &FusionExecutorCache::set_definition_is_printed,
          "NVFUSER_DUMP=python_definition prints no more of it: its frontend did.");
  bind_running(cls);
  cls.def(
      "is_compiled",
      [](FusionExecutorCache& self, const nb::object& inputs, int64_t /*device*/) {
        const PythonArguments arguments(inputs);
        const GilRelease no_gil;
        return self.is_compiled(arguments.args());
      },
      "inputs"_a, "device"_a = 0,
      nb::sig(
          "def is_compiled(self, inputs: collections.abc.Iterable[object], "
          "device: int = 0) -> bool"),
      R"(Whether a run with these inputs would compile nothing; not if they do not fit.

Parameters
----------
inputs : iterable
    As in `execute`.
device : int
    Has no effect: the inputs say where a run takes place.
)");
  bind_inspection(cls);
  internal_module(m).def(
      "report_of_piece", &report_of_piece, "fusion"_a, "inputs"_a, "params"_a,
      nb::sig(
          "def report_of_piece(fusion: nvfuser_direct._core.Fusion, "
          "inputs: collections.abc.Iterable[object], "
          "params: nvfuser_direct._core.HeuristicParams) -> nvfuser_direct._core.PieceReport"),
      "How a fusion would be computed as one segment, if its first scheduler had decided on these "
      "params: nothing runs.");
  bind_segment_schedules(m, cls);
  bind_shortcut_method(m);
}

} // namespace nvfuser::python
