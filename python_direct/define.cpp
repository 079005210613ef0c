// Tensors and scalars that come from outside.
#include "ops/define.h"
#include "ops/shape.h"

#include "all_or_nothing.h"
#include "bindings.h"

namespace nvfuser::python {
namespace {

/// A list of integers of any class, but not of flags. It is taken at once, without conversions, so
/// that ``[8, 1]`` beside sizes is a list of strides before it could be one of flags.
struct IntegerList {
  std::vector<int64_t> items;
};

} // namespace
} // namespace nvfuser::python

namespace nanobind::detail {

template <>
struct type_caster<nvfuser::python::IntegerList> {
  NB_TYPE_CASTER(nvfuser::python::IntegerList, make_caster<std::vector<int64_t>>::Name)

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    const object items = steal(PySequence_Fast(source.ptr(), ""));
    if (!items.is_valid() || PyUnicode_Check(source.ptr()) != 0) {
      PyErr_Clear();
      return false;
    }
    value.items.clear();
    for (Py_ssize_t i = 0; i < PySequence_Size(items.ptr()); ++i) {
      const object item = steal(PySequence_GetItem(items.ptr(), i));
      make_caster<int64_t> integer;
      if (!item.is_valid() || PyBool_Check(item.ptr()) ||
          !integer.from_python(item, flags | cast_flags::convert, cleanup)) {
        PyErr_Clear();
        return false;
      }
      value.items.push_back(integer.value);
    }
    return true;
  }
};

} // namespace nanobind::detail

namespace nvfuser::python {
namespace {

void bind_define_tensor(nb::module_& m) {
  m.def(
      "define_tensor",
      all_or_nothing(
          nb::overload_cast<
              const std::vector<int64_t>&, const Contiguity&, DataType, bool,
              const std::vector<int64_t>&>(&define_tensor)),
      "shape"_a, "contiguity"_a, "dtype"_a = DataType::Float, "is_cpu"_a = false,
      "stride_order"_a = std::vector<int64_t>{},
      R"(A tensor of the active fusion; not registered as an input.

Parameters
----------
shape : list[int]
    Size per dimension: -1 symbolic, 1 broadcast, 0 or n > 1 constant.
contiguity : list[bool or None]
    Per dimension in allocation order (outermost stride first): whether the stride is the size of
    everything inside it; None for a broadcast, an expanded one where the size is not 1.
dtype : DataType
    Type of the elements.
is_cpu : bool
    A 0-dim tensor on the host, passed by value.
stride_order : list[int]
    Rank of every dimension's stride, 0 varies fastest; empty: row-major.
)");
  m.def(
      "define_tensor",
      all_or_nothing(
          nb::overload_cast<
              const std::vector<int64_t>&, bool, DataType, bool, const std::vector<int64_t>&>(
              &define_tensor)),
      "shape"_a, "contiguity"_a = false, "dtype"_a = DataType::Float, "is_cpu"_a = false,
      "stride_order"_a = std::vector<int64_t>{},
      R"(As above, with one flag for every dimension that has a stride.

Parameters
----------
contiguity : bool
    The flag; dimensions of size 1 get None.
)");
  m.def(
      "define_tensor",
      all_or_nothing([](const IntegerList& sizes, const IntegerList& strides, DataType dtype,
                        bool static_sizes, bool is_cpu) {
        return define_tensor_like(sizes.items, strides.items, dtype, static_sizes, is_cpu);
      }),
      "sizes"_a, "strides"_a, "dtype"_a = DataType::Float, "static_sizes"_a = false,
      "is_cpu"_a = false,
      R"(A tensor like one that exists.

Parameters
----------
sizes : list[int]
    Real sizes. They become symbolic, except for 1.
strides : list[int]
    Real strides (elements); they decide contiguity and stride order.
dtype : DataType
    Type of the elements.
static_sizes : bool
    Keep the sizes as constants.
is_cpu : bool
    A 0-dim tensor on the host, passed by value.
)");
  m.def(
      "define_tensor",
      all_or_nothing(nb::overload_cast<int64_t, DataType, bool>(&define_symbolic_tensor)),
      "ndims"_a, "dtype"_a = DataType::Float, "is_cpu"_a = false,
      R"(A tensor with `ndims` symbolic dimensions of any stride: the form of older programs.
)");
  for (const char* contiguity : {"contiguous", "contiguity"}) {
    m.def(
        "define_tensor",
        all_or_nothing(
            nb::overload_cast<const std::vector<int64_t>&, Contiguity, DataType, bool>(
                &define_symbolic_tensor)),
        "symbolic_sizes"_a, nb::arg(contiguity), "dtype"_a = DataType::Float, "is_cpu"_a = false,
        R"(The form of older programs: sizes are -1 or 1, a flag for a size of 1 is ignored.
)");
  }
}

void bind_define_scalar(nb::module_& m) {
  m.def(
      "define_scalar", nb::overload_cast<DataType>(&define_scalar), "dtype"_a = DataType::Double,
      R"(A symbolic scalar of the active fusion; not registered as an input.

Parameters
----------
dtype : DataType
    Its type.
)");
  m.def(
      "define_scalar",
      [](const ScalarArg& value, std::optional<DataType> dtype) {
        if (value.is_val()) {
          throw nb::next_overload();
        }
        const bool is_symbolic = value.natural_dtype() == DataType::Null;
        return is_symbolic ? define_scalar(dtype.value_or(DataType::Double))
                           : value.constant(dtype.value_or(value.natural_dtype()));
      },
      "value"_a.none(), "dtype"_a = nb::none(),
      nb::sig(
          "def define_scalar(value: bool | int | float | complex | None, "
          "dtype: DataType | None = None) -> Val"),
      R"(A constant.

Parameters
----------
value : bool, int, float, complex or None
    The number, also as a scalar of NumPy; None makes a symbolic scalar.
dtype : DataType, optional
    Convert to this type; otherwise bool is Bool, int Int (UInt64 from 2**63 on), float Double,
    complex ComplexDouble.

Raises
------
UserValueError
    If the type cannot hold the number: an imaginary part, NaN or an infinity as an integer, a
    number out of the range of an integer type.
)");
}

} // namespace

void bind_define(nb::module_& m) {
  internal_module(m).def(
      "store_in_order", &ops::store_in_order, "tensor"_a, "stride_order"_a,
      "Let a result be stored in an order of memory, as a part of the definition. 0 is the "
      "fastest.");
  bind_define_tensor(m);
  bind_define_scalar(m);
  m.def(
      "compute_tensor_descriptor",
      [](const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
        TensorDescriptor descriptor = compute_tensor_descriptor(sizes, strides);
        return std::pair{std::move(descriptor.contiguity), std::move(descriptor.stride_order)};
      },
      "sizes"_a, "strides"_a,
      R"(How a tensor lies in memory.

Parameters
----------
sizes, strides : list[int]
    Of the tensor (elements).

Returns
-------
contiguity : list[bool or None]
    In allocation order: whether a stride is the size of everything inside it; None for broadcasts.
stride_order : list[int]
    Rank of every dimension's stride, 0 varies fastest.
)");
}

} // namespace nvfuser::python
