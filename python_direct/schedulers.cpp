// Automatic schedulers: functions of the submodule `schedule`.
#include <nanobind/stl/unique_ptr.h>

#include "bindings.h"
#include "dlpack_exchange.h"
#include "runtime/run_facts.h"
#include "schedule/table.h"
#include "target_names.h"

namespace nvfuser::python {
namespace {

using TargetName = std::optional<std::string>;

schedule::RunFacts facts_of(
    Fusion& fusion, const PythonArguments& arguments, const TargetName& target) {
  return find_run_facts(fusion, arguments.args(), target_by_name(target));
}

std::pair<bool, std::string> can_schedule(
    Fusion& fusion, SchedulerType type, const nb::object& inputs, const TargetName& target) {
  const PythonArguments arguments(inputs);
  const schedule::RunFacts facts = facts_of(fusion, arguments, target);
  const schedule::FusionSummary summary(fusion);
  const std::optional<Refusal> refusal = schedule::find_refusal(type, summary, facts);
  return {!refusal, refusal ? schedule::rejection_text(type, *refusal) : ""};
}

std::vector<SchedulerType> find_compatible_schedulers(
    Fusion& fusion, const nb::object& inputs, const TargetName& target) {
  const PythonArguments arguments(inputs);
  const schedule::RunFacts facts = facts_of(fusion, arguments, target);
  return schedule::find_compatible_schedulers(schedule::FusionSummary(fusion), facts);
}

std::unique_ptr<HeuristicParams> compute_heuristics(
    Fusion& fusion, SchedulerType type, const nb::object& inputs, const TargetName& target) {
  const PythonArguments arguments(inputs);
  const schedule::RunFacts facts = facts_of(fusion, arguments, target);
  return schedule::compute_heuristics(type, schedule::FusionSummary(fusion), facts);
}

std::unique_ptr<HeuristicParams> schedule_for_inputs(
    Fusion& fusion, SchedulerType type, const nb::object& inputs, const TargetName& target) {
  const PythonArguments arguments(inputs);
  const schedule::RunFacts facts = facts_of(fusion, arguments, target);
  schedule::FusionSummary summary(fusion);
  return schedule::schedule(type, summary, facts);
}

std::optional<schedule::CostEstimate> estimate_cost(
    Fusion& fusion,
    const HeuristicParams& params,
    const nb::object& inputs,
    const TargetName& target) {
  const PythonArguments arguments(inputs);
  const schedule::RunFacts facts = facts_of(fusion, arguments, target);
  return schedule::estimate_cost(schedule::FusionSummary(fusion), params, facts);
}

void schedule_with_params(Fusion& fusion, SchedulerType type, const HeuristicParams& params) {
  schedule::FusionSummary summary(fusion);
  schedule::schedule(type, summary, params);
}

// -- documentation: what the functions have in common --

constexpr const char* kFusion = R"(fusion : Fusion
    A definition without a schedule.
)";
constexpr const char* kScheduler = R"(scheduler_type : SchedulerType
    The scheduler that is asked.
)";
constexpr const char* kInputs = R"(inputs : iterable
    Inputs of a run: their sizes, strides and addresses count.
)";
constexpr const char* kTarget = R"(target : str, optional
    "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.
)";
constexpr const char* kRaises = R"(
Raises
------
UserError
    If the scheduler does not take the fusion, with its reason.
)";

std::string documented(
    const char* summary,
    const std::initializer_list<const char*> parameters,
    const std::initializer_list<const char*> sections = {}) {
  std::string text = summary;
  text += "\n\nParameters\n----------\n";
  for (const auto& list : {parameters, sections}) {
    for (const char* part : list) {
      text += part;
    }
  }
  return text;
}

void bind_cost_estimate(nb::module_& m) {
  using schedule::CostEstimate;
  nb::class_<CostEstimate>(
      m, "CostEstimate",
      "The time that a kernel on a GPU is expected to take. It ranks params; it is no prediction.")
      .def_ro(
          "blocks_of_sm", &CostEstimate::blocks_of_sm,
          "Blocks that a multiprocessor has at the same time; 0: none fits.")
      .def_ro(
          "bytes_in_flight", &CostEstimate::bytes_in_flight,
          "Loads of a multiprocessor that are under way together.")
      .def_ro("waves", &CostEstimate::waves, "Rounds of blocks, each as many as the GPU holds.")
      .def_ro(
          "efficiency", &CostEstimate::efficiency,
          "Share of the whole that the last round, and multiprocessors without a block, leave.")
      .def_ro("memory_us", &CostEstimate::memory_us, "Microseconds of loads and stores.")
      .def_ro("issue_us", &CostEstimate::issue_us, "Microseconds of instructions.")
      .def_ro(
          "special_us", &CostEstimate::special_us,
          "Microseconds of exponentials, reciprocals and their like.")
      .def_ro("barriers_us", &CostEstimate::barriers_us, "Microseconds of waits for others.")
      .def_ro("total_us", &CostEstimate::total_us, "Microseconds in all.")
      .def("bound", &CostEstimate::bound, R"(The part that takes longest.

Returns
-------
str
    "memory", "latency" (memory, with too few loads under way), "issue" or "special functions".
)")
      .def("__str__", &CostEstimate::to_string);
}

} // namespace

