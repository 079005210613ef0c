// The extension module nvfuser_direct._core: a list of what it binds, lower floors first.
#include "bindings.h"
#include "tensor_cores.h"

NB_MODULE(_core, m) {
  using namespace nvfuser::python;
  m.doc() = "The fusion compiler's core, bound one to one.";
  // An object that lives until the interpreter ends is not lost: whether handles are is what
  // tests/lifetime says.
  nanobind::set_leak_warnings(false);
  bind_errors(m);
  bind_source_location(m);
  bind_options(m);
  bind_enums(m);
  bind_ir(m);
  bind_operators(m);
  bind_internal_ir(m);
  bind_fusion(m);
  bind_define(m);
  bind_data_types(m);
  bind_ops(m);
  bind_circular_buffer(m);
  bind_schedule(m);
  bind_schedule_steps(m);
  bind_op_semantics(m);
  bind_domain_map(m);
  bind_id_model(m);
  bind_eval(m);
  bind_compilers(m);
  bind_runtime(m);
  bind_heuristic_params(m);
  bind_tensor_cores(m);
  bind_schedulers(m);
  bind_segment(m);
  bind_lower(m);
  bind_optimize(m);
  bind_array_framework(m);
  bind_random_source(m);
  bind_executor(m);
  bind_host(m);
  bind_executor_cache(m);
  bind_read_mostly_map(m);
  bind_concretize(m);
  bind_reshape_walk(m);
  bind_profile(m);
  bind_python_translate(m);
}
