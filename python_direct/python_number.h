// Numbers as Python writes them: constants of definitions and arguments of runs.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "base/types.h"

namespace nvfuser::python {

namespace nb = nanobind;

/// A number, and the type it has by itself: Bool, Int, Double or ComplexDouble for bool, int, float
/// and complex. An int from 2^63 up to 2^64 - 1 is a UInt64, whose bits `value` holds.
struct PythonNumber {
  ScalarValue value; // none: None
  DataType type = DataType::Null;
  /// An int that 64 bits cannot hold; `value` is the nearest double and `type` Int.
  bool is_too_large = false;
};

/// Reads bool, int, float and complex, scalars of NumPy, and what converts itself through
/// `__index__` or `__float__`; but no tensor, whose value is not known while a fusion is defined.
/// Leaves no Python exception behind.
[[nodiscard]] std::optional<PythonNumber> read_number(nb::handle object) noexcept;

/// The number as a constant of `dtype`. Throws UserError if it is not representable.
[[nodiscard]] ScalarValue value_for(const PythonNumber& number, DataType dtype);

/// A value of `dtype` as Python has it; None for no value.
[[nodiscard]] nb::object to_python(const ScalarValue& value, DataType dtype);

} // namespace nvfuser::python

namespace nanobind::detail {

template <>
struct type_caster<nvfuser::python::PythonNumber> {
  NB_TYPE_CASTER(nvfuser::python::PythonNumber, const_name("bool | int | float | complex"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    const auto number = nvfuser::python::read_number(source);
    if (number) {
      value = *number;
    }
    return number.has_value();
  }
};

} // namespace nanobind::detail
