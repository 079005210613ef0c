// HeuristicParams: what schedulers decide. Attributes are the fields that csrc/schedule/params
// declares.
#include <tuple>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings.h"
#include "schedule/params/greedy_params.h"
#include "schedule/params/plain_params.h"
#include "schedule/params/pointwise_params.h"
#include "schedule/params/reduction_params.h"
#include "schedule/params/transpose_params.h"

namespace nvfuser::python {
namespace {

/// The parts of params in a pickle: the scheduler, the members of all params, and the fields by
/// name.
using ParamsState = std::tuple<
    SchedulerType,
    LaunchParams,
    CompileParams,
    std::string,
    nb::typed<nb::dict, nb::str, nb::object>>;

template <typename Choice>
void bind_copies(nb::class_<ParamsOf<Choice>, HeuristicParams>& cls) {
  using Params = ParamsOf<Choice>;
  cls.def("__copy__", [](const Params& self) { return Params(self); })
      .def(
          "__deepcopy__",
          [](const Params& self, const nb::object& /*memo*/) { return Params(self); }, "memo"_a)
      .def(
          "__getstate__",
          [](const Params& self) {
            nb::dict fields;
            for_each_field<Choice>(
                [&](const auto& field) { fields[field.name] = nb::cast(self.*field.member); });
            return ParamsState(
                self.scheduler_type(), self.lparams, self.cparams, self.tag, std::move(fields));
          })
      .def("__setstate__", [](Params& self, const ParamsState& state) {
        const auto& [scheduler, lparams, cparams, tag, fields] = state;
        auto* params = new (&self) Params(scheduler);
        params->lparams = lparams;
        params->cparams = cparams;
        params->tag = tag;
        for_each_field<Choice>([&](const auto& field) {
          using T = typename std::remove_cvref_t<decltype(field)>::Type;
          params->*field.member = nb::cast<T>(fields[field.name]);
        });
      });
}

/// A class with a property for each field of `Choice`.
template <typename Choice>
nb::class_<ParamsOf<Choice>, HeuristicParams> bind_params(
    nb::module_& m, const char* name, const char* doc) {
  nb::class_<ParamsOf<Choice>, HeuristicParams> cls(m, name, doc);
  cls.def(nb::init<>(), "Params of a schedule that splits, vectorizes and unrolls nothing.");
  for_each_field<Choice>([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Type;
    cls.def_prop_rw(
        field.name, [member = field.member](const ParamsOf<Choice>& self) { return self.*member; },
        [member = field.member](ParamsOf<Choice>& self, const T& value) { self.*member = value; },
        field.doc);
  });
  bind_copies(cls);
  return cls;
}

} // namespace

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
}

} // namespace nvfuser::python
