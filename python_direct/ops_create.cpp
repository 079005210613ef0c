// Operations that make a tensor from scalars.
#include "op_binding.h"
#include "ops/create.h"

namespace nvfuser::python {
namespace {

void bind_filled(nb::module_& m) {
  m.def(
      "full",
      [](const ShapeArg& shape, const ScalarArg& fill_value, DataType dtype) {
        const std::vector<Val*> sizes = shape.sizes();
        return ops::full(sizes, fill_value.require(), dtype);
      },
      "shape"_a, "fill_value"_a, "dtype"_a,
      R"(A tensor of equal elements.

Parameters
----------
shape : list[int or Val]
    Its shape.
fill_value : scalar Val or number
    Every element, converted to `dtype`.
dtype : DataType
    Type of the elements.
)");
  m.def(
      "zeros",
      [](const ShapeArg& shape, DataType dtype) { return ops::zeros(shape.sizes(), dtype); },
      "shape"_a, "dtype"_a = DataType::Float, "As `full` with 0.");
  m.def(
      "ones", [](const ShapeArg& shape, DataType dtype) { return ops::ones(shape.sizes(), dtype); },
      "shape"_a, "dtype"_a = DataType::Float, "As `full` with 1.");
  m.def(
      "full_like",
      [](TensorView* arg, const ScalarArg& fill_value, DataType dtype) {
        return ops::full_like(arg, fill_value.require(), dtype);
      },
      "arg"_a, "fill_value"_a, "dtype"_a = DataType::Null,
      R"(A tensor of equal elements in the shape of another.

Parameters
----------
arg : TensorView
    Gives the shape.
fill_value : scalar Val or number
    Every element.
dtype : DataType
    Type of the elements; Null: that of `arg`.
)");
  m.def("zeros_like", &ops::zeros_like, "arg"_a, "As `full_like` with 0.");
  m.def("ones_like", &ops::ones_like, "arg"_a, "As `full_like` with 1.");
}

void bind_sequences(nb::module_& m) {
  m.def(
      "iota",
      [](const ScalarArg& length, const ScalarArg& start, const ScalarArg& step, DataType dtype) {
        Val* count = length.require();
        Val* first = start.val();
        return ops::iota(count, first, step.val(), dtype);
      },
      "length"_a, "start"_a = nb::none(), "step"_a = nb::none(), "dtype"_a = DataType::Int,
      R"(start + i * step for i in [0, length).

Parameters
----------
length : scalar Val or int
    Number of elements.
start, step : scalar Val, number or None
    First element (None: 0) and difference of neighbours (None: 1), of the class of `dtype`.
dtype : DataType
    Type of the elements.
)");
  m.def(
      "arange",
      [](const ScalarArg& start, const ScalarArg& end, const ScalarArg& step, DataType dtype) {
        Val* first = start.val();
        Val* last = end.require();
        return ops::arange(first, last, step.val(), dtype);
      },
      "start"_a.none(), "end"_a, "step"_a = nb::none(), "dtype"_a = DataType::Int,
      R"(start, start + step, ... before `end`.

Parameters
----------
start, end, step : scalar Val, number or None
    Bounds (start None: 0) and difference of neighbours (None: 1), of the class of `dtype`.
dtype : DataType
    Type of the elements.
)");
}

} // namespace

void bind_create_ops(nb::module_& m) {
  bind_filled(m);
  bind_sequences(m);
}

} // namespace nvfuser::python
