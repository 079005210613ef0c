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
  if (const auto* scatter = expr.as<ScatterOp>()) {
    return !scatter->accumulate && !is_expanded(*scatter->arg);
  }
  // clang-format off
  switch (expr.kind()) {
#define NVF_EVALUATED(Node) case ExprKind::Node:
    NVF_FOR_EACH_MATMUL_EXPR(NVF_EVALUATED)
    NVF_FOR_EACH_QUANTIZE_EXPR(NVF_EVALUATED)
#undef NVF_EVALUATED
    case ExprKind::IndexPutAccumulateOp:
    case ExprKind::EmbeddingFwdOp:
    case ExprKind::ViewAsScalar:
    case ExprKind::TopKOp:
    case ExprKind::ArgsortOp:
      return false;
    default:
      return true;
  }
  // clang-format on
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
