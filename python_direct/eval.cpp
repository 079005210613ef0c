// Symbolic evaluation: values of scalars, normal forms of indices, proofs about them.
#include <optional>
#include <variant>

#include "bindings.h"
#include "eval/evaluator.h"
#include "eval/simplify.h"

namespace nvfuser::python {
namespace {

using Number = std::variant<bool, int64_t, double, std::complex<double>>;

ScalarValue to_value(const Number& number) {
  return std::visit([](const auto& x) -> ScalarValue { return x; }, number);
}

std::optional<Number> to_number(const std::optional<ScalarValue>& value) {
  if (!value) {
    return std::nullopt;
  }
  return std::visit(
      [](const auto& x) -> std::optional<Number> {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) {
          return std::nullopt;
        } else {
          return x;
        }
      },
      *value);
}

void bind_evaluator(nb::module_& m) {
  // It knows values by their handles: they stay alive as long as it does.
  nb::class_<ExpressionEvaluator>(
      m, "ExpressionEvaluator", "Computes scalars on the host once enough of them are known.")
      .def(nb::init<>())
      .def(
          "bind",
          [](ExpressionEvaluator& self, const Val* val, const Number& value) {
            self.bind(val, to_value(value));
          },
          "val"_a, "value"_a, nb::keep_alive<1, 2>(),
          R"(Let a scalar have a value.

Parameters
----------
val : Val
    The scalar.
value : bool | int | float | complex
    Its value, converted to its dtype.

Raises
------
UserError
    If the scalar is known to be another value.
)")
      .def(
          "bind",
          [](ExpressionEvaluator& self, const std::string& name, const Number& value) {
            self.bind(name, to_value(value));
          },
          "text_name"_a, "value"_a,
          R"(Let every scalar of a name have a value.

Parameters
----------
text_name : str
    Name of a value of the target: ``"blockDim.x"``.
value : bool | int | float | complex
    Its value.
)")
      .def(
          "evaluate",
          [](ExpressionEvaluator& self, const Val* val) { return to_number(self.evaluate(val)); },
          "val"_a, nb::keep_alive<1, 2>(),
          R"(The value of a scalar expression.

Parameters
----------
val : Val
    The scalar.

Returns
-------
bool | int | float | complex | None
    None if it depends on something unknown.
)");
}

void bind_simplifier(nb::module_& m) {
  nb::class_<IndexSimplifier>(
      m, "IndexSimplifier", "Normal forms of integer index expressions, and proofs about them.")
      .def(
          nb::init<Fusion&>(), "fusion"_a, nb::keep_alive<1, 2>(),
          R"(Make one per fusion: it remembers what it has simplified.

Parameters
----------
fusion : Fusion
    Owner of the expressions, and of the new ones.
)")
      .def(
          "set_range", &IndexSimplifier::set_range, "leaf"_a, "extent"_a,
          R"(Declare 0 <= leaf < extent.

Parameters
----------
leaf : Val
    A loop index.
extent : Val
    Number of values it takes.
)")
      .def(
          "set_nonnegative", &IndexSimplifier::set_nonnegative, "val"_a,
          R"(Declare val >= 0.

Parameters
----------
val : Val
    An integer.
)")
      .def(
          "assume_divisible", &IndexSimplifier::assume_divisible, "a"_a, "b"_a,
          R"(Declare a % b == 0.

Parameters
----------
a : Val
    An extent.
b : Val
    What divides it, at least 1.
)")
      .def(
          "simplify", &IndexSimplifier::simplify, "expr"_a,
          R"(The normal form of an integer or boolean expression.

Parameters
----------
expr : Val
    Anything; what is neither integer nor boolean is returned as it is.

Returns
-------
Val
    The same Val for equal expressions.
)")
      .def("prove_lt", &IndexSimplifier::prove_lt, "a"_a, "b"_a, "Whether a < b always holds.")
      .def("prove_le", &IndexSimplifier::prove_le, "a"_a, "b"_a, "Whether a <= b always holds.")
      .def(
          "prove_nonnegative", &IndexSimplifier::prove_nonnegative, "a"_a,
          "Whether a >= 0 always holds.")
      .def(
          "prove_divisible", &IndexSimplifier::prove_divisible, "a"_a, "b"_a,
          "Whether a is always a multiple of b.")
      .def(
          "prove_equal", &IndexSimplifier::prove_equal, "a"_a, "b"_a,
          "Whether a == b always holds.")
      .def(
          "max_over", &IndexSimplifier::max_over, "expr"_a, "over"_a,
          R"(An upper bound while some indices run.

Parameters
----------
expr : Val
    An integer.
over : list[Val]
    Indices that run over their ranges; the others stay as they are.

Returns
-------
Val | None
    None if no bound is known.
)")
      .def(
          "min_over", &IndexSimplifier::min_over, "expr"_a, "over"_a,
          R"(A lower bound while some indices run.

Parameters
----------
expr : Val
    An integer.
over : list[Val]
    Indices that run over their ranges; the others stay as they are.

Returns
-------
Val | None
    None if no bound is known.
)");
}

} // namespace

void bind_eval(nb::module_& m) {
  bind_evaluator(m);
  bind_simplifier(m);
}

} // namespace nvfuser::python
