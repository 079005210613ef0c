// Operations that make a tensor from scalars.
#include "op_binding.h"
#include "ops/create.h"

namespace nvfuser::python {
namespace {

void bind_filled(OpModule& m) {
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

void bind_sequences(OpModule& m) {
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

/// Scalars in nested lists, in row-major order.
struct NestedScalars {
  static constexpr size_t kMaxDims = 64; // a list may hold itself
  std::vector<Val*> elements;
  std::vector<int64_t> shape;

  void read(nb::handle item, size_t depth = 0) {
    if (!nb::isinstance<nb::list>(item) && !nb::isinstance<nb::tuple>(item)) {
      NVF_USER_CHECK(depth == shape.size(), "tensor: lists beside each other differ in depth.");
      ScalarArg scalar;
      if (!nb::try_cast(item, scalar)) {
        throw UserError(
            {"tensor: expected scalars or numbers, but got ", nb::type_name(item.type()).c_str()},
            ErrorKind::Type);
      }
      elements.push_back(scalar.require());
      return;
    }
    NVF_USER_CHECK(depth < kMaxDims, "tensor: lists in lists are more than ", kMaxDims, " deep.");
    const auto size = static_cast<int64_t>(nb::len(item));
    if (depth == shape.size() && elements.empty()) {
      shape.push_back(size);
    }
    NVF_USER_CHECK(
        depth < shape.size() && size == shape[depth],
        "tensor: lists beside each other differ in length or depth.");
    for (const nb::handle inner : item) {
      read(inner, depth + 1);
    }
  }
};

void bind_eye(OpModule& m) {
  const char* doc = R"(A matrix with ones on the diagonal and zeros elsewhere.

Parameters
----------
rows, cols : scalar Val or int
    Its shape; without `cols` it is square.
dtype : DataType
    Type of the elements.
)";
  m.def(
      "eye",
      [](const ScalarArg& rows, const ScalarArg& cols, DataType dtype) {
        Val* height = rows.require();
        return ops::eye(height, cols.val(), dtype);
      },
      "rows"_a, "cols"_a = nb::none(), "dtype"_a = DataType::Float, doc);
  m.def(
      "eye",
      [](const ScalarArg& rows, DataType dtype) {
        return ops::eye(rows.require(), nullptr, dtype);
      },
      "rows"_a, "dtype"_a, doc);
}

void bind_given(OpModule& m) {
  m.def(
      "tensor",
      [](const nb::object& array, DataType dtype) {
        NestedScalars scalars;
        scalars.read(array);
        return ops::tensor(scalars.elements, scalars.shape, dtype);
      },
      "array"_a, "dtype"_a = DataType::Null,
      nb::sig(
          "def tensor(array: object, dtype: nvfuser_direct._core.DataType = "
          "nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView"),
      R"(A tensor of given elements.

Parameters
----------
array : nested lists of scalar Vals and numbers
    The elements; a scalar alone makes a 0-dim tensor.
dtype : DataType
    Type of the elements; Null: the one that holds all of them.

Raises
------
UserError
    If lists beside each other differ in length, or there is no element.
)");
}

} // namespace

void bind_create_ops(OpModule& m) {
  bind_filled(m);
  bind_sequences(m);
  bind_eye(m);
  bind_given(m);
}

} // namespace nvfuser::python
