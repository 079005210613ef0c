// Values and the bases of all statements. Scheduling methods of TensorView are in schedule.cpp,
// expression classes in nodes.cpp.
#include "ir/all_nodes.h"

#include "bindings.h"

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
      "expressions.")
      .def(
          "is_symbolic", &Val::is_symbolic,
          "Whether this carries no constant: an input, a computed scalar, any tensor.")
      .def("is_const", &Val::is_const, "Whether this is a constant.")
      .def("is_tensor", &Val::is_tensor, "Whether this is a TensorView.")
      .def("is_scalar", &Val::is_scalar, "Whether this is a scalar.")
      .def(
          "is_const_int", [](const Val& self) { return self.is_const_int(); },
          "Whether this is an integer constant.")
      .def("is_zero", &Val::is_zero, "Whether this is the constant 0.")
      .def("is_one", &Val::is_one, "Whether this is the constant 1.")
      .def("is_true", &Val::is_true, "Whether this is the constant true.")
      .def("is_false", &Val::is_false, "Whether this is the constant false.")
      .def("dtype", &Val::dtype, "Type of the value, or of the elements of a tensor.")
      .def("value", &Val::value, "The constant; None for symbolic values.")
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
          "from the same values.");

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

void bind_iter_domain(nb::module_& m) {
  nb::class_<IterDomain, Val>(
      m, "IterDomain", "One axis of an iteration space: its range, how it runs, what it is for.")
      .def("start", &IterDomain::start, "First index, 0 unless the axis was resized.")
      .def("extent", &IterDomain::extent, "Loop size: 1 for a broadcast, even if it is expanded.")
      .def("stop_offset", &IterDomain::stop_offset, "Indices at the end that do not run.")
      .def("has_expanded_extent", &IterDomain::has_expanded_extent, "Whether it is expanded.")
      .def(
          "expanded_extent", &IterDomain::expanded_extent,
          "Size a user sees where memory holds one element; None if the axis is not expanded.")
      .def(
          "maybe_expanded_extent", &IterDomain::maybe_expanded_extent,
          "The expanded extent if there is one, else the extent.")
      .def("parallel_type", &IterDomain::parallel_type, "What the axis is bound to.")
      .def("iter_type", &IterDomain::iter_type, "What the axis is for.")
      .def("is_iteration", &IterDomain::is_iteration, "Whether the iteration type is Iteration.")
      .def("is_reduction", &IterDomain::is_reduction, "Whether the iteration type is Reduction.")
      .def("is_broadcast", &IterDomain::is_broadcast, "Whether the iteration type is Broadcast.")
      .def(
          "is_symbolic_axis", &IterDomain::is_symbolic_axis,
          "Whether the iteration type is Symbolic: decided when sizes are known.")
      .def(
          "is_rfactor_product", &IterDomain::is_rfactor_product,
          "Whether it was made by a transform between root and logical domain.")
      .def("is_parallelized", &IterDomain::is_parallelized, "Whether it is bound to anything.")
      .def("is_block_dim", &IterDomain::is_block_dim, "Whether it is bound to a grid index.")
      .def("is_thread_dim", &IterDomain::is_thread_dim, "Whether it is bound to a thread index.")
      .def("is_thread", &IterDomain::is_thread, "Whether it is bound to a hardware index.")
      .def("is_device_dim", &IterDomain::is_device_dim, "Whether it is bound to a device index.")
      .def("is_stream", &IterDomain::is_stream, "Whether it is bound to streams.")
      .def(
          "is_clustered_block_dim", &IterDomain::is_clustered_block_dim,
          "Whether its blocks form clusters.")
      .def(
          "has_padding_to_multiple_of_warp", &IterDomain::has_padding_to_multiple_of_warp,
          "Whether its launched size is rounded up to whole warps.")
      .def(
          "maybe_size_after_padding", &IterDomain::maybe_size_after_padding,
          "The size it is padded to (threads), if it was given.")
      .def(
          "parallelize", &IterDomain::parallelize, "parallel_type"_a,
          R"(Bind the axis.

Parameters
----------
parallel_type : ParallelType
    What to bind it to. ``unroll``, ``unswitch``, ``vectorize`` and ``group`` need start 0 and a
    constant extent.
)")
      .def(
          "pad_to_multiple_of_warp", &IterDomain::pad_to_multiple_of_warp, "size"_a = nb::none(),
          R"(Round the launched size of a ``block_x`` axis up.

Parameters
----------
size : int, optional
    Threads to launch; a whole number of warps if not given.
)");
}

