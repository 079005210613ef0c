// The element types, and how they meet.
#include "bindings.h"
#include "ops/promotion.h"
#include "ops/reduce.h"

namespace nvfuser::python {
void bind_data_types(nb::module_& m) {
  nb::module_ internal = internal_module(m);
  m.def(
      "is_floating_point", &is_floating_point, "dtype"_a,
      "Double, Float and the types of lower precision.");
  m.def("is_low_precision", &is_low_precision, "dtype"_a, "Half, BFloat16, fp8 and fp4.");
  m.def("is_integral", &is_integral, "dtype"_a, "Every width of integers, and Index; not Bool.");
  m.def("is_unsigned", &is_unsigned, "dtype"_a, "Integers without sign.");
  m.def("is_complex", &is_complex, "dtype"_a, "ComplexFloat and ComplexDouble.");
  m.def("is_boolean", &is_boolean, "dtype"_a, "Bool.");
  m.def("size_bits", &size_bits, "dtype"_a, "Bits of an element in memory; Index counts as 64.");
  m.def("size_bytes", &size_bytes, "dtype"_a, "`size_bits` in bytes, rounded up.");
  m.def(
      "real_type_of", &real_type_of, "dtype"_a,
      "Type of the parts of a complex type; a real type is returned unchanged.");
  m.def(
      "lowest_value", [](DataType dtype) { return to_python(lowest_value(dtype), dtype); },
      "dtype"_a, "Smallest value of a type; minus infinity for floating point.");
  m.def(
      "highest_value", [](DataType dtype) { return to_python(highest_value(dtype), dtype); },
      "dtype"_a, "Greatest value of a type; infinity for floating point.");
  internal.def(
      "cast_text", &cast_text, "from_dtype"_a, "to_dtype"_a,
      "Name of a conversion in printed IR, ``__half2float``; empty if there is none.");
  m.def(
      "promote_pair", &ops::promote_pair, "a"_a, "b"_a,
      R"(The type that holds the values of both.

Parameters
----------
a, b : DataType
    Types.

Raises
------
UserError
    If there is none.
)");
  m.def(
      "common_dtype", &ops::common_dtype, "operands"_a, "widen"_a = true,
      R"(The type that operands meet in.

Parameters
----------
operands : list[Val]
    Tensors with dimensions are stronger than those without, these than scalars; a weaker operand
    decides only if the stronger ones lack its class of numbers.
widen : bool
    Whether floats of low precision become Float.
)");
  m.def(
      "same_number_class", &ops::same_number_class, "a"_a, "b"_a,
      "Whether both types hold integers, floats, complex numbers, or Bool.");
  m.def(
      "reduction_identity",
      [](BinaryOpType op, DataType dtype) {
        return to_python(ops::reduction_identity(op, dtype), dtype);
      },
      "op"_a, "dtype"_a, "The value of an empty reduction: ``x op identity == x``.");
}

} // namespace nvfuser::python
