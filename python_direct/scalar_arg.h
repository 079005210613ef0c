// Arguments that take more than one kind of Python value.
#pragma once

#include <nanobind/nanobind.h>

#include <complex>
#include <variant>
#include <vector>

#include "ir/fusion.h"
#include "statement_caster.h"

namespace nvfuser::python {

/// A scalar: a Val that is no tensor, or a Python number. The number becomes a constant only when
/// the chosen overload asks for it, so that trying overloads makes no statements.
class ScalarArg {
 public:
  ScalarArg() = default;
  explicit ScalarArg(Val* val) : val_(val) {}
  explicit ScalarArg(const ScalarValue& value) : value_(value) {}

  /// The Val; a new constant of the active fusion for a number (bool: Bool, int: Int, float:
  /// Double, complex: ComplexDouble); nullptr for None.
  [[nodiscard]] Val* val() const {
    if (val_ != nullptr || !has_value(value_)) {
      return val_;
    }
    return Fusion::active().new_constant(value_, natural_dtype());
  }
  /// As `val`; None is a TypeError.
  [[nodiscard]] Val* require() const;
  [[nodiscard]] bool is_val() const {
    return val_ != nullptr;
  }
  /// The number, if it was one.
  [[nodiscard]] const ScalarValue& value() const {
    return value_;
  }
  /// The type a Python number has by itself.
  [[nodiscard]] DataType natural_dtype() const {
    constexpr DataType kTypes[] = {
        DataType::Null, DataType::Bool, DataType::Int, DataType::Double, DataType::ComplexDouble};
    return kTypes[value_.index()];
  }

 private:
  Val* val_ = nullptr;
  ScalarValue value_;
};

/// A list or tuple of Python ints and Vals: a shape, bounds, pad widths.
class ShapeArg {
 public:
  using Item = std::variant<int64_t, Val*>;
  std::vector<Item> items;
  /// Position of the first item that is neither; -1: none. Reported by `vals`, not while overloads
  /// are tried.
  int64_t bad_item = -1;

  /// Every item as a Val: ints are new Int constants of the active fusion.
  [[nodiscard]] std::vector<Val*> vals() const;
  /// As `vals`; ints below -1 are an error.
  [[nodiscard]] std::vector<Val*> sizes() const;
};

} // namespace nvfuser::python

namespace nanobind::detail {

template <>
struct type_caster<nvfuser::python::ScalarArg> {
  NB_TYPE_CASTER(nvfuser::python::ScalarArg, const_name("nvfuser_direct._core.ScalarLike"))

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    using nvfuser::ScalarValue;
    using nvfuser::python::ScalarArg;
    PyObject* object = src.ptr();
    if (object == Py_None) {
      value = ScalarArg();
    } else if (PyBool_Check(object)) {
      value = ScalarArg(ScalarValue(object == Py_True));
    } else if (PyLong_Check(object)) {
      int overflow = 0;
      const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (overflow != 0) {
        return false;
      }
      value = ScalarArg(ScalarValue(static_cast<int64_t>(number)));
    } else if (PyFloat_Check(object)) {
      value = ScalarArg(ScalarValue(PyFloat_AS_DOUBLE(object)));
    } else if (PyComplex_Check(object)) {
      value = ScalarArg(ScalarValue(
          std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object))));
    } else {
      make_caster<nvfuser::Val> caster;
      if (!caster.from_python(src, flags & ~cast_flags::convert, cleanup)) {
        return false;
      }
      auto* val = static_cast<nvfuser::Val*>(caster);
      if (val == nullptr || !val->is_scalar()) {
        return false;
      }
      value = ScalarArg(val);
    }
    return true;
  }
};

template <>
struct type_caster<nvfuser::python::ShapeArg> {
  NB_TYPE_CASTER(
      nvfuser::python::ShapeArg,
      const_name("list[int | ") + make_caster<nvfuser::Val>::Name + const_name("] | tuple[int | ") +
          make_caster<nvfuser::Val>::Name + const_name(", ...]"))

  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    if (!PyList_Check(src.ptr()) && !PyTuple_Check(src.ptr())) {
      return false;
    }
    const Py_ssize_t size = PySequence_Size(src.ptr());
    value.items.clear();
    for (Py_ssize_t i = 0; i < size; ++i) {
      object item = steal(PySequence_GetItem(src.ptr(), i));
      int64_t number = 0;
      nvfuser::Val* val = nullptr;
      if (try_cast<int64_t>(item, number)) {
        value.items.emplace_back(number);
      } else if (try_cast<nvfuser::Val*>(item, val) && val != nullptr) {
        value.items.emplace_back(val);
      } else {
        PyErr_Clear();
        value.bad_item = static_cast<int64_t>(i);
        return true;
      }
    }
    return true;
  }
};

} // namespace nanobind::detail
