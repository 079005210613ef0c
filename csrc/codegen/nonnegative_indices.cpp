#include "codegen/nonnegative_indices.h"

#include "ir/all_nodes.h"
#include "ir/kernel_nodes.h"
#include "ir/scopes.h"
#include "lower/analysis/loading_threads.h"

namespace nvfuser {

NonnegativeIndices::NonnegativeIndices(const Kernel& kernel) : kernel_(kernel) {
  for (int64_t dim = 0; dim < 3; ++dim) {
    has_loading_threads_ |= loading_positions(kernel, dim) > 0;
  }
  for_each_node(kernel.body, [&](const Expr& node) {
    const auto* loop = node.as<ForLoop>();
    if (loop != nullptr && loop->loop_kind != LoopKind::Hardware) {
      starts_[loop->index].push_back(loop->start);
    }
  });
  for (const SizeSource& source : kernel.launch.sizes) {
    ranges_[source.extent] = {.is_nonnegative = true, .is_known = false};
  }
}

bool NonnegativeIndices::divides_unsigned(const BinaryOp& division) {
  const Range dividend = range(division.lhs);
  const Range divisor = range(division.rhs);
  return dividend.is_nonnegative && divisor.is_nonnegative &&
         !(dividend.is_known && divisor.is_known);
}

NonnegativeIndices::Range NonnegativeIndices::range(const Val* val) {
  const auto known = ranges_.find(val);
  if (known != ranges_.end()) {
    return known->second;
  }
  const Range found = find_range(val);
  ranges_[val] = found;
  return found;
}

NonnegativeIndices::Range NonnegativeIndices::find_range(const Val* val) {
  if (!val->is_scalar() || !is_integral(val->dtype())) {
    return {};
  }
  if (val->is_const()) {
    return {.is_nonnegative = as_int(val->value()) >= 0, .is_known = true};
  }
  const Expr* definition = val->definition();
  if (definition == nullptr || starts_.contains(val)) {
    return range_of_leaf(val);
  }
  if (const auto* copy = definition->as<LoadStoreOp>()) {
    return range(copy->arg);
  }
  const auto* op = definition->as<BinaryOp>();
  return op == nullptr ? Range{} : range_of(*op);
}

NonnegativeIndices::Range NonnegativeIndices::range_of_leaf(const Val* val) {
  if (const auto loop = starts_.find(val); loop != starts_.end()) {
    Range found{.is_nonnegative = true, .is_known = true};
    for (const Val* start : loop->second) {
      const Range first = range(start);
      found.is_nonnegative &= first.is_nonnegative;
      found.is_known &= first.is_known;
    }
    return found;
  }
  if (val->vtype() != ValType::NamedScalar) {
    return {};
  }
  const auto& named = static_cast<const NamedScalar&>(*val);
  const bool is_position = named.parallel_index() != ParallelType::Serial;
  const bool is_extent = named.parallel_dim() != ParallelType::Serial;
  return {.is_nonnegative = is_extent || (is_position && !has_loading_threads_), .is_known = true};
}

NonnegativeIndices::Range NonnegativeIndices::range_of(const BinaryOp& op) {
  const Range lhs = range(op.lhs);
  const Range rhs = range(op.rhs);
  const bool is_known = lhs.is_known && rhs.is_known;
  switch (op.op) {
    case BinaryOpType::Add:
    case BinaryOpType::Mul:
    case BinaryOpType::Div:
    case BinaryOpType::CeilDiv:
    case BinaryOpType::Min:
      return {.is_nonnegative = lhs.is_nonnegative && rhs.is_nonnegative, .is_known = is_known};
    case BinaryOpType::Mod: return {.is_nonnegative = lhs.is_nonnegative, .is_known = is_known};
    case BinaryOpType::Max:
      return {.is_nonnegative = lhs.is_nonnegative || rhs.is_nonnegative, .is_known = is_known};
    default: return {};
  }
}

} // namespace nvfuser
