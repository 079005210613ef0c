#include "optimize/passes/merge_equal_exprs.h"

#include <algorithm>
#include <unordered_map>

#include "graph/output_order.h"
#include "ir/pointwise.h"
#include "ir/random_exprs.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// Operands that are tensors were merged before, so that equal ones are one.
bool compute_the_same(const Expr& a, const Expr& b) {
  const auto is_same_operand = [](const Val* x, const Val* y) {
    return x == y || (!x->is_tensor() && !y->is_tensor() && x->same_as(y));
  };
  return std::ranges::equal(a.inputs(), b.inputs(), is_same_operand) && a.same_definition(&b);
}

/// A boundary that is returned stays: it would become a copy behind the other one.
bool may_be_merged(const Expr& expr) {
  const auto* copy = expr.as<LoadStoreOp>();
  const bool asks_for_a_cut = copy != nullptr && copy->op == LoadStoreOpType::SegmenterSet;
  return !expr.is_a<RNGOp>() && !(asks_for_a_cut && copy->out->is_fusion_output());
}

class Merger {
 public:
  bool run(Fusion& fusion) {
    for (Expr* expr : exprs_from_outputs(fusion)) {
      const std::vector<TensorView*> outs = tensor_outputs(expr);
      const bool is_gone = outs.empty() || outs.front()->definition() != expr;
      if (!is_gone && may_be_merged(*expr)) {
        merge(expr, outs);
      }
    }
    return has_changed_;
  }

 private:
  void merge(Expr* expr, const std::vector<TensorView*>& outs) {
    const size_t hash = hash_of(*expr);
    const auto [begin, end] = known_.equal_range(hash);
    const auto found = std::find_if(
        begin, end, [&](const auto& entry) { return compute_the_same(*entry.second, *expr); });
    if (found == end) {
      known_.emplace(hash, expr);
      return;
    }
    const std::vector<TensorView*> firsts = tensor_outputs(found->second);
    for (size_t i = 0; i < outs.size(); ++i) {
      number_of_[outs[i]] = number(firsts[i]);
      replace(outs[i], firsts[i]);
    }
    has_changed_ = true;
  }

  /// The same for tensors of which one takes the place of the other: hashes of readers stay.
  [[nodiscard]] size_t number(const Val* tensor) const {
    const auto found = number_of_.find(tensor);
    return found == number_of_.end() ? static_cast<size_t>(tensor->serial()) : found->second;
  }

  /// Equal for expressions that compute the same: operands are the same values, or equal scalars.
  [[nodiscard]] size_t hash_of(const Expr& expr) const {
    size_t hash = expr.op_hash();
    for (const Val* in : expr.inputs()) {
      hash = detail::hash_combine(hash, in->is_tensor() ? number(in) : in->hash());
    }
    for (const Val* out : expr.outputs()) {
      hash = detail::hash_combine(hash, static_cast<size_t>(out->dtype()));
    }
    return hash;
  }

  std::unordered_multimap<size_t, Expr*> known_;     // only looked up
  std::unordered_map<const Val*, size_t> number_of_; // of merged tensors; only looked up
  bool has_changed_ = false;
};

} // namespace

bool merge_equal_exprs(Fusion& fusion) {
  return Merger().run(fusion);
}

} // namespace nvfuser::optimize
