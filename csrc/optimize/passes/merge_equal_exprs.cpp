#include "optimize/passes/merge_equal_exprs.h"

#include <algorithm>
#include <unordered_map>

#include "graph/domain_map.h"
#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ir/dependencies.h"
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

/// Scalars that are computed alike, such as sizes, become one value. Bytes do not tell them apart.
class ScalarMerger {
 public:
  bool run(Fusion& fusion) {
    for (Val* val : fusion.vals()) { // operands before what reads them
      if (is_merged(val)) {
        merge(fusion, val);
      }
    }
    if (!first_of_.empty()) {
      replace_sizes(fusion);
    }
    return !first_of_.empty();
  }

 private:
  static bool is_merged(const Val* val) {
    return val->is_scalar() && !val->is_fusion_output() && val->definition() != nullptr &&
           is_arithmetic(*val->definition());
  }

  void merge(Fusion& fusion, Val* val) {
    const Expr& expr = *val->definition();
    const size_t hash = hash_of(expr);
    const auto [begin, end] = known_.equal_range(hash);
    const auto found = std::find_if(begin, end, [&](const auto& entry) {
      return entry.second->dtype() == val->dtype() &&
             compute_the_same(*entry.second->definition(), expr);
    });
    if (found == end) {
      known_.emplace(hash, val);
    } else {
      first_of_.emplace(val, found->second);
      fusion.replace_uses(val, found->second, std::vector<Expr*>(val->all_uses()));
    }
  }

  /// Cost: O(1), since operands that are equal are one value already.
  static size_t hash_of(const Expr& expr) {
    size_t hash = expr.op_hash();
    for (const Val* in : expr.inputs()) {
      hash = detail::hash_combine(
          hash, in->is_const() ? in->hash() : static_cast<size_t>(in->serial()));
    }
    return hash;
  }

  static bool compute_the_same(const Expr& a, const Expr& b) {
    return std::ranges::equal(
               a.inputs(), b.inputs(),
               [](const Val* x, const Val* y) {
                 return x == y || (x->is_const() && y->is_const() && x->same_as(y));
               }) &&
           a.same_definition(&b);
  }

  [[nodiscard]] Val* replaced(Val* val) const {
    const auto found = first_of_.find(val);
    return found == first_of_.end() ? val : found->second;
  }

  void replace_sizes(Fusion& fusion) const {
    for (const TensorView* tensor : scheduled_tensors(fusion)) {
      for (IterDomain* axis : tensor->domain()->all_ids()) {
        axis->assign_extents(replaced(axis->extent()), replaced(axis->expanded_extent()));
      }
      for (Expr* transform : tensor->domain()->all_exprs()) {
        if (auto* resize = transform->as<Resize>()) {
          resize->left = replaced(resize->left);
          resize->right = replaced(resize->right);
        }
      }
    }
  }

  std::unordered_multimap<size_t, Val*> known_;   // only looked up
  std::unordered_map<const Val*, Val*> first_of_; // only looked up
};

} // namespace

bool merge_equal_exprs(Fusion& fusion) {
  const bool has_equal_scalars = ScalarMerger().run(fusion);
  return Merger().run(fusion) || has_equal_scalars;
}

} // namespace nvfuser::optimize
