// Values and the bases of all statements. Axes and domains are in domains.cpp, scheduling methods
// of TensorView in schedule.cpp, expression classes in internal_ir.cpp.
#include "ir/all_nodes.h"

#include "bindings.h"
#include "field_methods.h"

namespace nvfuser::python {
namespace {

void bind_statement(nb::module_& m) {
  nb::class_<Statement>(
      m, "Statement", nb::is_weak_referenceable(),
      "Anything a Fusion owns: a Val or an Expr. A handle keeps its fusion alive, and the same "
      "statement is always the same object.")
      .def("__str__", [](const Statement& self) { return self.to_string(); })
      .def("__repr__", [](const Statement& self) { return self.to_string(); })
      .def(
          "to_string", &Statement::to_string, "indent"_a = 0,
          "The text of this statement, indented by `indent` levels of two spaces.")
      .def(
          "to_inline_string", &Statement::to_inline_string,
          "The text as part of a scalar expression: ``( ceilDiv(i0, 4) )``.")
      .def("fusion", &Statement::fusion, "The fusion that owns this statement.")
      .def("name", &Statement::name, "Number within its kind: the 3 of ``T3``.")
      .def(
          "serial", &Statement::serial,
          "Creation order within the fusion, over all kinds of statements.")
      .def(
          "location",
          [](const Statement& self) -> std::optional<std::pair<std::string, int>> {
            const SourceLocation& location = self.location();
            if (!location.is_known()) {
              return std::nullopt;
            }
            return std::pair{std::string(location.file), location.line};
          },
          "File and line of the Python code that made this statement; None if it is not known.")
      .def("is_val", &Statement::is_val, "Whether this is a Val.")
      .def("is_expr", &Statement::is_expr, "Whether this is an Expr.");
}

void bind_val(nb::module_& m) {
  nb::class_<Val, Statement>(
      m, "Val",
      "A value. Instances of this very class are scalars: constants, inputs, or results of scalar "
      "expressions. Operators of tensors and scalars are functions of `ops`; `==` asks whether two "
      "handles are the same node, and `ops.eq` compares elements.")
      .def(
          "is_symbolic", &Val::is_symbolic,
          "Whether this carries no constant: an input, a computed scalar, any tensor.")
      .def("is_const", &Val::is_const, "Whether this is a constant.")
      .def("is_tensor", &Val::is_tensor, "Whether this is a TensorView.")
      .def("is_scalar", &Val::is_scalar, "Whether this is a scalar.")
      .def(
          "is_const_int", [](const Val& self) { return self.is_const_int(); },
          "Whether this is an integer constant.")
      .def(
          "is_const_scalar", &Val::is_const_scalar,
          "Whether this is a scalar that constants alone decide: one, or computed from them.")
      .def("is_integral_scalar", &Val::is_integral_scalar, "Whether this is an integer scalar.")
      .def(
          "is_floating_point_scalar", &Val::is_floating_point_scalar,
          "Whether this is a floating-point scalar.")
      .def("is_a_bool", &Val::is_a_bool, "Whether this is a scalar of type Bool.")
      .def("is_zero", &Val::is_zero, "Whether this is the constant 0.")
      .def("is_zero_int", &Val::is_zero_int, "Whether this is the integer constant 0.")
      .def("is_one", &Val::is_one, "Whether this is the constant 1.")
      .def("is_one_int", &Val::is_one_int, "Whether this is the integer constant 1.")
      .def("is_true", &Val::is_true, "Whether this is the constant true.")
      .def("is_false", &Val::is_false, "Whether this is the constant false.")
      .def("vtype", &Val::vtype, "Which kind of value this is.")
      .def("dtype", &Val::dtype, "Type of the value, or of the elements of a tensor.")
      .def(
          "value", [](const Val& self) { return to_python(self.value(), self.dtype()); },
          nb::sig("def value(self) -> bool | int | float | complex | None"),
          "The constant; None for symbolic values.")
      .def(
          "definition", &Val::definition,
          "The expression that computes this value; None for inputs, constants and free symbols.")
      .def(
          "uses", &Val::uses,
          "The expressions that read this value. For tensors only those that lead to a registered "
          "output, once the fusion has outputs.")
      .def(
          "all_uses", &Val::all_uses,
          "Every expression that reads this value, in the order they were made.")
      .def("is_fusion_input", &Val::is_fusion_input, "Whether this is an input of its fusion.")
      .def("is_fusion_output", &Val::is_fusion_output, "Whether this is an output of its fusion.")
      .def(
          "same_as", &Val::same_as, "other"_a,
          "Whether both are the same constant, the same symbol, or computed by the same operations "
          "from the same values.")
      .def(
          "same_definition", &Val::same_definition, "other"_a,
          R"(Whether the same operation computes both from the same values.

Parameters
----------
other : Val
    A value of the same fusion.

Returns
-------
bool
    False if one of them is not computed: an input, a constant, a free symbol.
)")
      .def("hash", &Val::hash, "Hash of what is computed: equal for values that are `same_as`.");

  nb::class_<NamedScalar, Val>(
      m, "NamedScalar",
      "A scalar that the target provides under a fixed name: ``threadIdx.x``, ``gridDim.y``.")
      .def("text_name", &NamedScalar::text_name, "The name.")
      .def(
          "parallel_index", &NamedScalar::parallel_index,
          "The hardware index this is (``threadIdx.x``: block_x); serial if it is none.")
      .def(
          "parallel_dim", &NamedScalar::parallel_dim,
          "The launch dimension this is (``blockDim.x``: block_x); serial if it is none.");

  nb::class_<TensorIndex, Val>(
      m, "TensorIndex", "An element of a tensor in a kernel: ``view[index]``.")
      .def("view", &TensorIndex::view, "The tensor.")
      .def("index", &TensorIndex::index, "Elements from the start of the tensor's memory.");
}

using TensorViewClass = nb::class_<TensorView, Val>;

void bind_shape(TensorViewClass& cls) {
  cls.def_prop_ro("ndim", &TensorView::rank, "Logical rank without reductions.")
      .def("rank", &TensorView::rank, "Logical rank without reductions.")
      .def("ndims", &TensorView::ndims, "Number of loop axes.")
      .def(
          "size", &TensorView::size, "dim"_a,
          R"(Size of a dimension.

Parameters
----------
dim : int
    Logical dimension, reductions not counted; negative values count from the end.

Returns
-------
Val
    Extent; the expanded extent of an expanded dimension.
)")
      .def("shape", &TensorView::shape, "The size of every logical dimension without reductions.")
      .def("has_root", &TensorView::has_root, "Whether there is a separate root domain.")
      .def("has_allocation", &TensorView::has_allocation, "Whether an allocation domain is set.")
      .def("domain", &TensorView::domain, "The tensor's domains.")
      .def("get_root_domain", &TensorView::root, "The root domain; empty if there is none.")
      .def("get_logical_domain", &TensorView::logical, "The logical domain with reductions.")
      .def("get_loop_domain", &TensorView::loop, "The current schedule.")
      .def(
          "get_allocation_domain",
          [](const TensorView& self) { return self.domain()->allocation(); },
          "Axes that address memory, outermost first; empty if none were set.")
      .def(
          "get_contiguity", [](const TensorView& self) { return self.domain()->contiguity(); },
          "Contiguity per allocation axis; None for broadcasts and reductions.")
      .def("root", &TensorView::root, "The root domain; empty if there is none.")
      .def("maybe_root", &TensorView::maybe_root, "The root domain, or else the logical one.")
      .def("logical", &TensorView::logical, "The logical domain with reductions.")
      .def("loop", &TensorView::loop, "The current schedule.")
      .def(
          "maybe_allocation", &TensorView::maybe_allocation,
          "The allocation domain, or else the logical one.")
      .def(
          "axis", &TensorView::axis, "index"_a,
          R"(An axis of the loop domain.

Parameters
----------
index : int
    Position; negative values count from the end.
)")
      .def(
          "get_initial_loop_domain",
          [](const TensorView& self) { return self.domain()->initial_loop(); },
          "The loop domain the tensor was made with.");
}

void bind_positions(TensorViewClass& cls) {
  def_field_methods<TensorSchedule>(cls, &TensorView::schedule);
  cls.def(
      "is_inlined", &TensorView::is_inlined,
      "Whether a loop is, or may be, shared with a producer or a consumer.");
}

void bind_questions(TensorViewClass& cls) {
  cls.def("has_reduction", &TensorView::has_reduction, "Whether the loop domain has a reduction.")
      .def("has_broadcast", &TensorView::has_broadcast, "Whether the loop domain has a broadcast.")
      .def(
          "reduction_axis", [](const TensorView& self) { return self.domain()->reduction_axis(); },
          "Position of the first reduction in the loop domain; None if there is none.")
      .def(
          "has_block_reduction",
          [](const TensorView& self) { return self.domain()->has_block_reduction(); },
          "Whether a thread axis is a reduction.")
      .def(
          "has_grid_reduction",
          [](const TensorView& self) { return self.domain()->has_grid_reduction(); },
          "Whether a grid axis is a reduction.")
      .def(
          "has_cluster_reduction",
          [](const TensorView& self) { return self.domain()->has_cluster_reduction(); },
          "Whether a clustered grid axis is a reduction.")
      .def(
          "has_block_broadcast",
          [](const TensorView& self) { return self.domain()->has_block_broadcast(); },
          "Whether a thread axis is a broadcast.")
      .def(
          "has_grid_broadcast",
          [](const TensorView& self) { return self.domain()->has_grid_broadcast(); },
          "Whether a grid axis is a broadcast.")
      .def(
          "has_vectorize", [](const TensorView& self) { return self.domain()->has_vectorize(); },
          "Whether a loop axis is vectorized.")
      .def(
          "has_symbolic_axis",
          [](const TensorView& self) { return self.domain()->has_symbolic_axis(); },
          "Whether a logical axis is yet to be decided.")
      .def(
          "has_view_like_rfactor",
          [](const TensorView& self) { return self.domain()->has_view_like_rfactor(); },
          "Whether the logical domain is made from the root domain without reducing.");
}

void bind_tensor_view(nb::module_& m) {
  TensorViewClass cls(m, "TensorView", "A tensor of the fusion.");
  bind_shape(cls);
  bind_positions(cls);
  bind_questions(cls);
  cls.def("producers", &TensorView::producers, "The tensors its definition reads.")
      .def("consumers", &TensorView::consumers, "The tensors made by expressions that read it.")
      .def("siblings", &TensorView::siblings, "The other outputs of its definition.")
      .def(
          "schedule_steps",
          [](const TensorView& self) {
            std::vector<std::pair<std::string, std::string>> steps;
            for (const TensorView::Step& step : self.schedule_steps()) {
              steps.emplace_back(step.text(), step.location.str());
            }
            return steps;
          },
          "The scheduling primitives applied to this tensor, each with the line that did it.");
}

} // namespace

void bind_ir(nb::module_& m) {
  bind_statement(m);
  bind_val(m);
  // The types that operations take as scalars; named, because `complex` is an operation as well.
  m.attr("ScalarLike") = nb::module_::import_("typing").attr("Union")[nb::make_tuple(
      m.attr("Val"), nb::handle(reinterpret_cast<PyObject*>(&PyBool_Type)),
      nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type)),
      nb::handle(reinterpret_cast<PyObject*>(&PyFloat_Type)),
      nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type)))];
  bind_domains(m);
  bind_tensor_view(m);
}

} // namespace nvfuser::python
