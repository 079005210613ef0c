// How one shape becomes another, step by step: explain_reshape, ReshapeWalk.
#include "ops/reshape_walk.h"

#include "bindings.h"

namespace nvfuser::python {
namespace {

using ops::ExplainedWalk;

ExplainedWalk explain_reshape(
    const std::vector<int64_t>& old_shape,
    const std::vector<int64_t>& new_shape,
    const std::optional<std::vector<bool>>& is_removable) {
  return ops::explain_walk(
      old_shape, new_shape, is_removable.value_or(std::vector<bool>(old_shape.size(), true)));
}

} // namespace

void bind_reshape_walk(nb::module_& m) {
  nb::class_<ExplainedWalk>(
      m, "ReshapeWalk", "How one shape becomes another. Its text is a table of all steps.")
      .def_prop_ro(
          "squeezes", [](const ExplainedWalk& self) { return self.walk.squeezes; },
          "Dimensions of size one that go: positions in the operand, ascending.")
      .def_prop_ro(
          "transforms",
          [](const ExplainedWalk& self) { return ops::texts_of(self.walk.transforms); },
          "Merges and splits in their order, as \"merge(position)\" and \"split(position, "
          "factor)\"; each position counts after the squeezes and after the steps before it.")
      .def_prop_ro(
          "broadcasts", [](const ExplainedWalk& self) { return self.walk.broadcasts; },
          "New dimensions of size one: positions in the result, ascending.")
      .def("__str__", &ExplainedWalk::to_string);
  m.def(
      "explain_reshape", &explain_reshape, "old_shape"_a, "new_shape"_a,
      "is_removable"_a = nb::none(),
      R"(Explain how a reshape is done, step by step. Nothing is defined.

Both shapes are read from left to right. A step keeps a dimension, merges it with the next one,
splits off a constant factor, or lets dimensions of size one go or come.

Parameters
----------
old_shape : list[int]
    Sizes of the operand, at least 1.
new_shape : list[int]
    Sizes of the result; one may be -1.
is_removable : list[bool], optional
    By dimension of the operand: whether it goes if its size is 1, as broadcasts do. An ordinary
    dimension stays in the index. By default all may go.

Returns
-------
ReshapeWalk

Raises
------
UserError
    If the shapes have different numbers of elements, or none at all.
)");
}

} // namespace nvfuser::python
