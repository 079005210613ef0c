#include "schedule/common/factored_sums.h"

#include <algorithm>
#include <unordered_map>

#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/reduce.h"
#include "ops/shape.h"
#include "optimize/rewrite.h"

namespace nvfuser::schedule {
namespace {

/// How many reductions, one after the other, a value waits for.
class Waits {
 public:
  explicit Waits(const FusionSummary& summary) {
    for (const Expr* expr : summary.exprs()) {
      int64_t most = 0;
      for (const Val* in : expr->inputs()) {
        most = std::max(most, of(in));
      }
      const bool is_reduction =
          std::ranges::find(summary.reductions(), expr, &ReductionFacts::expr) !=
          summary.reductions().end();
      for (const Val* out : expr->outputs()) {
        of_[out] = most + (is_reduction ? 1 : 0);
      }
    }
  }
  [[nodiscard]] int64_t of(const Val* val) const {
    const auto found = of_.find(val);
    return found == of_.end() ? 0 : found->second;
  }

 private:
  std::unordered_map<const Val*, int64_t> of_;
};

std::vector<int64_t> reduced_positions(const TensorView* sum) {
  std::vector<int64_t> positions;
  for (size_t i = 0; i < sum->logical().size(); ++i) {
    if (sum->logical()[i]->is_reduction()) {
      positions.push_back(static_cast<int64_t>(i));
    }
  }
  return positions;
}

bool is_alike(const Val* factor, const std::vector<int64_t>& positions) {
  return factor->is_tensor() && std::ranges::all_of(positions, [&](int64_t position) {
           return static_cast<const TensorView*>(factor)
               ->logical()
               .at(static_cast<size_t>(position))
               ->is_broadcast();
         });
}

bool has_all_axes(const Val* factor) {
  return factor->is_tensor() &&
         std::ranges::none_of(
             static_cast<const TensorView*>(factor)->logical(), &IterDomain::is_broadcast);
}

/// Append the factors of `product`, in its order.
void collect_factors(Val* product, DataType dtype, std::vector<Val*>& factors) {
  const auto* binary = product->is_tensor() && product->definition() != nullptr
                           ? product->definition()->as<BinaryOp>()
                           : nullptr;
  if (binary == nullptr || binary->op != BinaryOpType::Mul || product->dtype() != dtype) {
    factors.push_back(product);
    return;
  }
  collect_factors(binary->lhs, dtype, factors);
  collect_factors(binary->rhs, dtype, factors);
}

/// The factor of each sum: what it was broadcast from, where that is how it came to be.
TensorView* for_each_sum(TensorView* factor, const std::vector<int64_t>& positions) {
  if (const auto* broadcast =
          factor->definition() == nullptr ? nullptr : factor->definition()->as<BroadcastOp>()) {
    std::vector<int64_t> added;
    for (size_t i = 0; i < broadcast->flags.size(); ++i) {
      if (broadcast->flags[i]) {
        added.push_back(static_cast<int64_t>(i));
      }
    }
    if (added == positions) {
      return static_cast<TensorView*>(broadcast->arg);
    }
  }
  return ops::squeeze(factor, positions, /*squeeze_expanded=*/true);
}

bool try_factor(const ReductionOp& sum, const Waits& waits) {
  auto* out = static_cast<TensorView*>(sum.out);
  const DataType dtype = out->dtype();
  if (sum.op != BinaryOpType::Add || sum.arg->dtype() != dtype ||
      (dtype != DataType::Float && dtype != DataType::Double)) {
    return false;
  }
  const std::vector<int64_t> positions = reduced_positions(out);
  std::vector<Val*> factors;
  collect_factors(sum.arg, dtype, factors);
  int64_t least = 0; // waits that no factor to take has
  for (const Val* factor : factors) {
    least = is_alike(factor, positions) ? least : std::max(least, waits.of(factor));
  }
  std::vector<TensorView*> taken;
  std::vector<Val*> rest;
  for (Val* factor : factors) {
    if (is_alike(factor, positions) && waits.of(factor) > least) {
      taken.push_back(static_cast<TensorView*>(factor));
    } else {
      rest.push_back(factor);
    }
  }
  // The factors that are left have to have an element for each one of the sum.
  if (taken.empty() || std::ranges::none_of(rest, has_all_axes)) {
    return false;
  }
  Val* product = rest.front();
  for (size_t i = 1; i < rest.size(); ++i) {
    product = ops::mul(product, rest[i]);
  }
  TensorView* result =
      ops::new_reduction(sum.op, static_cast<TensorView*>(product), positions, sum.init);
  for (TensorView* factor : taken) {
    result = ops::mul(result, for_each_sum(factor, positions));
  }
  optimize::replace(out, result);
  return true;
}

} // namespace

bool take_factors_out_of_sums(FusionSummary& summary) {
  const Waits waits(summary);
  const auto& reductions = summary.reductions();
  const auto reference =
      std::ranges::find(reductions, summary.problem()->reference, &ReductionFacts::out);
  std::vector<const ReductionOp*> sums;
  for (const ReductionFacts& facts : reductions) {
    const auto* reduction = facts.expr->as<ReductionOp>();
    if (reduction != nullptr && facts.has_same_axes(*reference)) {
      sums.push_back(reduction);
    }
  }
  bool is_edited = false;
  for (const ReductionOp* sum : sums) {
    const optimize::MadeFor made_for(sum);
    is_edited |= try_factor(*sum, waits);
  }
  return is_edited;
}

} // namespace nvfuser::schedule
