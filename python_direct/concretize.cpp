// Dynamic shapes: the record of what they come out as, and the fusion it leads to.
#include "transform/concretize.h"

#include "bindings.h"
#include "dlpack_exchange.h"
#include "runtime/arguments.h"
#include "runtime/paired_tensor.h"

namespace nvfuser::python {
namespace {

/// Knows the sizes and scalars among the inputs. Which axes correspond shows only once the shapes
/// are resolved, so sizes are not held against each other here.
ExpressionEvaluator bound_to(const Fusion& fusion, const nb::object& inputs) {
  const PythonArguments arguments(inputs);
  static_cast<void>(check_arguments(fusion, arguments.args()));
  ExpressionEvaluator evaluator;
  const UnpairedArguments elements(fusion, arguments.args());
  static_cast<void>(bind_arguments(fusion, elements.args(), {}, evaluator));
  return evaluator;
}

} // namespace

void bind_concretize(nb::module_& m) {
  nb::module_ internal = internal_module(m);
  nb::class_<Concretization>(
      m, "Concretization",
      "How the dynamic shapes of a fusion come out: the squeezes, merges, splits and new "
      "dimensions "
      "of every reshape, and which axes are broadcasts. Equal for all inputs that share "
      "one concretized fusion.")
      .def(
          "__eq__",
          [](const Concretization& self, const Concretization& other) { return self == other; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", &Concretization::hash)
      .def("__str__", &Concretization::to_string)
      .def("__repr__", &Concretization::to_string);
  m.def(
      "has_dynamic_shapes", &has_dynamic_shapes, "fusion"_a,
      "Whether axes of a fusion are symbolic: what they are shows when sizes are known.");
  internal.def(
      "size_inputs", &size_inputs, "fusion"_a,
      "Positions of the scalar inputs that sizes are computed from.");
  m.def(
      "find_concretization",
      [](const Fusion& fusion, const nb::object& inputs) {
        ExpressionEvaluator evaluator = bound_to(fusion, inputs);
        return find_concretization(fusion, evaluator);
      },
      "fusion"_a, "inputs"_a,
      R"(Find how the dynamic shapes of a fusion come out.

Parameters
----------
fusion : Fusion
    The definition.
inputs : iterable
    Inputs of a run; only sizes and scalars are looked at.

Returns
-------
Concretization
    Empty where the fusion has no dynamic shapes.

Raises
------
UserError
    For inputs that do not fit, and for a reshape or expand that is impossible with these sizes.
)");
  m.def(
      "try_find_concretization",
      [](const Fusion& fusion, const nb::object& inputs) {
        ExpressionEvaluator evaluator = bound_to(fusion, inputs);
        return try_find_concretization(fusion, evaluator);
      },
      "fusion"_a, "inputs"_a,
      R"(As `find_concretization`; a reshape or expand that is impossible is returned as a refusal.

Parameters
----------
fusion : Fusion
    The definition.
inputs : iterable
    Inputs of a run; only sizes and scalars are looked at.

Returns
-------
Concretization or Refusal
    What the shapes come out as, or why they do not.
)");
  m.def(
      "concretize",
      [](const Fusion& fusion, const Concretization& concretization) {
        std::shared_ptr<Fusion> result = fusion.clone();
        concretize(*result, concretization);
        return result;
      },
      "fusion"_a, "concretization"_a,
      R"(A copy of a fusion with its dynamic shapes resolved.

Parameters
----------
fusion : Fusion
    The definition, not scheduled.
concretization : Concretization
    What `find_concretization` returned for it.

Returns
-------
Fusion
    Without symbolic axes; tensors keep their names.
)");
  internal.def(
      "find_unequal_sizes",
      [](const Fusion& fusion, const nb::object& inputs) {
        ExpressionEvaluator evaluator = bound_to(fusion, inputs);
        return find_unequal_sizes(fusion, evaluator);
      },
      "fusion"_a, "inputs"_a,
      "The refusal that `check_meeting_sizes` raises; None: all sizes match.");
  internal.def(
      "check_meeting_sizes",
      [](const Fusion& fusion, const nb::object& inputs) {
        ExpressionEvaluator evaluator = bound_to(fusion, inputs);
        check_meeting_sizes(fusion, evaluator);
      },
      "fusion"_a, "inputs"_a,
      R"(Hold the sizes of axes that meet in an expression against each other.

Parameters
----------
fusion : Fusion
    A definition without dynamic shapes.
inputs : iterable
    Inputs of a run.

Raises
------
UserError
    ``Expected sizes to match``, naming both axes; for inputs that do not fit their definitions.
)");
}

} // namespace nvfuser::python
