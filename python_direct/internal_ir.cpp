// Every expression class, from its declaration: the class is its name and documentation, every
// field an attribute.

#include "bindings.h"
#include "ir/all_nodes.h"
#include "ir/random_streams.h"

namespace nvfuser::python {
namespace {

/// Fields that are methods in the documented API; all others are properties.
template <typename Node>
constexpr bool has_field_methods = std::is_same_v<Node, Split> || std::is_same_v<Node, Merge>;

/// A field whose name Python reserves gets a trailing underscore: `Split.in` is `split.in_`.
const char* python_name(const char* field) {
  return std::string_view(field) == "in" ? "in_" : field;
}

template <typename Node>
void bind_node(nb::module_& m) {
  nb::class_<Node, Expr> cls(m, Node::kName, Node::kDoc);
  for_each_field<Node>([&](const auto& field) {
    const auto get = [member = field.member](const Node& node) { return node.*member; };
    const std::string_view name = field.name;
    if (has_field_methods<Node> && (name == "outer" || name == "inner")) {
      cls.def(field.name, get, field.doc);
    } else {
      cls.def_prop_ro(python_name(field.name), get, field.doc);
    }
  });
  if constexpr (std::is_same_v<Node, ReductionOp>) {
    cls.def(
        "request_serial_grid_reduction", &ReductionOp::request_serial_grid_reduction,
        R"(Let the blocks of a reduction over the grid take turns.

Each block combines its result into one accumulator, in the order of blocks, and the last one has
the whole. This takes less memory than one partial result for each block, which the last to arrive
combines; both orders are fixed, so both results are the same in every run.
)");
  }
}

} // namespace

void bind_internal_ir(nb::module_& m) {
  nb::module_ internal = internal_module(m);
  nb::class_<Expr, Statement>(m, "Expr", "An expression: makes its outputs from its inputs.")
      .def("inputs", &Expr::inputs, "Operands in the order of the fields; absent ones left out.")
      .def("outputs", &Expr::outputs, "Results in the order of the fields.")
      .def("input", &Expr::input, "index"_a, "The operand at position `index`.")
      .def("output", &Expr::output, "index"_a, "The result at position `index`.")
      .def("op_name", &Expr::op_name, "Name of the class: ``ReductionOp``.")
      .def(
          "attributes",
          [](const Expr& self) {
            nb::dict attributes;
            self.for_each_attr([&](const char* name, const AttrValue& value) {
              attributes[name] = nb::cast(value);
            });
            return attributes;
          },
          nb::sig("def attributes(self) -> dict[str, object]"),
          "The fields that are neither operands nor results, by name; enumerations as their names.")
      .def(
          "attribute", &Expr::attribute, "index"_a,
          nb::sig("def attribute(self, index: int) -> object"),
          R"(An attribute by its position.

Parameters
----------
index : int
    Position in `attributes`, from 0.

Returns
-------
object
    Its value; an enumerator as its name.

Raises
------
UserIndexError
    If there are not as many.
)")
      .def("same_op", &Expr::same_op, "other"_a, "Same class and equal attributes.")
      .def("op_hash", &Expr::op_hash, "Hash of class and attributes.")
      .def(
          "same_definition", &Expr::same_definition, "other"_a,
          R"(Whether both are the same operation on the same values.

Parameters
----------
other : Expr
    An expression of the same fusion.

Returns
-------
bool
    True if also the types and axes of their results are the same.
)")
      .def(
          "predicate", &Expr::predicate,
          "The condition under which a kernel statement runs; None if it always does.");

#define NVF_BIND_NODE(Node) bind_node<Node>(m);
  NVF_FOR_EACH_EXPR(NVF_BIND_NODE)
#undef NVF_BIND_NODE
  internal.def(
      "stream_in_use", &stream_in_use, "op"_a,
      R"(Which part of the random stream of a run the tensor of an RNGOp without seed takes.

Parameters
----------
op : RNGOp
    One without seed.

Returns
-------
int
    Its place among such tensors that the fusion needs, by age: it draws at this offset from the
    one that the run has from the framework's generator.
)");
}

} // namespace nvfuser::python
