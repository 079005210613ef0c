// How flags come from Python: as True and False, as NumPy's, and as 1 and 0, which printed programs
// of this API have. Other integers are an error that says so. A tensor's truth is not known while a
// fusion is defined, and strings or floats are no flags.
//
// Lists take integers only where overloads are tried again with conversions: without them, `[4, 1]`
// is a list of sizes or strides.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "python_number.h"

namespace nvfuser::python {

/// Stands for `bool` where nanobind looks for a caster: the one of `bool` itself is fixed.
struct Flag;

/// A number as a flag: true, false, or nothing if it is an integer without that meaning.
[[nodiscard]] inline std::optional<bool> flag_of(const PythonNumber& number) {
  const auto* integer = std::get_if<int64_t>(&number.value);
  if (number.type == DataType::Bool) {
    return std::get<bool>(number.value);
  }
  return integer != nullptr && (*integer == 0 || *integer == 1) ? std::optional(*integer == 1)
                                                                : std::nullopt;
}

[[nodiscard]] inline bool is_flag_or_integer(const PythonNumber& number) {
  return number.type == DataType::Bool || number.type == DataType::Int ||
         number.type == DataType::UInt64;
}

[[noreturn]] inline void throw_no_flag(nb::handle found, std::optional<int64_t> index = {}) {
  throw UserError(
      {"Expected True or False (or 1 or 0), but got ", nb::cast<std::string>(nb::repr(found)),
       index ? " at index " + std::to_string(*index) : std::string()},
      ErrorKind::Type);
}

} // namespace nvfuser::python

namespace nanobind::detail {

template <>
struct intrinsic_type<bool> {
  using type = nvfuser::python::Flag;
};

template <>
struct type_caster<nvfuser::python::Flag> {
  using Value = bool;
  static constexpr auto Name = const_name("bool");
  template <typename T>
  using Cast = bool;

  /// Items of containers: a wrong integer is refused without a text of its own.
  template <typename T>
  [[nodiscard]] bool can_cast() const {
    return value.has_value();
  }

  bool from_python(handle source, uint32_t flags, cleanup_list*) noexcept {
    if (source.ptr() == Py_True || source.ptr() == Py_False) {
      value = source.ptr() == Py_True;
      return true;
    }
    const auto number = nvfuser::python::read_number(source);
    if (!number || !nvfuser::python::is_flag_or_integer(*number)) {
      return false;
    }
    value = nvfuser::python::flag_of(*number);
    wrong = source;
    // While overloads are tried without conversions, another one may take the integer.
    return value.has_value() || (flags & cast_flags::convert) != 0;
  }

  static handle from_cpp(bool source, rv_policy, cleanup_list*) noexcept {
    return handle(source ? Py_True : Py_False).inc_ref();
  }

  explicit operator bool() const {
    if (!value) {
      nvfuser::python::throw_no_flag(wrong);
    }
    return *value;
  }

  std::optional<bool> value;
  handle wrong; // the caller's argument
};

/// A list of flags: vector<bool>, or vector<optional<bool>> where None may stand among them.
template <typename List>
struct flag_list_caster {
  using Value = List;
  static constexpr auto Name = list_caster<List, typename List::value_type>::Name;
  template <typename T>
  using Cast = List;

  template <typename T>
  [[nodiscard]] bool can_cast() const {
    return !wrong.is_valid();
  }

  bool from_python(handle source, uint32_t flags, cleanup_list*) noexcept {
    constexpr bool kTakesNone = !std::is_same_v<typename List::value_type, bool>;
    if (PyUnicode_Check(source.ptr()) != 0 || PyBytes_Check(source.ptr()) != 0) {
      return false;
    }
    const object items = steal(PySequence_Fast(source.ptr(), ""));
    if (!items.is_valid()) {
      PyErr_Clear();
      return false;
    }
    for (Py_ssize_t i = 0; i < PySequence_Size(items.ptr()); ++i) {
      const object item = steal(PySequence_GetItem(items.ptr(), i));
      if (!item.is_valid()) {
        PyErr_Clear();
        return false;
      }
      if constexpr (kTakesNone) {
        if (item.is_none()) {
          value.emplace_back(std::nullopt);
          continue;
        }
      }
      const auto number = nvfuser::python::read_number(item);
      const bool is_flag = number && number->type == nvfuser::DataType::Bool;
      if (!number || !nvfuser::python::is_flag_or_integer(*number) ||
          (!is_flag && (flags & cast_flags::convert) == 0)) {
        return false;
      }
      const std::optional<bool> flag = nvfuser::python::flag_of(*number);
      if (!flag && !wrong.is_valid()) {
        wrong = item;
        wrong_index = static_cast<int64_t>(i);
      }
      value.push_back(flag.value_or(false));
    }
    return true;
  }

  template <typename T>
  static handle from_cpp(T&& source, rv_policy policy, cleanup_list* cleanup) noexcept {
    return list_caster<List, typename List::value_type>::from_cpp(
        std::forward<T>(source), policy, cleanup);
  }

  explicit operator List() {
    if (wrong.is_valid()) {
      nvfuser::python::throw_no_flag(wrong, wrong_index);
    }
    return std::move(value);
  }

  List value;
  object wrong; // the first integer that is no flag
  int64_t wrong_index = 0;
};

template <>
struct type_caster<std::vector<bool>> : flag_list_caster<std::vector<bool>> {};
template <>
struct type_caster<std::vector<std::optional<bool>>>
    : flag_list_caster<std::vector<std::optional<bool>>> {};

} // namespace nanobind::detail
