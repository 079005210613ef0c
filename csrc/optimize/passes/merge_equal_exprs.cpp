#include "optimize/passes/merge_equal_exprs.h"

#include <algorithm>
#include <unordered_map>

#include "ir/pointwise.h"
#include "ir/random_exprs.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// Equal for expressions that compute the same: operands are the same values, or equal scalars.
size_t hash_of(const Expr& expr) {
  size_t hash = expr.op_hash();
  for (const Val* in : expr.inputs()) {
    const size_t operand = in->is_tensor() ? static_cast<size_t>(in->serial()) : in->hash();
    hash = detail::hash_combine(hash, operand);
  }
  for (const Val* out : expr.outputs()) {
    hash = detail::hash_combine(hash, static_cast<size_t>(out->dtype()));
  }
  return hash;
}

/// Operands that are tensors were merged before, so that equal ones are one.
bool compute_the_same(const Expr& a, const Expr& b) {
  const auto is_same_operand = [](const Val* x, const Val* y) {
    return x == y || (!x->is_tensor() && !y->is_tensor() && x->same_as(y));
  };
  return std::ranges::equal(a.inputs(), b.inputs(), is_same_operand) && a.same_definition(&b);
}

bool may_be_merged(const Expr& expr) {
  const auto* copy = expr.as<LoadStoreOp>();
  const bool asks_for_a_cut = copy != nullptr && copy->op == LoadStoreOpType::SegmenterSet;
  return !expr.is_a<RNGOp>() && !asks_for_a_cut;
}

} // namespace

bool merge_equal_exprs(Fusion& fusion) {
  std::unordered_multimap<size_t, Expr*> known; // only looked up
  bool has_changed = false;
  for (Expr* expr : fusion.exprs()) {
    const std::vector<TensorView*> outs = tensor_outputs(expr);
    const bool is_gone = outs.empty() || outs.front()->definition() != expr;
    if (is_gone || !may_be_merged(*expr)) {
      continue;
    }
    const size_t hash = hash_of(*expr);
    const auto [begin, end] = known.equal_range(hash);
    const auto found = std::find_if(
        begin, end, [&](const auto& entry) { return compute_the_same(*entry.second, *expr); });
    if (found == end) {
      known.emplace(hash, expr);
      continue;
    }
    const std::vector<TensorView*> firsts = tensor_outputs(found->second);
    for (size_t i = 0; i < outs.size(); ++i) {
      replace(outs[i], firsts[i]);
    }
    has_changed = true;
  }
  return has_changed;
}

} // namespace nvfuser::optimize
