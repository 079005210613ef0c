#include "transform/redefine.h"

#include "ir/all_nodes.h"
#include "ops/index.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/search.h"
#include "ops/variance.h"

namespace nvfuser {
namespace {

using Results = std::vector<TensorView*>;

/// The dimensions of the operand that `out` has reduced.
std::vector<int64_t> reduced_dims(const TensorView* out) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < out->logical().size(); ++i) {
    if (out->logical()[i]->is_reduction()) {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  return dims;
}

Results redefine_welford(const WelfordOp& op) {
  const bool reads_elements =
      op.in_avg->is_tensor() && !op.in_var->is_tensor() && !op.in_n->is_tensor();
  if (!reads_elements) {
    return {};
  }
  const auto parts = ops::welford_of_squeezed(
      static_cast<TensorView*>(op.in_avg), reduced_dims(static_cast<TensorView*>(op.out_avg)));
  return {parts.avg, parts.var_sum, parts.n};
}

} // namespace

std::vector<TensorView*> redefine(const Expr& expr) {
  return visit(
      expr,
      overloaded{
          [](const ReductionOp& op) -> Results {
            return {ops::reduce_axes(
                op.op, static_cast<TensorView*>(op.arg),
                reduced_dims(static_cast<TensorView*>(op.out)), /*keepdim=*/false, op.init)};
          },
          [](const WelfordOp& op) { return redefine_welford(op); },
          [](const ScanOp& op) -> Results { return {ops::scan(op.arg, op.dim, op.op, op.init)}; },
          [](const ArgsortOp& op) -> Results {
            return {ops::argsort(op.arg, op.dim, op.descending, op.stable)};
          },
          [](const TopKOp& op) -> Results {
            const ops::TopK parts = ops::topk(op.arg, op.k, op.dim, op.largest, op.sorted);
            return {parts.values, parts.indices};
          },
          [](const GatherOp& op) -> Results {
            return {
                op.exact_sizes ? ops::take_along_axis(op.arg, op.index, op.dim)
                               : ops::gather(op.arg, op.index, op.dim)};
          },
          [](const ScatterOp& op) -> Results {
            return {ops::scatter(
                op.arg, op.index, op.src, op.dim,
                op.accumulate ? std::optional(op.accumulate_op) : std::nullopt)};
          },
          [](const IndexPutAccumulateOp& op) -> Results {
            return {ops::index_put_accumulate(op.arg, op.index, op.value)};
          },
          [](const Expr&) -> Results { return {}; },
      });
}

} // namespace nvfuser
