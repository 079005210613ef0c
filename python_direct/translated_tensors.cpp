#include "translated_tensors.h"

#include <algorithm>

#include "ops/reduce.h"

namespace nvfuser::python {

IterDomains shape_of(const TensorView* tv) {
  return TensorDomain::no_reductions(tv->logical());
}

TensorView* as_tensor(Val* val) {
  NVF_INVARIANT(val->is_tensor(), "reads and writes tensors: ", describe(val));
  return static_cast<TensorView*>(val);
}

std::vector<int64_t> positions(const IterDomains& of, const IterDomains& in) {
  std::vector<int64_t> result;
  for (const IterDomain* axis : of) {
    const auto found = std::find(in.begin(), in.end(), axis);
    if (found == in.end() || of.size() != in.size()) {
      return {};
    }
    result.push_back(found - in.begin());
  }
  return result;
}

std::vector<int64_t> stride_order_of(const TensorView* tv) {
  return stride_order_of(*tv->domain());
}

std::vector<int64_t> stride_order_of(const TensorDomain& domain) {
  if (!domain.has_allocation()) {
    return {};
  }
  std::vector<int64_t> order = positions(
      TensorDomain::no_reductions(domain.logical()),
      TensorDomain::no_reductions(domain.allocation()));
  for (int64_t& entry : order) {
    entry = static_cast<int64_t>(order.size()) - 1 - entry;
  }
  return order;
}

std::vector<Val*> sizes_of(const TensorView* tv) {
  std::vector<Val*> sizes;
  for (const IterDomain* axis : shape_of(tv)) {
    sizes.push_back(axis->maybe_expanded_extent());
  }
  return sizes;
}

bool is_resized(const LoadStoreOp& op) {
  if (op.op != LoadStoreOpType::Set || !op.out->is_tensor()) {
    return false;
  }
  const TensorView* out = as_tensor(op.out);
  const std::vector<Val*> sizes = sizes_of(out);
  const std::vector<Val*> before = sizes_of(as_tensor(op.arg));
  // The text has the values of constants. An `expand` to the same ones is a copy.
  const auto is_same = [](const Val* a, const Val* b) {
    return a == b || (a->is_const() && b->is_const() && a->value() == b->value());
  };
  return !out->has_root() &&
         !std::equal(sizes.begin(), sizes.end(), before.begin(), before.end(), is_same);
}

bool is_row_major(const std::vector<int64_t>& stride_order) {
  return std::is_sorted(stride_order.rbegin(), stride_order.rend());
}

std::vector<int64_t> true_positions(const std::vector<bool>& flags) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) {
      result.push_back(static_cast<int64_t>(i));
    }
  }
  return result;
}

bool is_identity_of(BinaryOpType op, const Val* init) {
  return init->is_const() && ops::is_reduction_identity(op, init->value(), init->dtype());
}

int64_t block_size_of(const TensorView* out, const TensorView* scale) {
  const Val* elements = shape_of(out).back()->extent();
  const Val* blocks = shape_of(scale).back()->extent();
  if (elements->is_const() && blocks->is_const() && as_int(blocks->value()) > 0) {
    return as_int(elements->value()) / as_int(blocks->value());
  }
  const Expr* division = blocks->definition(); // blocks = elements / size
  const auto* quotient = division == nullptr ? nullptr : division->as<BinaryOp>();
  if (quotient == nullptr || !quotient->rhs->is_const()) {
    throw_untranslatable(*scale, "block scales whose number is that of elements by a constant");
  }
  return as_int(quotient->rhs->value());
}

void throw_untranslatable(const Statement& statement, const char* expected) {
  throw UserError(
      {
          .headline = {"Translation to Python: unhandled ", statement.to_string()},
          .node = describe(statement),
          .expected = {expected},
          .found = {statement.to_string()},
          .fix = {"translate the fusion before it is scheduled"},
      },
      ErrorKind::NotImplemented);
}

} // namespace nvfuser::python
