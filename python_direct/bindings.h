// Declarations that all binding files share: one `bind_<concept>` each, listed in module.cpp.
//
// Rules. A C++ method is a Python method of the same name, a C++ field a property. The bindings
// hold no logic: a lambda adapts arguments, nothing else.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "enum_caster.h"
#include "flag_caster.h"
#include "scalar_arg.h"
#include "statement_caster.h"

namespace nvfuser::python {

namespace nb = nanobind;
using namespace nb::literals;

/// Where functions go that the Python package needs and its users do not.
[[nodiscard]] inline nb::module_ internal_module(nb::module_& m) {
  return m.def_submodule(
      "internal", "Parts of the core that the package itself needs; no interface.");
}

void bind_errors(nb::module_& m);
void bind_source_location(nb::module_& m);
void bind_options(nb::module_& m);
void bind_enums(nb::module_& m);
void bind_ir(nb::module_& m);
void bind_domains(nb::module_& m);   // by bind_ir: tensors are documented with them
void bind_operators(nb::module_& m); // of values
void bind_internal_ir(nb::module_& m);
void bind_fusion(nb::module_& m);
void bind_define(nb::module_& m);
void bind_data_types(nb::module_& m);
void bind_domain_map(nb::module_& m);
void bind_op_semantics(nb::module_& m);
void bind_ops(nb::module_& m);
void bind_circular_buffer(nb::module_& m);
void bind_schedule(nb::module_& m);
void bind_schedule_functions(nb::module_& schedule); // by bind_schedule, as the next one
void bind_schedule_rules(nb::module_& schedule);
void bind_schedule_steps(nb::module_& m);
void bind_id_model(nb::module_& m);
void bind_eval(nb::module_& m);
void bind_compilers(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_heuristic_params(nb::module_& m);
void bind_schedulers(nb::module_& m);
void bind_segment(nb::module_& m);
void bind_executor(nb::module_& m);
void bind_executor_cache(nb::module_& m);
void bind_host(nb::module_& m);
void bind_read_mostly_map(nb::module_& m);
void bind_concretize(nb::module_& m);
void bind_reshape_walk(nb::module_& m);
void bind_profile(nb::module_& m);
void bind_array_framework(nb::module_& m);
void bind_random_source(nb::module_& m);
void bind_lower(nb::module_& m);
void bind_optimize(nb::module_& m);
void bind_python_translate(nb::module_& m);

} // namespace nvfuser::python
