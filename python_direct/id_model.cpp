// The submodule `idm`: which iteration domains correspond.
#include "graph/id_model.h"

#include "bindings.h"
#include "record_caster.h"

// Owns its graphs through a map, which hides from type traits that it cannot be copied.
template <>
struct nanobind::detail::is_copy_constructible<nvfuser::IdModel> : std::false_type {};

template <>
struct nanobind::detail::type_caster<nvfuser::SelfMapping>
    : nvfuser::python::RecordCaster<nvfuser::SelfMapping, &nvfuser::SelfMapping::tensor> {};

namespace nvfuser::python {
namespace {

using ValSets = DisjointSets<IterDomain*>;

void bind_sets(nb::module_& m) {
  nb::class_<ValSets>(m, "DisjointValSets", "Classes of iteration domains that correspond.")
      .def(
          "strict_are_mapped",
          [](const ValSets& self, IterDomain* entry0, IterDomain* entry1) {
            return self.strict_are_mapped(entry0, entry1);
          },
          "entry0"_a, "entry1"_a,
          R"(Whether two axes are in one class.

Parameters
----------
entry0, entry1 : IterDomain
    Axes; `entry0` must be known.
)")
      .def(
          "permissive_are_mapped",
          [](const ValSets& self, IterDomain* entry0, IterDomain* entry1) {
            return self.permissive_are_mapped(entry0, entry1);
          },
          "entry0"_a, "entry1"_a, "As `strict_are_mapped`; unknown axes are in no class.")
      .def(
          "contains", [](const ValSets& self, IterDomain* entry) { return self.contains(entry); },
          "entry"_a, "Whether an axis is known.")
      .def("num_sets", &ValSets::num_sets, "Number of classes.")
      .def("__str__", [](const ValSets& self) { return self.to_string(); })
      .def("__repr__", [](const ValSets& self) { return self.to_string(); });
}

void bind_graph(nb::module_& m) {
  // A graph refers to the axes it was given: it keeps the fusions of those that come later.
  nb::class_<ValGraph>(m, "ValGraph", "Groups of axes that correspond, and of equal transforms.")
      .def(
          "disjoint_val_sets", &ValGraph::disjoint_val_sets, nb::rv_policy::reference_internal,
          "The groups of axes.")
      .def(
          "map_vals", &ValGraph::map_vals, "val0"_a, "val1"_a, nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(),
          R"(Put two axes into one group, with all that follows.

Parameters
----------
val0, val1 : IterDomain
    Axes.
)")
      .def(
          "are_mapped", &ValGraph::are_mapped, "val0"_a, "val1"_a,
          "Whether two axes correspond; unknown ones only to themselves.")
      .def(
          "members",
          [](const ValGraph& self, const IterDomain* id) {
            return self.contains(id) ? self.members(self.group(id)) : IterDomains{};
          },
          "id"_a, "The axes that correspond to an axis, itself included; [] if it is unknown.")
      .def("contains", &ValGraph::contains, "id"_a, "Whether an axis is known.")
      .def(
          "group",
          [](const ValGraph& self, const IterDomain* id) {
            NVF_USER_CHECK(self.contains(id), "The graph does not know this axis: ", describe(id));
            return self.group(id);
          },
          "id"_a, "Number of the group of an axis. It holds until the group is joined to another.")
      .def(
          "definitions",
          [](const ValGraph& self, const IterDomain* id) {
            return self.contains(id) ? self.definitions(self.group(id)) : std::vector<Expr*>{};
          },
          "id"_a, "One transform of each group of equal ones that makes the group of an axis.")
      .def(
          "uses",
          [](const ValGraph& self, const IterDomain* id) {
            return self.contains(id) ? self.uses(self.group(id)) : std::vector<Expr*>{};
          },
          "id"_a, "One transform of each group of equal ones that reads the group of an axis.")
      .def(
          "validate", &ValGraph::validate,
          "An internal error if equal transforms of mapped axes have results that are not mapped.")
      .def("__str__", &ValGraph::to_string)
      .def("__repr__", &ValGraph::to_string);
}

void bind_model(nb::module_& m) {
  nb::class_<IdModel>(m, "IdModel", "The equivalence graphs of a fusion.")
      .def(
          nb::init<Fusion*, bool, bool, bool>(), "fusion"_a, "build_graphs"_a = false,
          "allow_self_mapping"_a = true, "validate"_a = false, nb::keep_alive<1, 2>(),
          R"(Analyse a fusion as it is now.

Parameters
----------
fusion : Fusion
    What to analyse.
build_graphs : bool
    Build the standard graphs now.
allow_self_mapping : bool
    False makes it an error if two axes of one tensor correspond.
validate : bool
    Check every graph when it is built.
)")
      .def(
          "maybe_build_graph", &IdModel::maybe_build_graph, "mode"_a,
          nb::rv_policy::reference_internal,
          R"(The graph of a mode; built on first use, with those it depends on.

Parameters
----------
mode : IdMappingMode
    Which axes correspond.
)")
      .def("fusion", &IdModel::fusion, nb::rv_policy::reference, "The fusion that was analysed.")
      .def("__str__", &IdModel::to_string)
      .def("__repr__", &IdModel::to_string);
}

} // namespace

void bind_id_model(nb::module_& m) {
  nb::module_ idm = m.def_submodule("idm", "Equivalence graphs over iteration domains.");
  bind_sets(idm);
  bind_graph(idm);
  bind_model(idm);
  nb::class_<SelfMapping>(
      idm, "SelfMapping", "Two axes of one domain of a tensor that correspond to each other.")
      .def_ro("tensor", &SelfMapping::tensor, "The tensor.")
      .def_ro("first", &SelfMapping::first, "One axis.")
      .def_ro("second", &SelfMapping::second, "The other.")
      .def_prop_ro(
          "domain", [](const SelfMapping& self) { return self.domain; },
          "``root``, ``logical``, ``allocation`` or ``loop``.")
      .def("__str__", &SelfMapping::to_string);
  idm.def(
      "find_self_mapping", nb::overload_cast<const ValGraph&, const Fusion&>(&find_self_mapping),
      "graph"_a, "fusion"_a,
      "The first self mapping of a tensor of a fusion in a graph; None if there is none.");
}

} // namespace nvfuser::python
