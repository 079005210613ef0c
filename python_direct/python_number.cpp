#include "python_number.h"

#include <nanobind/stl/complex.h>

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace nvfuser::python {
namespace {

bool is_python_number(PyObject* object) {
  return PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object);
}

/// Scalars of NumPy are known by name, so that NumPy need not be there.
bool is_numpy_scalar(PyTypeObject* type) {
  while (type != nullptr && std::string_view(type->tp_name) != "numpy.generic") {
    type = type->tp_base;
  }
  return type != nullptr;
}

/// `object` as a bool, int, float or complex; invalid if it is no number.
nb::object to_python_number(nb::handle object) {
  PyObject* source = object.ptr();
  if (is_python_number(source)) {
    return nb::borrow(object);
  }
  PyObject* result = nullptr;
  if (is_numpy_scalar(Py_TYPE(source))) {
    result = PyObject_CallMethod(source, "item", nullptr);
  } else if (PyObject_HasAttrString(source, "__dlpack__") != 0) {
    return {};
  } else if (PyIndex_Check(source)) {
    result = PyNumber_Index(source);
  } else if (
      const PyNumberMethods* methods = Py_TYPE(source)->tp_as_number;
      methods != nullptr && methods->nb_float != nullptr) {
    result = PyNumber_Float(source);
  }
  return nb::steal(result);
}

std::optional<PythonNumber> read_int(PyObject* number) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow == 0) {
    return PythonNumber{.value = static_cast<int64_t>(small), .type = DataType::Int};
  }
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() == nullptr) {
      return PythonNumber{.value = static_cast<int64_t>(large), .type = DataType::UInt64};
    }
    PyErr_Clear();
  }
  const double nearest = PyLong_AsDouble(number); // fails beyond the largest double
  if (PyErr_Occurred() != nullptr) {
    return std::nullopt;
  }
  return PythonNumber{.value = nearest, .type = DataType::Int, .is_too_large = true};
}

} // namespace

std::optional<PythonNumber> read_number(nb::handle object) noexcept {
  const nb::object number = to_python_number(object);
  std::optional<PythonNumber> result;
  if (!number.is_valid()) {
    PyErr_Clear();
    return result;
  }
  PyObject* source = number.ptr();
  if (PyBool_Check(source)) {
    result = PythonNumber{.value = source == Py_True, .type = DataType::Bool};
  } else if (PyLong_Check(source)) {
    result = read_int(source);
  } else if (PyFloat_Check(source)) {
    result = PythonNumber{.value = PyFloat_AS_DOUBLE(source), .type = DataType::Double};
  } else if (PyComplex_Check(source)) {
    const std::complex<double> parts(
        PyComplex_RealAsDouble(source), PyComplex_ImagAsDouble(source));
    result = PythonNumber{.value = parts, .type = DataType::ComplexDouble};
  }
  PyErr_Clear();
  return result;
}

ScalarValue value_for(const PythonNumber& number, DataType dtype) {
  if (number.is_too_large && is_integral(dtype)) {
    throw_not_representable(number.value, DataType::Double, dtype);
  }
  if (!is_representable(number.value, number.type, dtype)) {
    throw_not_representable(number.value, number.type, dtype);
  }
  return convert_value(number.value, number.type, dtype);
}

nb::object to_python(const ScalarValue& value, DataType dtype) {
  return std::visit(
      [&]<typename T>(const T& number) -> nb::object {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return dtype == DataType::UInt64 ? nb::int_(static_cast<uint64_t>(number))
                                           : nb::int_(number);
        } else {
          return nb::cast(number);
        }
      },
      value);
}

} // namespace nvfuser::python
