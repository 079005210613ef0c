#include "codegen/counted_draws.h"

#include <algorithm>
#include <cmath>

#include "graph/domain_map.h"
#include "ir/all_nodes.h"

namespace nvfuser {
namespace {

constexpr double kSteps = 1 << 24;

/// Whether `use` compares `drawn` with a constant by size.
bool compares_with_constant(const Expr* use, const TensorView* drawn) {
  const auto* comparison = use->as<BinaryOp>();
  return comparison != nullptr && comparison->lhs == drawn && comparison->rhs->is_const() &&
         compare_steps(comparison->op, static_cast<float>(as_double(comparison->rhs->value())));
}

} // namespace

CountedDraws::CountedDraws(const Kernel& kernel) {
  if (!kernel.target().is_cuda()) {
    return; // a processor converts and compares whole vectors
  }
  for (const Expr* expr : tensor_exprs(kernel)) {
    const auto* draw = expr->as<RNGOp>();
    if (draw == nullptr || draw->op != RNGOpType::Uniform) {
      continue;
    }
    const TensorView* drawn = draw->out;
    const bool is_only_compared = std::ranges::all_of(
        drawn->uses(), [&](const Expr* use) { return compares_with_constant(use, drawn); });
    if (drawn->dtype() == DataType::Float && drawn->memory_type() == MemoryType::Local &&
        !drawn->is_fusion_output() && is_only_compared) {
      counted_.insert(drawn);
    }
  }
}

std::optional<StepComparison> compare_steps(BinaryOpType op, float bound) {
  if (std::isnan(bound)) {
    return std::nullopt;
  }
  const double scaled = static_cast<double>(bound) * kSteps;
  const auto first_at_least = static_cast<int64_t>(std::ceil(std::clamp(scaled, 0.0, kSteps)));
  const auto first_above = static_cast<int64_t>(std::clamp(std::floor(scaled) + 1.0, 0.0, kSteps));
  switch (op) {
    case BinaryOpType::LT: return StepComparison{"<", first_at_least};
    case BinaryOpType::LE: return StepComparison{"<", first_above};
    case BinaryOpType::GE: return StepComparison{">=", first_at_least};
    case BinaryOpType::GT: return StepComparison{">=", first_above};
    default: return std::nullopt;
  }
}

} // namespace nvfuser
