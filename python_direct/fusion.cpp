// Fusion: the owner of a graph, and what makes it the active one.
#include "ir/fusion.h"

#include <nanobind/operators.h>

#include "bindings.h"
#include "ir/print.h"
#include "ir/serialize.h"
#include "lower/kernel.h"

namespace nvfuser::python {
namespace {

nb::bytes to_bytes(std::span<const std::byte> bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

std::span<const std::byte> bytes_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// Throws UserError for a kernel.
void check_is_definition(const Fusion& fusion) {
  if (dynamic_cast<const Kernel*>(&fusion) != nullptr) {
    throw UserError(
        {.headline = "serialize: a kernel cannot be serialized",
         .node = Part::none(),
         .expected = "a fusion, with or without a schedule",
         .found = "a kernel",
         .fix = "serialize the fusion that was lowered, and lower it again after reading"});
  }
}

void bind_serialization(nb::class_<Fusion>& fusion) {
  fusion
      .def(
          "serialize",
          [](const Fusion& self) {
            check_is_definition(self);
            return to_bytes(serialize(self));
          },
          R"(The fusion and its schedule as bytes.

Equal fusions (`equal_up_to_numbering`) have equal bytes, whatever their history. Numbers in names,
lines of Python, the list of recorded steps and what no output needs are left out.

Returns
-------
bytes
    What `deserialize` of the same version of the library reads.

Raises
------
UserError
    For a kernel.
)")
      .def_static(
          "deserialize", [](const nb::bytes& data) { return deserialize(bytes_of(data)); },
          "data"_a,
          R"(The fusion that bytes say, numbered in their order.

Parameters
----------
data : bytes
    What `serialize` returned. It may come from anywhere: it is checked.

Raises
------
UserValueError
    If the bytes are damaged, were written by another version, or say no fusion that makes sense.
)")
      .def(
          "digest",
          [](const Fusion& self) {
            check_is_definition(self);
            return to_bytes(digest(self));
          },
          R"(A name of the fusion and its schedule for caches that outlive the process.

Returns
-------
bytes
    32 bytes: those of equal fusions are equal. They change with the nodes that a version of the
    library has.
)")
      .def("__copy__", &Fusion::clone)
      .def(
          "__deepcopy__", [](const Fusion& self, const nb::handle&) { return self.clone(); },
          "memo"_a)
      .def("__reduce__", [](nb::handle_t<Fusion> self) {
        // Pickles hold names of functions, and functions of extensions have none that they find.
        const nb::object read = nb::module_::import_("operator")
                                    .attr("methodcaller")("deserialize", self.attr("serialize")());
        return nb::make_tuple(read, nb::make_tuple(self.type()));
      });
}

} // namespace

void bind_fusion(nb::module_& m) {
  auto fusion = nb::class_<Fusion>(
      m, "Fusion", nb::is_weak_referenceable(),
      "Owns a graph of statements, its inputs and its outputs.");
  fusion.def(nb::new_(&Fusion::create), "An empty fusion.")
      .def(
          "__eq__", [](const Fusion& self, const Fusion& other) { return self == other; },
          nb::is_operator(), "other"_a, nb::sig("def __eq__(self, other: object, /) -> bool"),
          "Same definition: inputs, outputs, expressions, constants, domains, numbering, aliases.")
      .def("hash", &Fusion::hash, "Structural hash: equal fusions have equal hashes.")
      .def("clone", &Fusion::clone, "A copy of everything, names included.")
      .def(
          "version", &Fusion::version,
          "Counts edits of the definition and of its schedule: while it is the same, so is the\n"
          "kernel. Adding what no output reads is no edit.")
      .def("inputs", &Fusion::inputs, "Inputs in registration order.")
      .def(
          "outputs", &Fusion::outputs, nb::sig("def outputs(self) -> list[TensorView]"),
          "Outputs in registration order, hidden ones included.")
      .def(
          "parallel_index", &Fusion::parallel_index, "type"_a,
          R"(The index of a block or a thread, for ``TensorView.resize``.

Parameters
----------
type : ParallelType
    ``grid_x``, .., ``block_z``.

Returns
-------
NamedScalar
    The scalar, one for each index.

Raises
------
UserError
    If ``type`` is no hardware index.
)")
      .def("vals", &Fusion::vals, "Every value of the fusion.")
      .def("exprs", &Fusion::exprs, "Expressions that lead to an output, operands before results.")
      .def(
          "all_exprs", &Fusion::all_exprs,
          "Every expression that defines a value, in the order they were made.")
      .def(
          "tensors", &Fusion::tensors,
          "Tensors that lead to an output or are inputs or outputs, in creation order.")
      .def(
          "add_input", &Fusion::add_input, "input"_a,
          R"(Register an input; a tensor becomes global memory.

Parameters
----------
input : Val
    A tensor or symbolic scalar of this fusion without definition.
)")
      .def(
          "add_output", nb::overload_cast<Val*>(&Fusion::add_output), "output"_a,
          R"(Register an output.

Parameters
----------
output : Val
    A tensor of this fusion. The same one may be added more than once.
)")
      .def(
          "add_output", nb::overload_cast<Val*, Val*>(&Fusion::add_output), "output"_a,
          "alias_input"_a,
          R"(Write a result into the memory of an input.

Parameters
----------
output : Val
    The tensor to write. If it was not registered before it is not returned.
alias_input : Val
    The input whose memory receives it.
)")
      .def(
          "alias_of",
          [](const Fusion& self, const Val* output) -> std::optional<std::pair<TensorView*, bool>> {
            const AliasInfo* alias = self.alias_of(output);
            if (alias == nullptr) {
              return std::nullopt;
            }
            return std::pair{alias->input, alias->is_hidden};
          },
          "output"_a,
          R"(The input whose memory an output is written to.

Returns
-------
tuple[TensorView, bool] or None
    The input, and whether the output is hidden (not returned to the caller).
)")
      .def(
          "updates_of", &Fusion::updates_of, "input"_a, nb::rv_policy::reference_internal,
          R"(The outputs that are written into the memory of `input`.

Parameters
----------
input : Val
    An input.

Returns
-------
list[TensorView]
)")
      .def(
          "print_math", &Fusion::print_math, "from_outputs_only"_a = true,
          R"(The arithmetic as text.

Parameters
----------
from_outputs_only : bool
    Whether to leave out expressions that no output needs.
)")
      .def(
          "print_transforms", &Fusion::print_transforms,
          "One block of text per tensor: its domains and the transforms between them.")
      .def(
          "print_scheduled", &print_scheduled, "tensor_transforms"_a = false,
          R"(The expressions with their schedules as text.

Parameters
----------
tensor_transforms : bool
    Whether `print_transforms` follows them.
)")
      .def(
          "contains", &Fusion::contains, "statement"_a,
          "Whether a statement belongs to this fusion.")
      .def("__str__", [](const Fusion& self) { return self.print_math(true); });
  fusion.attr("__hash__") = nb::none(); // equal by definition, and mutable
  bind_serialization(fusion);

  nb::class_<FusionGuard>(
      m, "FusionGuard",
      "Makes a fusion the active one of this thread until the guard is destroyed. Not a context "
      "manager.")
      .def(nb::init<Fusion*>(), "fusion"_a, nb::keep_alive<1, 2>());
}

} // namespace nvfuser::python
