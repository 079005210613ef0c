#include "lower/analysis/powers_about_maxima.h"

#include <algorithm>
#include <vector>

#include "graph/domain_map.h"
#include "ir/all_nodes.h"

namespace nvfuser {
namespace {

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

const ReductionOp* reduction_of(const TensorView* tensor, BinaryOpType op) {
  const auto* reduction =
      tensor->definition() == nullptr ? nullptr : tensor->definition()->as<ReductionOp>();
  return reduction != nullptr && reduction->op == op ? reduction : nullptr;
}

/// The elements that `maximum` is found among: it may be found in several steps.
const TensorView* elements_of(const ReductionOp* maximum) {
  const TensorView* elements = original_of(static_cast<const TensorView*>(maximum->arg));
  const ReductionOp* step = reduction_of(elements, BinaryOpType::Max);
  return step == nullptr ? elements : elements_of(step);
}

/// Whether both are the same elements, loaded and converted alike: once more in each pass, perhaps.
bool are_equal(const TensorView* a, const TensorView* b) {
  a = original_of(a);
  b = original_of(b);
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

} // namespace

const TensorView* original_of(const TensorView* tensor) {
  for (const TensorView* next = tensor; next != nullptr; next = copied(next)) {
    tensor = next;
  }
  return tensor;
}

std::optional<PowerAboutMaximum> power_about_maximum(const Expr& expr) {
  const auto* power = expr.as<UnaryOp>();
  if (power == nullptr || power->op != UnaryOpType::Exp || !power->arg->is_tensor() ||
      power->arg->definition() == nullptr) {
    return std::nullopt;
  }
  const auto* difference = power->arg->definition()->as<BinaryOp>();
  if (difference == nullptr || difference->op != BinaryOpType::Sub ||
      !difference->lhs->is_tensor() || !difference->rhs->is_tensor()) {
    return std::nullopt;
  }
  const auto* elements = static_cast<const TensorView*>(difference->lhs);
  const ReductionOp* maximum =
      reduction_of(original_of(static_cast<const TensorView*>(difference->rhs)), BinaryOpType::Max);
  if (maximum == nullptr || !are_equal(elements_of(maximum), elements)) {
    return std::nullopt;
  }
  return PowerAboutMaximum{
      .out = static_cast<const TensorView*>(power->out), .elements = elements, .maximum = maximum};
}

const TensorView* sum_like_maximum(const PowerAboutMaximum& power, const Expr& step) {
  const TensorView* sum = nullptr;
  for (const Expr* next = &step; next != nullptr;) {
    const auto* reduction = next->as<ReductionOp>();
    if (reduction == nullptr || reduction->op != BinaryOpType::Add) {
      break;
    }
    sum = static_cast<const TensorView*>(reduction->out);
    next = sum->uses().size() == 1 ? sum->uses().front() : nullptr;
  }
  const auto* maxima = static_cast<const TensorView*>(power.maximum->out);
  const bool is_like = sum != nullptr && std::ranges::equal(
                                             TensorDomain::no_reductions(sum->logical()),
                                             TensorDomain::no_reductions(maxima->logical()),
                                             [](const IterDomain* a, const IterDomain* b) {
                                               return a->extent()->same_as(b->extent());
                                             });
  return is_like ? sum : nullptr;
}

bool combines_about_maximum(const ClusterReduction& reduction) {
  if (reduction.ops != std::vector<BinaryOpType>{BinaryOpType::Max, BinaryOpType::Add}) {
    return false;
  }
  const auto view_of = [&](size_t i) {
    return static_cast<const TensorIndex*>(reduction.outs[i])->view();
  };
  // The sum may be computed in several steps. Independent values are exchanged as they are.
  const Expr* step = view_of(1)->definition();
  while (step != nullptr && step->is_a<ReductionOp>()) {
    step = step->inputs().front()->definition();
  }
  const std::optional<PowerAboutMaximum> power =
      step == nullptr ? std::nullopt : power_about_maximum(*step);
  return power && power->maximum->out == view_of(0);
}

} // namespace nvfuser
