#include "python_number.h"

#include <nanobind/stl/complex.h>

#include <complex>
#include <cstdint>
#include <type_traits>

namespace nvfuser::python {
namespace {

bool is_python_number(PyObject* object) {
  return PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object);
}

/// The base of all of NumPy's scalars; nullptr until NumPy is imported.
PyTypeObject* numpy_generic() {
  static PyTypeObject* known = nullptr; // guarded by the GIL; never given back
  if (known == nullptr) {
    const nb::object numpy = nb::steal(PyImport_GetModule(nb::str("numpy").ptr()));
    // A NumPy that is being imported may lack the name still.
    PyObject* generic = numpy.is_valid() ? PyObject_GetAttrString(numpy.ptr(), "generic") : nullptr;
    if (generic != nullptr && PyType_Check(generic)) {
      known = reinterpret_cast<PyTypeObject*>(generic);
    }
    PyErr_Clear();
  }
  return known;
}

/// Scalars of NumPy are known without importing it, so that NumPy need not be there.
bool is_numpy_scalar(PyTypeObject* type) {
  PyTypeObject* generic = numpy_generic();
  return generic != nullptr && PyType_IsSubtype(type, generic) != 0;
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
  } else if (PyType_GetSlot(Py_TYPE(source), Py_nb_float) != nullptr) {
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
    result = PythonNumber{.value = PyFloat_AsDouble(source), .type = DataType::Double};
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
