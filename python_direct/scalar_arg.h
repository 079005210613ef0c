// Arguments that take more than one kind of Python value.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "ir/fusion.h"
#include "python_number.h"
#include "statement_caster.h"

namespace nvfuser::python {

/// A scalar: a Val that is no tensor, or a Python number. The number becomes a constant only when
/// the chosen overload asks for it, so that trying overloads makes no statements.
class ScalarArg {
 public:
  ScalarArg() = default;
  explicit ScalarArg(Val* val) : val_(val) {}
  explicit ScalarArg(const PythonNumber& number) : number_(number) {}

  [[nodiscard]] bool is_val() const {
    return val_ != nullptr;
  }
  /// The Val; for a number, a new constant of the active fusion, of the number's own type; nullptr
  /// for None.
  [[nodiscard]] Val* val() const;
  /// As `val`; None is a TypeError.
  [[nodiscard]] Val* require() const;
  /// A new constant of the active fusion with the number converted to `dtype`. Throws UserError if
  /// that type cannot hold it.
  [[nodiscard]] Val* constant(DataType dtype) const;
  /// As `val` for a scalar that says yes or no: 1 and 0 are True and False.
  [[nodiscard]] Val* flag() const;
  /// The number, if it is an int. Throws UserError for one that an Int cannot hold.
  [[nodiscard]] std::optional<int64_t> integer() const;
  /// The type that the number has by itself; Null for None.
  [[nodiscard]] DataType natural_dtype() const {
    return number_.type;
  }

 private:
  Val* val_ = nullptr;
  PythonNumber number_;
};

/// As ScalarArg, but it takes tensors: for operations that refuse them in words of their own.
class CheckedScalarArg : public ScalarArg {
  using ScalarArg::ScalarArg;
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

template <typename Arg>
struct scalar_arg_caster {
  NB_TYPE_CASTER(Arg, const_name("nvfuser_direct._core.ScalarLike"))

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (src.is_none()) {
      value = Arg();
      return true;
    }
    // Statements first: they are more frequent, and cheaper to tell from all else.
    make_caster<nvfuser::Val> caster;
    if (caster.from_python(src, flags & ~cast_flags::convert, cleanup)) {
      auto* val = static_cast<nvfuser::Val*>(caster);
      value = Arg(val);
      constexpr bool kTakesTensors = std::is_same_v<Arg, nvfuser::python::CheckedScalarArg>;
      return val->is_scalar() || (kTakesTensors && val->is_tensor());
    }
    const auto number = nvfuser::python::read_number(src);
    if (!number) {
      return false;
    }
    value = Arg(*number);
    return true;
  }
};

template <>
struct type_caster<nvfuser::python::ScalarArg> : scalar_arg_caster<nvfuser::python::ScalarArg> {};
template <>
struct type_caster<nvfuser::python::CheckedScalarArg>
    : scalar_arg_caster<nvfuser::python::CheckedScalarArg> {};

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
    value.items.clear();
    // The size is asked for each time: converting an item may run code that shortens the list.
    for (Py_ssize_t i = 0; i < PySequence_Size(src.ptr()); ++i) {
      const object item = steal(PySequence_GetItem(src.ptr(), i));
      if (!item.is_valid()) {
        PyErr_Clear();
        return false;
      }
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
