// Steps of a schedule: primitives with their arguments.
#include "bindings.h"
#include "ir/all_nodes.h"
#include "record_caster.h"
#include "transform/apply_step.h"

template <>
struct nanobind::detail::type_caster<nvfuser::ScheduleStep>
    : nvfuser::python::RecordCaster<nvfuser::ScheduleStep, &nvfuser::ScheduleStep::tensor> {};

namespace nvfuser::python {
namespace {

nb::dict arguments_of(const ScheduleStep& step) {
  nb::dict arguments;
  std::visit(
      [&](const auto& call) {
        for_each_arg(call, [&](const auto& field, const auto& value) {
          arguments[field.name] = nb::cast(value);
        });
      },
      step.call);
  return arguments;
}

} // namespace

void bind_schedule_steps(nb::module_& m) {
  nb::class_<ScheduleStep>(
      m, "ScheduleStep", "A scheduling primitive that was applied to a tensor.")
      .def_ro("tensor", &ScheduleStep::tensor, "The tensor it was applied to.")
      .def_prop_ro("primitive", &ScheduleStep::name, "Its name: \"split\".")
      .def_prop_ro(
          "arguments", &arguments_of, nb::sig("def arguments(self) -> dict[str, object]"),
          "Values of all parameters by name, also of those that had their default.")
      .def_prop_ro(
          "location", [](const ScheduleStep& self) { return self.location.str(); },
          "The line that applied it.")
      .def(
          "apply_to",
          [](const ScheduleStep& self, TensorView* tensor) {
            return apply_step(tensor, self.call);
          },
          "tensor"_a, R"(Apply the primitive with the same arguments to a tensor of the same fusion.

Parameters
----------
tensor : TensorView
    The tensor.

Returns
-------
list[TensorView]
    The tensors that it made: caches, and those that `rfactor` returns.

Raises
------
UserError
    As the primitive.
)")
      .def("__str__", &ScheduleStep::text)
      .def("__repr__", &ScheduleStep::text);
  nb::borrow<nb::class_<TensorView>>(m.attr("TensorView"))
      .def(
          "recorded_steps", [](const TensorView& self) { return self.schedule_steps(); },
          "The steps of `schedule_steps` as values.");
  internal_module(m).def(
      "schedule_primitives", &schedule_primitives,
      "Names of the primitives that tensors record, as `TensorView.schedule_steps` has them.");
}

} // namespace nvfuser::python
