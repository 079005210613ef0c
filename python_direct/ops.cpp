// The submodule `ops`: every operation of csrc/ops, one binding file per group.
#include "op_binding.h"

namespace nvfuser::python {

std::string operation_doc(const std::string& summary, const std::vector<const char*>& operands) {
  std::string doc = summary + "\n\nParameters\n----------\n";
  for (size_t i = 0; i < operands.size(); ++i) {
    doc += std::string(i == 0 ? "" : ", ") + operands[i];
  }
  doc += " : TensorView, scalar Val or number\n    Positional only.";
  if (operands.size() > 1) {
    doc += " Tensors are broadcast together.";
  }
  doc += "\n\nReturns\n-------\nTensorView or Val\n    A tensor if an operand is one.\n";
  return doc;
}

void bind_ops(nb::module_& m) {
  OpModule ops(m.def_submodule(
      "ops",
      "Operations. Each appends nodes to the active fusion and returns handles of the results. One "
      "that raises an error appends none."));
  bind_pointwise_ops(ops);
  bind_shape_ops(ops);
  bind_reduce_ops(ops);
  bind_create_ops(ops);
  bind_composite_ops(ops);
  bind_search_ops(ops);
  bind_random_ops(ops);
  bind_index_ops(ops);
  bind_resize_ops(ops);
  bind_layer_ops(ops);
  bind_matmul_ops(ops);
  bind_quantize_ops(ops);
  bind_grid_order_ops(ops);
}

} // namespace nvfuser::python
