// The meaning of expressions for axes and for memory.
#include "graph/op_semantics.h"

#include "bindings.h"
#include "graph/storage.h"

namespace nvfuser::python {
namespace {

/// Members of an enumeration, and the dictionary of them that scripts for pybind11 iterate over.
template <typename Enum>
class EnumBinding {
 public:
  EnumBinding(nb::module_& m, const char* name, const char* doc) : cls_(m, name, doc) {
    cls_.attr("__entries") = entries_;
  }
  EnumBinding& value(const char* name, Enum member, const char* doc) {
    cls_.value(name, member, doc);
    entries_[name] = nb::make_tuple(cls_.attr(name), doc);
    return *this;
  }

 private:
  nb::enum_<Enum> cls_;
  nb::dict entries_;
};

void bind_rows(nb::module_& m) {
  EnumBinding<OperandRead>(
      m, "OperandRead",
      "The part of the operands that one element of a result reads, from the least to the most.")
      .value("none", OperandRead::None, "There are no tensors among the operands.")
      .value("same", OperandRead::Same, "The element at the same position.")
      .value(
          "elsewhere", OperandRead::Elsewhere,
          "Elements at other positions: shifted, repeated, or given by another operand.")
      .value("reduced", OperandRead::Reduced, "All elements along some axes, combined.")
      .value("scanned", OperandRead::Scanned, "All elements up to the position along an axis.")
      .value("whole", OperandRead::Whole, "A block, or all elements, along some axes.");
  EnumBinding<ElementSource>(m, "ElementSource", "Where the elements of a result come from.")
      .value("created", ElementSource::Created, "From scalars.")
      .value("computed", ElementSource::Computed, "From elements of the operands.")
      .value("copied", ElementSource::Copied, "Elements of the first operand, as they are.")
      .value("reshaped", ElementSource::Reshaped, "The same under another shape.")
      .value("chosen", ElementSource::Chosen, "Elements of one of several operands.");
  EnumBinding<ViewOf>(
      m, "ViewOf",
      "Where a result can lie in the memory of the first operand, with other strides and another "
      "start.")
      .value("nothing", ViewOf::Nothing, "Nowhere.")
      .value("anything", ViewOf::Anything, "Wherever the operand lies.")
      .value("packed", ViewOf::Packed, "Where axes that become one are neighbours.");
  nb::class_<OpSemantics>(m, "OpSemantics", "The facts that hold for all expressions of one kind.")
      .def_ro(
          "read", &OpSemantics::read, "The part of the operands that an element of a result reads.")
      .def_ro("elements", &OpSemantics::elements, "Where the elements of a result come from.")
      .def_ro(
          "has_like_results", &OpSemantics::has_like_results,
          "Whether all results have the same axes. They share their loops then.")
      .def_ro(
          "overwrites_first", &OpSemantics::overwrites_first,
          "Whether the result begins as the first operand, and some of its elements are "
          "overwritten.")
      .def_ro(
          "loops_over_operands", &OpSemantics::loops_over_operands,
          "Whether the loops run over the axes of the other operands instead of those of the "
          "result.")
      .def_ro("view", &OpSemantics::view, "Whether a result can be a view of the first operand.")
      .def_ro(
          "repeats_elements", &OpSemantics::repeats_elements,
          "Whether a result shows an element of the first operand at several positions.")
      .def_ro(
          "adds_elements", &OpSemantics::adds_elements,
          "Whether a result has elements beside those of its operands.")
      .def_ro(
          "shows_parts", &OpSemantics::shows_parts,
          "Whether an element of a result is a part of one of the operand.");
  m.def(
      "semantics_of", &semantics_of, "expr"_a, nb::rv_policy::copy,
      "The meaning of an expression of this kind.");
  m.def(
      "operand_read", &operand_read, "read"_a,
      "The read of an axis, as it is named for a whole kind.");
  m.def(
      "overwritten_operand", &overwritten_operand, "expr"_a,
      "The operand that the result begins as and overwrites (scatter); None if there is none.");
  m.def(
      "copied_operand", &copied_operand, "expr"_a,
      "The operand whose elements the results are, as they are; None if there is none.");
  m.def(
      "shows_first_operand", &shows_first_operand, "expr"_a,
      "Whether every element of a result is one of the first operand, as it is, at any position.");
  m.def(
      "first_axes", &first_axes, "tensor"_a,
      "The axes that the loops of a tensor are made from: mostly its logical axes, for a scatter "
      "its positions.");
}

void bind_axes(nb::module_& m) {
  EnumBinding<AxisRead>(
      m, "AxisRead", "Which positions along an axis of an operand one element of a result reads.")
      .value(
          "same", AxisRead::Same, "That of the result; the only one, if the result lacks the axis.")
      .value("leading", AxisRead::Leading, "That of the result, which may have fewer.")
      .value(
          "resized", AxisRead::Resized,
          "That of the root axis, which a Resize may lead to the logical one.")
      .value("repeated", AxisRead::Repeated, "That of the result, modulo the extent.")
      .value("indexed", AxisRead::Indexed, "The one that an element of another operand holds.")
      .value(
          "placed", AxisRead::Placed,
          "One, which is written where an element of another operand says.")
      .value("reduced", AxisRead::Reduced, "All, combined.")
      .value("scanned", AxisRead::Scanned, "All up to that of the result.")
      .value("block", AxisRead::Block, "Those of a block of neighbors.")
      .value("whole", AxisRead::Whole, "All.")
      .value(
          "any", AxisRead::Any,
          "Any: how elements are laid out, or which group they belong to, is data.");
  nb::class_<AxisUse>(
      m, "AxisUse", "The positions that one result reads along one axis of an operand.")
      .def_ro("read", &AxisUse::read, "Which positions are read.")
      .def_ro(
          "is_partner", &AxisUse::is_partner,
          "Whether the axis of the result is the same axis: of one extent, or a broadcast that is "
          "resolved.")
      .def_prop_ro(
          "position",
          [](const AxisUse& use) {
            return use.position == kNoPosition ? std::nullopt : std::optional(use.position);
          },
          "The axis of the result that `read` speaks of, among its root axes (logical axes without "
          "a root domain; for the positions of a scatter, its loops as they were made); None if "
          "there is none.")
      .def(
          "__eq__", [](const AxisUse& self, const AxisUse& other) { return self == other; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const AxisUse& use) { return to_string(use); });
  m.def(
      "axes_of_use", &axes_of_use, "producer"_a, "consumer"_a,
      R"(The positions of an operand that a result reads.

Parameters
----------
producer : TensorView
    An operand of the definition of `consumer`.
consumer : TensorView
    Its result.

Returns
-------
list[AxisUse]
    For each logical axis of `producer`, without those that it reduces. If `producer` is several
    operands, an axis has a partner where all agree, and the read that takes most.

Raises
------
UserError
    If `consumer` is not computed from `producer`.
)");
  m.def(
      "axes_read", &axes_read, "tensor"_a, "read"_a,
      "Root axes of a tensor that its definition reads in a way: those it scans, for instance.");
}

void bind_storage(nb::module_& m) {
  EnumBinding<StorageKind>(m, "StorageKind", "Why a tensor lies in the memory where it lies.")
      .value("own", StorageKind::Own, "The memory is its own.")
      .value(
          "overwritten", StorageKind::Overwritten,
          "The result of the one expression that reads it overwrites it.")
      .value("update", StorageKind::Update, "An output that is written into an input.");
  m.def(
      "storage_of",
      [](const TensorView* tensor) {
        const Storage storage = storage_of(tensor);
        return std::pair(storage.owner, storage.kind);
      },
      "tensor"_a,
      "In whose memory the elements of a tensor lie, and why. That tensor may lie in the memory of "
      "another in turn.");
  m.def(
      "owner_of", &owner_of, "tensor"_a,
      "The tensor that the memory of `tensor` belongs to in the end.");
}

} // namespace

void bind_op_semantics(nb::module_& m) {
  bind_rows(m);
  bind_axes(m);
  bind_storage(m);
}

} // namespace nvfuser::python