void bind_tensor_domain(nb::module_& m) {
  nb::class_<TensorDomain, Val>(m, "TensorDomain", "The domains of a tensor.")
      .def("root", &TensorDomain::root, "Axes before the operation's own transform; may be empty.")
      .def(
          "maybe_root", &TensorDomain::maybe_root, "The root domain if there is one, else logical.")
      .def("logical", &TensorDomain::logical, "The tensor's shape, reduction axes included.")
      .def(
          "allocation", &TensorDomain::allocation,
          "Axes that address memory, outermost stride first; may be empty.")
      .def(
          "maybe_allocation", &TensorDomain::maybe_allocation,
          "The allocation domain if there is one, else logical.")
      .def("loop", &TensorDomain::loop, "The loop nest, outermost first.")
      .def("initial_loop", &TensorDomain::initial_loop, "The loop domain the tensor was made with.")
      .def(
          "contiguity", &TensorDomain::contiguity,
          "Per allocation axis: whether its stride is the size of everything inside it; None for "
          "broadcasts and reductions.")
      .def("has_root", &TensorDomain::has_root, "Whether there is a separate root domain.")
      .def("has_allocation", &TensorDomain::has_allocation, "Whether an allocation domain is set.")
      .def("ndims", &TensorDomain::ndims, "Number of loop axes.")
      .def("all_ids", &TensorDomain::all_ids, "Every axis of the tensor, in creation order.")
      .def(
          "all_exprs", &TensorDomain::all_exprs,
          "Every transform between the domains, operands before results.")
      .def_static(
          "no_reductions", &TensorDomain::no_reductions, "ids"_a, "`ids` without reductions.")
      .def_static(
          "no_broadcasts", &TensorDomain::no_broadcasts, "ids"_a, "`ids` without broadcasts.")
      .def_static(
          "contiguity_filled_with", &TensorDomain::contiguity_filled_with, "ids"_a, "flag"_a,
          "`flag` for every axis that has a stride, None for the others.");
  m.def(
      "exprs_between", &exprs_between, "from_ids"_a, "to_ids"_a,
      R"(The transforms on the paths between axes of one tensor.

Parameters
----------
from_ids, to_ids : list[IterDomain]
    Ends of the paths. Walking back from `to_ids` stops at `from_ids` and at axes without
    definition.

Returns
-------
list[Expr]
    Operands before results.
)");
}

void bind_tensor_view(nb::module_& m) {
  nb::class_<TensorView, Val>(m, "TensorView", "A tensor of the fusion.")
      .def_prop_ro("ndim", &TensorView::rank, "Logical rank without reductions.")
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
      .def("memory_type", &TensorView::memory_type, "Where the tensor lives.")
      .def(
          "compute_at_position", &TensorView::compute_at_position,
          "Number of outer loop axes shared with every consumer.")
      .def(
          "max_producer_position", &TensorView::max_producer_position,
          "Number of outer loop axes inside which some producer is computed.")
      .def("is_cpu_scalar", &TensorView::is_cpu_scalar, "Whether it is a 0-dim tensor on the host.")
      .def("has_reduction", &TensorView::has_reduction, "Whether the loop domain has a reduction.")
      .def("has_broadcast", &TensorView::has_broadcast, "Whether the loop domain has a broadcast.")
      .def("producers", &TensorView::producers, "The tensors its definition reads.")
      .def("consumers", &TensorView::consumers, "The tensors made by expressions that read it.")
      .def("siblings", &TensorView::siblings, "The other outputs of its definition.")
      .def(
          "schedule_steps",
          [](const TensorView& self) {
            std::vector<std::pair<std::string, std::string>> steps;
            for (const TensorView::Step& step : self.schedule_steps()) {
              steps.emplace_back(step.text, step.location.str());
            }
            return steps;
          },
          "The scheduling primitives applied to this tensor, each with the line that did it.");
}

} // namespace

void bind_ir(nb::module_& m) {
  bind_statement(m);
  bind_val(m);
  // What operations take as scalars; named, because `complex` is an operation, too.
  m.attr("ScalarLike") = nb::module_::import_("typing").attr("Union")[nb::make_tuple(
      m.attr("Val"), nb::handle(reinterpret_cast<PyObject*>(&PyBool_Type)),
      nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type)),
      nb::handle(reinterpret_cast<PyObject*>(&PyFloat_Type)),
      nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type)))];
  bind_iter_domain(m);
  bind_tensor_domain(m);
  bind_tensor_view(m);
}

} // namespace nvfuser::python