void bind_schedulers(nb::module_& m) {
  nb::module_ schedule = m.def_submodule("schedule");
  bind_cost_estimate(m);
  schedule.def(
      "can_schedule", &can_schedule, "fusion"_a, "scheduler_type"_a, "inputs"_a,
      "target"_a = nb::none(),
      nb::sig(
          "def can_schedule(fusion: nvfuser_direct._core.Fusion, "
          "scheduler_type: nvfuser_direct._core.SchedulerType, "
          "inputs: collections.abc.Iterable[object], target: str | None = None) "
          "-> tuple[bool, str]"),
      documented(
          "Whether a scheduler takes a fusion, for inputs like these.",
          {kFusion, kScheduler, kInputs, kTarget}, {R"(
Returns
-------
tuple[bool, str]
    The answer, and why it is no.
)"})
          .c_str());
  schedule.def(
      "find_compatible_schedulers", &find_compatible_schedulers, "fusion"_a, "inputs"_a,
      "target"_a = nb::none(),
      nb::sig(
          "def find_compatible_schedulers(fusion: nvfuser_direct._core.Fusion, "
          "inputs: collections.abc.Iterable[object], target: str | None = None) "
          "-> list[nvfuser_direct._core.SchedulerType]"),
      documented(
          "The schedulers that take a fusion, in the order of preference.",
          {kFusion, kInputs, kTarget})
          .c_str());
  schedule.def(
      "compute_heuristics", &compute_heuristics, "fusion"_a, "scheduler_type"_a, "inputs"_a,
      "target"_a = nb::none(),
      nb::sig(
          "def compute_heuristics(fusion: nvfuser_direct._core.Fusion, "
          "scheduler_type: nvfuser_direct._core.SchedulerType, "
          "inputs: collections.abc.Iterable[object], target: str | None = None) "
          "-> nvfuser_direct._core.HeuristicParams"),
      documented(
          "Find what a scheduler decides for a fusion, which stays as it is.",
          {kFusion, kScheduler, kInputs, kTarget},
          {R"(
Returns
-------
HeuristicParams
    Params to read, edit, and give to `schedule`.
)",
           kRaises})
          .c_str());
  schedule.def(
      "estimate_cost", &estimate_cost, "fusion"_a, "heuristic_params"_a, "inputs"_a,
      "target"_a = nb::none(),
      nb::sig(
          "def estimate_cost(fusion: nvfuser_direct._core.Fusion, "
          "heuristic_params: nvfuser_direct._core.HeuristicParams, "
          "inputs: collections.abc.Iterable[object], target: str | None = None) "
          "-> nvfuser_direct._core.CostEstimate | None"),
      documented(
          "Estimate the cost of params for inputs like these.",
          {kFusion, R"(heuristic_params : HeuristicParams
    Of `compute_heuristics`, or edited.
)",
           kInputs, kTarget},
          {R"(
Returns
-------
CostEstimate or None
    None where the scheduler has no model of costs, and for processors.
)"})
          .c_str());
  schedule.def(
      "schedule", &schedule_with_params, "fusion"_a, "scheduler_type"_a, "heuristic_params"_a,
      documented(
          "Schedule a fusion in place, with the primitives that this module has.",
          {kFusion, kScheduler, R"(inputs : iterable
    Inputs of a run, which params are computed from and returned.
heuristic_params : HeuristicParams
    Instead of inputs: params that were computed before, or edited.
)",
           kTarget},
          {kRaises})
          .c_str());
  schedule.def(
      "schedule", &schedule_for_inputs, "fusion"_a, "scheduler_type"_a, "inputs"_a,
      "target"_a = nb::none(),
      nb::sig(
          "def schedule(fusion: nvfuser_direct._core.Fusion, "
          "scheduler_type: nvfuser_direct._core.SchedulerType, "
          "inputs: collections.abc.Iterable[object], target: str | None = None) "
          "-> nvfuser_direct._core.HeuristicParams"));
}

} // namespace nvfuser::python
