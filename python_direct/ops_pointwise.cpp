// Operations that make one element from one element of each operand.
#include "op_binding.h"
#include "ops/binary.h"
#include "ops/bitwise.h"
#include "ops/cast.h"
#include "ops/ternary.h"
#include "ops/unary.h"

namespace nvfuser::python {
namespace {

void bind_unary(OpModule& m) {
#define NVF_BIND_UNARY(name, doc) \
  bind_all_mixes<1>(m, #name, [](Val* x) { return ops::name(x); }, operation_doc(doc, {"x"}));
#define NVF_BIND_REGULAR(name, op, policy, doc) NVF_BIND_UNARY(name, doc)
#define NVF_BIND_SPECIAL(name, op, doc) NVF_BIND_UNARY(name, doc)
  NVF_FOR_EACH_UNARY_FUNCTION(NVF_BIND_REGULAR)
  NVF_FOR_EACH_UNBOUND_UNARY_FUNCTION(NVF_BIND_REGULAR)
  NVF_FOR_EACH_SPECIAL_UNARY_FUNCTION(NVF_BIND_SPECIAL)
#undef NVF_BIND_SPECIAL
#undef NVF_BIND_REGULAR
#undef NVF_BIND_UNARY
}

void bind_binary(OpModule& m) {
#define NVF_BIND_BINARY(name, doc) \
  bind_all_mixes<2>(               \
      m, #name, [](Val* a, Val* b) { return ops::name(a, b); }, operation_doc(doc, {"a", "b"}));
#define NVF_BIND_REGULAR(name, op, policy, doc) NVF_BIND_BINARY(name, doc)
#define NVF_BIND_SPECIAL(name, op, doc) NVF_BIND_BINARY(name, doc)
  NVF_FOR_EACH_BINARY_FUNCTION(NVF_BIND_REGULAR)
  NVF_FOR_EACH_SPECIAL_BINARY_FUNCTION(NVF_BIND_SPECIAL)
#undef NVF_BIND_SPECIAL
#undef NVF_BIND_REGULAR
#undef NVF_BIND_BINARY
  m.attr("ceil_div") = m.attr("ceilDiv");
  bind_all_mixes<2>(
      m, "logical_right_shift", [](Val* a, Val* n) { return ops::logical_right_shift(a, n); },
      operation_doc("`a` shifted right by `n` bits, zeros coming in.", {"a", "n"}));
}

/// The forms that mix no tensors with scalars.
void bind_complex(OpModule& m) {
  const std::string doc = operation_doc(
      "A complex number from its parts, both of one dtype: both tensors or both scalars.",
      {"real", "imag"});
  const auto make = [](Val* real, Val* imag) { return ops::complex(real, imag); };
  bind_mix<3>(m, "complex", make, doc, std::make_index_sequence<2>{});
  bind_mix<0>(m, "complex", make, doc, std::make_index_sequence<2>{});
}

void bind_scaled_sums(OpModule& m) {
  const auto add_alpha = [](Val* a, Val* b, Val* s) { return ops::add_alpha(a, b, s); };
  const auto sub_alpha = [](Val* a, Val* b, Val* s) { return ops::sub_alpha(a, b, s); };
  const std::string add_doc = operation_doc("a + s * b; s is a scalar.", {"a", "b", "s"});
  const std::string sub_doc = operation_doc("a - s * b; s is a scalar.", {"a", "b", "s"});
  [&]<size_t... Mask>(std::index_sequence<Mask...>) {
    (bind_mix<3 - Mask, 4>(m, "add_alpha", add_alpha, add_doc, std::make_index_sequence<3>{}), ...);
    (bind_mix<3 - Mask, 4>(m, "sub_alpha", sub_alpha, sub_doc, std::make_index_sequence<3>{}), ...);
  }(std::make_index_sequence<4>{});
}

void bind_ternary(OpModule& m) {
  bind_all_mixes<3>(
      m, "lerp", &ops::lerp,
      operation_doc("start + weight * (end - start).", {"start", "end", "weight"}));
  bind_all_mixes<3>(
      m, "where", &ops::where,
      operation_doc(
          "`a` where `condition` is true, `b` elsewhere. The condition has dtype Bool; a tensor "
          "condition makes the result a tensor. Half branches give a half result.",
          {"condition", "a", "b"}));
}

/// The first operand is a tensor or a scalar, the others are scalars; None limits nothing.
void bind_clamp(OpModule& m) {
  const char* doc = R"(`x` limited to [min, max].

Parameters
----------
x : TensorView, scalar Val or number
    Positional only, as all parameters.
min, max : scalar Val, number or None
    Bounds; None does not limit.

Returns
-------
TensorView or Val
    In the dtype of `x`.
)";
  m.def(
      "clamp",
      [](TensorView* x, const CheckedScalarArg& min, const CheckedScalarArg& max) {
        Val* low = min.val();
        return static_cast<TensorView*>(ops::clamp(x, low, max.val()));
      },
      nb::arg(), nb::arg().none(), nb::arg().none(), doc);
  m.def(
      "clamp",
      [](const ScalarArg& x, const CheckedScalarArg& min, const CheckedScalarArg& max) {
        Val* value = x.require();
        Val* low = min.val();
        return ops::clamp(value, low, max.val());
      },
      nb::arg(), nb::arg().none(), nb::arg().none(), doc);
}

void bind_threshold(OpModule& m) {
  const std::string doc = operation_doc(
      "`value` where x <= thresh, `x` elsewhere; `thresh` and `value` are scalars.",
      {"x", "thresh", "value"});
  bind_mix<1, 6>(m, "threshold", &ops::threshold, doc, std::make_index_sequence<3>{});
  bind_mix<0, 6>(m, "threshold", &ops::threshold, doc, std::make_index_sequence<3>{});
}

void bind_addcmul(OpModule& m) {
  const std::string doc =
      operation_doc("v1 + v2 * (v3 * alpha); alpha is a scalar.", {"v1", "v2", "v3", "alpha"});
  [&]<size_t... Mask>(std::index_sequence<Mask...>) {
    (bind_mix<7 - Mask, 8>(m, "addcmul", &ops::addcmul, doc, std::make_index_sequence<4>{}), ...);
  }(std::make_index_sequence<8>{});
}

void bind_cast(OpModule& m) {
  const char* doc = R"(Convert to another dtype; a copy if it is the same.

Parameters
----------
arg : TensorView, scalar Val or number
    Operand. A complex one loses its imaginary part in a real type, with a warning.
dtype : DataType
    Type of the result.
)";
  m.def(
      "cast", [](TensorView* arg, DataType dtype) { return ops::cast(arg, dtype); }, "arg"_a,
      "dtype"_a, doc);
  m.def(
      "cast", [](const ScalarArg& arg, DataType dtype) { return ops::cast(arg.require(), dtype); },
      "arg"_a, "dtype"_a, doc);
  m.def(
      "bitcast", [](DataType dtype, TensorView* x) { return ops::bitcast(dtype, x); }, "dtype"_a,
      "x"_a,
      R"(The bits of every element read as another type of the same size.

Parameters
----------
dtype : DataType
    Type of the result.
x : TensorView
    Operand.
)");
}

} // namespace

void bind_pointwise_ops(OpModule& m) {
  bind_unary(m);
  bind_binary(m);
  bind_complex(m);
  bind_scaled_sums(m);
  bind_ternary(m);
  bind_clamp(m);
  bind_threshold(m);
  bind_addcmul(m);
  bind_cast(m);
}

} // namespace nvfuser::python
