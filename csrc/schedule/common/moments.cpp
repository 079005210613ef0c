#include "schedule/common/moments.h"

#include <algorithm>
#include <set>

#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/shape.h"
#include "ops/variance.h"
#include "optimize/rewrite.h"

namespace nvfuser::schedule {
namespace {

const ReductionOp* sum_of(const ReductionFacts& facts) {
  const auto* reduction = facts.expr->as<ReductionOp>();
  return reduction != nullptr && reduction->op == BinaryOpType::Add ? reduction : nullptr;
}

/// The definition of `val` as this operation, if nothing else reads `val`.
template <typename Op>
const Op* only_read_by(const Val* val, const Expr* reader) {
  const bool is_own = val->is_tensor() && val->definition() != nullptr && val->uses().size() == 1 &&
                      val->uses().front() == reader && !val->is_fusion_output();
  return is_own ? val->definition()->as<Op>() : nullptr;
}

const BinaryOp* binary_read_by(const Val* val, BinaryOpType op, const Expr* reader) {
  const auto* binary = only_read_by<BinaryOp>(val, reader);
  return binary != nullptr && binary->op == op ? binary : nullptr;
}

/// The definition of `val` as this operation, whatever else reads `val`.
const BinaryOp* binary_that_makes(const Val* val, BinaryOpType op) {
  const auto* binary = val->is_tensor() && val->definition() != nullptr
                           ? val->definition()->as<BinaryOp>()
                           : nullptr;
  return binary != nullptr && binary->op == op ? binary : nullptr;
}

std::vector<int64_t> reduced_positions(const ReductionOp& reduction) {
  const IterDomains& axes = static_cast<const TensorView*>(reduction.out)->logical();
  std::vector<int64_t> positions;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i]->is_reduction()) {
      positions.push_back(static_cast<int64_t>(i));
    }
  }
  return positions;
}

/// Whether `val` is a tensor with one element for all that are reduced to one.
bool is_alike(const Val* val, const ReductionOp& reduction) {
  return val->is_tensor() &&
         std::ranges::all_of(reduced_positions(reduction), [&](int64_t position) {
           return static_cast<const TensorView*>(val)
               ->logical()
               .at(static_cast<size_t>(position))
               ->is_broadcast();
         });
}

bool leads_to(const TensorView* from, const TensorView* to) {
  std::vector<const TensorView*> pending{to};
  std::set<const TensorView*> seen{to}; // only looked up
  while (!pending.empty()) {
    const TensorView* current = pending.back();
    pending.pop_back();
    if (current == from) {
      return true;
    }
    for (const TensorView* producer : current->producers()) {
      if (seen.insert(producer).second) {
        pending.push_back(producer);
      }
    }
  }
  return false;
}

} // namespace

std::vector<Moments> find_moments(const FusionSummary& summary, Differences differences) {
  std::vector<Moments> found;
  for (const ReductionFacts& second : summary.reductions()) {
    const ReductionOp* squares = sum_of(second);
    const BinaryOp* square =
        squares == nullptr ? nullptr : binary_read_by(squares->arg, BinaryOpType::Mul, squares);
    if (square == nullptr || square->lhs != square->rhs) {
      continue;
    }
    const BinaryOp* difference = differences == Differences::OfOthersToo
                                     ? binary_that_makes(square->lhs, BinaryOpType::Sub)
                                     : binary_read_by(square->lhs, BinaryOpType::Sub, square);
    if (difference == nullptr || !is_alike(difference->rhs, *squares)) {
      continue;
    }
    auto* center = static_cast<TensorView*>(difference->rhs);
    for (const ReductionFacts& first : summary.reductions()) {
      const ReductionOp* sum = sum_of(first);
      const bool is_taken = std::ranges::find(found, sum, &Moments::sum) != found.end();
      if (sum != nullptr && !is_taken && sum->arg == difference->lhs &&
          first.has_same_axes(second) && is_floating_point(sum->arg->dtype()) &&
          leads_to(first.out, center)) {
        found.push_back(
            {.sum = sum,
             .squares = squares,
             .center = center,
             .differences = {
                 static_cast<const TensorView*>(difference->out),
                 static_cast<const TensorView*>(square->out)}});
        break;
      }
    }
  }
  return found;
}

void combine_moments(Fusion& fusion, const std::vector<Moments>& moments) {
  const FusionGuard guard(&fusion);
  for (const Moments& each : moments) {
    const optimize::MadeFor made_for(each.squares);
    auto* elements = static_cast<TensorView*>(each.sum->arg);
    auto* sum = static_cast<TensorView*>(each.sum->out);
    auto* squares = static_cast<TensorView*>(each.squares->out);
    const std::vector<int64_t> reduced = reduced_positions(*each.sum);
    const ops::Welford pass = ops::welford(elements, reduced);
    TensorView* count = ops::cast(pass.n, elements->dtype());
    optimize::replace(sum, ops::mul(pass.avg, count));
    TensorView* offset = ops::sub(pass.avg, ops::squeeze(each.center, reduced));
    optimize::replace(squares, ops::add(pass.var_sum, ops::mul(count, ops::mul(offset, offset))));
  }
}

} // namespace nvfuser::schedule
