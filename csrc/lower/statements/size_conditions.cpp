#include "lower/statements/size_conditions.h"

#include "ir/scalar.h"
#include "lower/analysis/launch_conditions.h"

namespace nvfuser {

void SizeConditions::require_elements(
    const TensorView* arg, int64_t dim, const TensorView* positions) {
  Val* count = kernel_.one();
  for (Val* size : positions->shape()) {
    count = scalar::mul(count, size);
  }
  require(
      scalar::logical_or(
          scalar::lt(kernel_.zero(), arg->size(dim)), scalar::eq(count, kernel_.zero())),
      arg, {"Dimension ", dim, " of ", arg->to_string(), ", which is looked up, has no element"});
}

void SizeConditions::require_at_most(
    const TensorView* small, const TensorView* large, int64_t except) {
  for (int64_t dim = 0; dim < small->rank(); ++dim) {
    if (dim != except) {
      require(
          scalar::le(small->size(dim), large->size(dim)), small,
          {"Dimension ", dim, " of ", small->to_string(), " is larger than that of ",
           large->to_string()});
    }
  }
}

void SizeConditions::require(Val* holds, const TensorView* tensor, const Part& headline) {
  if (!holds->is_true()) {
    kernel_.launch.conditions.push_back(size_condition(holds, headline, describe(tensor)));
  }
}

void require_sizes(const SelectOp& op, SizeConditions& conditions) {
  conditions.require_elements(op.arg, op.dim, op.out);
}

void require_sizes(const IndexSelectOp& op, SizeConditions& conditions) {
  conditions.require_elements(op.arg, op.dim, op.index);
}

void require_sizes(const GatherOp& op, SizeConditions& conditions) {
  conditions.require_elements(op.arg, op.dim, op.index);
  if (!op.exact_sizes) { // else they are equal, or broadcast together
    conditions.require_at_most(op.index, op.arg, op.dim);
  }
}

void require_sizes(const ScatterOp& op, SizeConditions& conditions) {
  constexpr int64_t kNone = -1;
  conditions.require_at_most(op.index, op.out, op.dim);
  if (op.src->is_tensor()) {
    conditions.require_at_most(op.index, static_cast<const TensorView*>(op.src), kNone);
  }
}

} // namespace nvfuser
