#include "codegen/rounded_values.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "base/options.h"
#include "graph/domain_map.h"
#include "ir/all_nodes.h"
#include "lower/analysis/powers_about_maxima.h"

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

/// exp(x - max(x)), which a sum over the same elements reads.
bool is_summed_about_maximum(const Expr& expr) {
  const std::optional<PowerAboutMaximum> power = power_about_maximum(expr);
  return power.has_value() && power->out->uses().size() == 1 &&
         sum_like_maximum(*power, *power->out->uses().front()) != nullptr;
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
