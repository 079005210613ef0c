// How params of schedulers, and records in them, become classes of Python: all of it derives from
// their fields.
#pragma once

#include <tuple>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings.h"
#include "schedule/params/heuristic_params.h"

namespace nvfuser::python {

void bind_matmul_params(nb::module_& m); // by bind_heuristic_params

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
    if constexpr (HasFields<T>) { // its parts can be edited in place
      cls.def_rw(field.name, field.member, field.doc);
    } else {
      cls.def_prop_rw(
          field.name,
          [member = field.member](const ParamsOf<Choice>& self) { return self.*member; },
          [member = field.member](ParamsOf<Choice>& self, const T& value) { self.*member = value; },
          field.doc);
    }
  });
  bind_copies(cls);
  return cls;
}

} // namespace nvfuser::python
