#include "codegen/rounded_values.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "base/options.h"
#include "graph/domain_map.h"
#include "ir/all_nodes.h"

namespace nvfuser {
namespace {

/// Whether a small error of an operand can be any error of the result.
bool has_jumps(const Expr& expr) {
  if (const auto* unary = expr.as<UnaryOp>()) {
    using enum UnaryOpType;
    constexpr std::array kJumps = {Ceil, Floor, Frac, Round, Trunc, BitCast};
    return std::ranges::find(kJumps, unary->op) != kJumps.end();
  }
  if (const auto* binary = expr.as<BinaryOp>()) {
    using enum BinaryOpType;
    constexpr std::array kJumps = {Fmod, Mod, Remainder};
    return std::ranges::find(kJumps, binary->op) != kJumps.end();
  }
  return false;
}

/// The operand whose elements `tensor` repeats, or picks; nullptr if it is something else.
const TensorView* copied(const TensorView* tensor) {
  const Expr* made_by = tensor->definition();
  if (made_by == nullptr) {
    return nullptr;
  }
  if (made_by->is_a<BroadcastOp>() || made_by->is_a<LoadStoreOp>() || made_by->is_a<SqueezeOp>()) {
    return tensor_inputs(made_by).front();
  }
  const auto* choice = made_by->as<TernaryOp>(); // the maximum, or a number where there is none
  const bool is_choice = choice != nullptr && choice->op == TernaryOpType::Where &&
                         !choice->in2->is_tensor() && choice->in3->is_tensor();
  return is_choice ? static_cast<const TensorView*>(choice->in3) : nullptr;
}

const TensorView* source_of(const TensorView* tensor) {
  for (const TensorView* next = tensor; next != nullptr; next = copied(next)) {
    tensor = next;
  }
  return tensor;
}

const ReductionOp* reduction_of(const TensorView* tensor, BinaryOpType op) {
  const auto* reduction =
      tensor->definition() == nullptr ? nullptr : tensor->definition()->as<ReductionOp>();
  return reduction != nullptr && reduction->op == op ? reduction : nullptr;
}

/// The elements that `maximum` is found among: it may be found in several steps.
const TensorView* elements_of(const ReductionOp* maximum) {
  const TensorView* elements = source_of(static_cast<const TensorView*>(maximum->arg));
  const ReductionOp* step = reduction_of(elements, BinaryOpType::Max);
  return step == nullptr ? elements : elements_of(step);
}

/// Whether both are the same elements, loaded and converted alike: once more in each pass, perhaps.
bool are_equal(const TensorView* a, const TensorView* b) {
  a = source_of(a);
  b = source_of(b);
  if (a == b || a->definition() == nullptr || b->definition() == nullptr) {
    return a == b;
  }
  const auto* one = a->definition()->as<UnaryOp>();
  const auto* other = b->definition()->as<UnaryOp>();
  return one != nullptr && other != nullptr && one->op == other->op && a->dtype() == b->dtype() &&
         one->arg->is_tensor() && other->arg->is_tensor() &&
         are_equal(
             static_cast<const TensorView*>(one->arg), static_cast<const TensorView*>(other->arg));
}

/// Whether sums alone read `tensor`, and the last one of them has an element for each of `maxima`.
bool is_summed_like(const TensorView* tensor, const TensorView* maxima) {
  const TensorView* sum = nullptr;
  for (const TensorView* next = tensor; next->uses().size() == 1;) {
    const auto* step = next->uses().front()->as<ReductionOp>();
    if (step == nullptr || step->op != BinaryOpType::Add) {
      break;
    }
    sum = next = static_cast<const TensorView*>(step->out);
  }
  return sum != nullptr && std::ranges::equal(
                               TensorDomain::no_reductions(sum->logical()),
                               TensorDomain::no_reductions(maxima->logical()),
                               [](const IterDomain* a, const IterDomain* b) {
                                 return a->extent()->same_as(b->extent());
                               });
}

/// exp(x - max(x)), which a sum over the same elements reads.
bool is_summed_about_maximum(const Expr& expr) {
  const auto* power = expr.as<UnaryOp>();
  if (power == nullptr || power->op != UnaryOpType::Exp || !power->arg->is_tensor() ||
      power->arg->definition() == nullptr) {
    return false;
  }
  const auto* difference = power->arg->definition()->as<BinaryOp>();
  if (difference == nullptr || difference->op != BinaryOpType::Sub ||
      !difference->lhs->is_tensor() || !difference->rhs->is_tensor()) {
    return false;
  }
  const ReductionOp* maximum =
      reduction_of(source_of(static_cast<const TensorView*>(difference->rhs)), BinaryOpType::Max);
  return maximum != nullptr &&
         are_equal(elements_of(maximum), static_cast<const TensorView*>(difference->lhs)) &&
         is_summed_like(
             static_cast<const TensorView*>(power->out),
             static_cast<const TensorView*>(maximum->out));
}

} // namespace

RoundedValues::RoundedValues(const Kernel& kernel) {
  if (has_option(DisableOption::ApproximateMath)) {
    return;
  }
  const auto is_rounded_by = [&](const Expr* use) {
    return !has_jumps(*use) && std::ranges::all_of(use->outputs(), [&](const Val* result) {
      return is_low_precision(result->dtype()) ||
             (result->is_tensor() && contains(static_cast<const TensorView*>(result)));
    });
  };
  for (const Expr* expr : tensor_exprs(kernel) | std::views::reverse) {
    for (const TensorView* result : tensor_outputs(expr)) {
      if (result->dtype() == DataType::Float && !result->is_fusion_output() &&
          !result->uses().empty() &&
          (is_summed_about_maximum(*expr) || std::ranges::all_of(result->uses(), is_rounded_by))) {
        rounded_.insert(result);
      }
    }
  }
}

} // namespace nvfuser
