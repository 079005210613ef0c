#include "lower/kernel_forms.h"

#include <algorithm>

#include "ir/all_nodes.h"

namespace nvfuser {

namespace {

/// A scatter begins with a copy: of an expanded dimension that would be one element.
bool is_expanded(const TensorView& tensor) {
  const IterDomains& axes = tensor.logical();
  return std::any_of(
      axes.begin(), axes.end(), [](const IterDomain* id) { return id->has_expanded_extent(); });
}

} // namespace

bool has_kernel_form(const Expr& expr) {
  return visit(
      expr,
      overloaded{
#define NVF_HAS_NONE(Node) [](const Node&) { return false; },
          NVF_FOR_EACH_MATMUL_EXPR(NVF_HAS_NONE) NVF_FOR_EACH_QUANTIZE_EXPR(NVF_HAS_NONE)
#undef NVF_HAS_NONE
              [](const ScatterOp& op) { return !op.accumulate && !is_expanded(*op.arg);
}
, [](const IndexPutAccumulateOp&) { return false; }, [](const ViewAsScalar&) { return false; },
    [](const EmbeddingFwdOp&) { return false; }, [](const TopKOp&) { return false; },
    [](const ArgsortOp&) { return false; }, [](const Expr&) { return true; },
} // namespace nvfuser
);
}

void throw_no_kernel_form(const Expr& expr) {
  throw UserError(
      {
          .headline = {expr.op_name(), " has no kernel form"},
          .node = {describe(expr)},
          .expected = {"an operation that runs element by element, or a reduction"},
          .found = {expr.op_name()},
          .fix =
              {"evaluate it through the fallback evaluator: fd.execute does, or evaluate(fusion, "
               "inputs)"},
      },
      ErrorKind::NotImplemented);
}

} // namespace nvfuser
