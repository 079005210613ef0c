// Symbolic evaluation: values of scalars, normal forms of indices, proofs about them.
#include <chrono>

#include "bindings.h"
#include "eval/evaluator.h"
#include "eval/scalar_program.h"
#include "eval/simplify.h"

namespace nvfuser::python {
namespace {

void bind_evaluator(nb::module_& m) {
  // It knows values by their handles: they stay alive as long as it does.
  nb::class_<ExpressionEvaluator>(
      m, "ExpressionEvaluator", "Computes scalars on the host once enough of them are known.")
      .def(nb::init<>())
      .def(
          "bind",
          [](ExpressionEvaluator& self, const Val* val, const PythonNumber& value) {
            self.bind(val, value_for(value, val->dtype()));
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
          [](ExpressionEvaluator& self, const std::string& name, const PythonNumber& value) {
            self.bind(name, value_for(value, DataType::Int));
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
          [](ExpressionEvaluator& self, const Val* val) {
            return to_python(self.evaluate(val).value_or(ScalarValue()), val->dtype());
          },
          "val"_a, nb::keep_alive<1, 2>(),
          nb::sig("def evaluate(self, val: Val) -> bool | int | float | complex | None"),
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

void bind_value_of_val(nb::module_& m) {
  auto val = nb::borrow<nb::class_<Val>>(m.attr("Val"));
  val.def(
      "evaluate",
      [](const Val* self) {
        return to_python(
            ExpressionEvaluator().evaluate(self).value_or(ScalarValue()), self->dtype());
      },
      nb::sig("def evaluate(self) -> bool | int | float | complex | None"),
      R"(The value of a scalar that constants alone decide.

Returns
-------
bool | int | float | complex | None
    None if it depends on anything else; an ExpressionEvaluator can be told more.
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

/// A program of some expressions over some values, for tests and benchmarks.
class ProgramOfValues {
 public:
  ProgramOfValues(const std::vector<const Val*>& inputs, const std::vector<const Val*>& outputs) {
    ScalarProgramBuilder builder;
    for (const Val* input : inputs) {
      builder.add_input(input);
      inputs_.push_back(input->dtype());
      names_.push_back(input->to_inline_string());
    }
    for (const Val* output : outputs) {
      outputs_.emplace_back(builder.add(output), output->dtype());
    }
    program_ = std::move(builder).build();
  }

  nb::list evaluate(const std::vector<std::optional<PythonNumber>>& values) const {
    std::vector<ScalarRegister> registers = registers_of(values);
    program_.run(registers);
    nb::list results;
    for (const auto& [number, dtype] : outputs_) {
      const ScalarRegister& result = registers[number];
      const ScalarValue value = result.has_value() ? result.value(dtype) : ScalarValue();
      results.append(nb::make_tuple(to_python(value, dtype), text(result.status)));
    }
    return results;
  }

  double seconds(const std::vector<std::optional<PythonNumber>>& values, int64_t runs) const {
    std::vector<ScalarRegister> registers = registers_of(values);
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < runs; ++i) {
      program_.run(registers);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  [[nodiscard]] std::string to_string() const {
    return program_.to_string(names_);
  }

 private:
  [[nodiscard]] std::vector<ScalarRegister> registers_of(
      const std::vector<std::optional<PythonNumber>>& values) const {
    NVF_USER_CHECK(
        values.size() == inputs_.size(), "A program of ", inputs_.size(), " inputs got ",
        values.size(), " values");
    std::vector<ScalarRegister> registers(program_.num_registers());
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]) {
        registers[i] = ScalarRegister::of(value_for(*values[i], inputs_[i]));
      }
    }
    return registers;
  }

  ScalarProgram program_;
  std::vector<DataType> inputs_;
  std::vector<std::pair<ScalarProgram::Register, DataType>> outputs_;
  std::vector<std::string> names_;
};

void bind_scalar_program(nb::module_& internal) {
  nb::class_<ProgramOfValues>(
      internal, "ScalarProgram", "Scalar expressions as instructions over numbered registers.")
      .def(
          nb::init<const std::vector<const Val*>&, const std::vector<const Val*>&>(), "inputs"_a,
          "outputs"_a,
          R"(Compile expressions.

Parameters
----------
inputs : list[Val]
    What the program is told.
outputs : list[Val]
    What it computes.
)")
      .def(
          "evaluate", &ProgramOfValues::evaluate, "values"_a,
          nb::sig(
              "def evaluate(self, values: collections.abc.Sequence[bool | int | float | complex | "
              "None]) -> list[tuple[bool | int | float | complex | None, str]]"),
          R"(Run the program.

Parameters
----------
values : sequence of bool, int, float, complex or None
    Those of the inputs; None: unknown.

Returns
-------
list[tuple[bool | int | float | complex | None, str]]
    The value of each output and how it came out: ``"known"``, ``"overflowed"``, ``"unknown"`` or
    ``"divided by zero"``.
)")
      .def(
          "seconds", &ProgramOfValues::seconds, "values"_a, "runs"_a,
          R"(How long a number of runs takes.

Parameters
----------
values : sequence of bool, int, float, complex or None
    Those of the inputs.
runs : int
    How many.

Returns
-------
float
    Seconds.
)")
      .def("__str__", &ProgramOfValues::to_string);
}

/// The fallback evaluator is Python: it runs on PyTorch, which the core does not know.
void bind_fallback(nb::module_& m) {
  auto fusion = nb::borrow<nb::class_<Fusion>>(m.attr("Fusion"));
  fusion.def(
      "evaluate",
      [](const nb::object& self, const nb::object& inputs, const nb::object& dtype_override) {
        return nb::module_::import_("nvfuser_direct.evaluator")
            .attr("evaluate")(self, inputs, dtype_override);
      },
      "inputs"_a, "dtype_override"_a = nb::none(),
      nb::sig(
          "def evaluate(self, inputs: Iterable[object], "
          "dtype_override: torch.dtype | None = None) -> list[torch.Tensor]"),
      R"(Evaluate the fusion with PyTorch, expression by expression; inputs are only read.

A schedule does not change the result.

Parameters
----------
inputs : iterable
    Tensors and Python numbers, in the order of ``fusion.inputs()``; a vector of scalars may be a
    list.
dtype_override : torch.dtype, optional
    Compute all floating point in this type; for references use ``torch.float64``.

Returns
-------
list[torch.Tensor]
    The visible outputs.

Raises
------
UserError
    An input does not fit: their number, a rank, or two sizes that should be one.
NotImplementedError
    The evaluator does not know an expression.
)");
}

} // namespace

void bind_eval(nb::module_& m) {
  bind_evaluator(m);
  bind_value_of_val(m);
  bind_fallback(m);
  bind_simplifier(m);
  nb::module_ internal = internal_module(m);
  bind_scalar_program(internal);
}

} // namespace nvfuser::python
