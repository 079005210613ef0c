#include "codegen/normalized_powers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/element_statements.h"
#include "graph/domain_map.h"
#include "ir/all_nodes.h"
#include "ir/scopes.h"
#include "lower/analysis/powers_about_maxima.h"

namespace nvfuser {
namespace {

/// The exponentials about one maximum: one, or as many as passes that compute them again.
struct Group {
  std::vector<PowerAboutMaximum> powers;
  bool is_approximate = true; // all of them

  [[nodiscard]] bool contains(const Val* tensor) const {
    return std::ranges::find(powers, tensor, &PowerAboutMaximum::out) != powers.end();
  }
};

/// Whether `elements` are converted from 16 bits.
bool are_narrow(const TensorView* elements) {
  const Expr* made_by = original_of(elements)->definition();
  const auto* conversion = made_by == nullptr ? nullptr : made_by->as<UnaryOp>();
  return conversion != nullptr && conversion->op == UnaryOpType::Cast &&
         (conversion->arg->dtype() == DataType::BFloat16 ||
          conversion->arg->dtype() == DataType::Half);
}

std::vector<Group> find_groups(const Kernel& kernel, const RoundedValues& rounded) {
  std::vector<Group> groups;
  for (const Expr* expr : tensor_exprs(kernel)) {
    const std::optional<PowerAboutMaximum> power = power_about_maximum(*expr);
    if (!power) {
      continue;
    }
    auto group = std::ranges::find_if(
        groups, [&](const Group& other) { return other.powers.front().maximum == power->maximum; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), Group{});
    }
    group->powers.push_back(*power);
    group->is_approximate =
        group->is_approximate && rounded.contains(power->out) && are_narrow(power->elements);
  }
  return groups;
}

/// Finds the expressions that divide exponentials of `group` by `divisor`, or multiply them by its
/// reciprocal. False: something else reads `divisor`.
bool find_quotients(
    const TensorView* divisor,
    bool is_reciprocal,
    const Group& group,
    std::unordered_set<const Expr*>& quotients) {
  if (divisor->is_fusion_output()) {
    return false;
  }
  return std::ranges::all_of(divisor->uses(), [&](const Expr* use) {
    const Val* out = use->outputs().front();
    const auto* unary = use->as<UnaryOp>();
    const bool is_copy =
        use->is_a<BroadcastOp>() || use->is_a<LoadStoreOp>() || use->is_a<SqueezeOp>();
    const bool inverts = unary != nullptr && unary->op == UnaryOpType::Reciprocal;
    if (out->is_tensor() && (is_copy || (inverts && !is_reciprocal))) {
      const auto* next = static_cast<const TensorView*>(out);
      return find_quotients(next, is_reciprocal || inverts, group, quotients);
    }
    const auto* binary = use->as<BinaryOp>();
    const bool divides = binary != nullptr && (is_reciprocal ? binary->op == BinaryOpType::Mul
                                                             : binary->op == BinaryOpType::Div &&
                                                                   binary->rhs == divisor);
    if (!divides || !group.contains(binary->lhs == divisor ? binary->rhs : binary->lhs)) {
      return false;
    }
    quotients.insert(use);
    return true;
  });
}

/// Whether nothing but their sum, and quotients with it, reads the exponentials.
bool is_normalized(const Group& group) {
  const TensorView* sum = nullptr;
  std::unordered_set<const Expr*> allowed;
  for (const PowerAboutMaximum& power : group.powers) {
    for (const Expr* use : power.out->uses()) {
      if (const TensorView* found = sum_like_maximum(power, *use); found != nullptr) {
        if (sum != nullptr && sum != found) {
          return false;
        }
        sum = found;
        allowed.insert(use);
      }
    }
  }
  return sum != nullptr && find_quotients(sum, false, group, allowed) &&
         std::ranges::all_of(group.powers, [&](const PowerAboutMaximum& power) {
           return !power.out->is_fusion_output() &&
                  std::ranges::all_of(
                      power.out->uses(), [&](const Expr* use) { return allowed.contains(use); });
         });
}

/// A difference in a register that only the exponential in the same scope reads.
struct Folded {
  const UnaryOp* power = nullptr;
  const BinaryOp* difference = nullptr;
  const Allocate* allocate = nullptr;
};

/// Every statement that computes an exponential of `group`; false: one reads another difference.
bool find_statements(const Scope& scope, const Group& group, std::vector<Folded>& found) {
  std::unordered_map<const TensorView*, Folded> differences; // of this scope, only looked up
  for (const Expr* expr : scope) {
    if (const auto* allocate = expr->as<Allocate>()) {
      if (allocate->size->is_const_int(1) && allocate->buffer->uses().size() == 1) {
        differences[allocate->buffer].allocate = allocate;
      }
    } else if (const auto* difference = expr->as<BinaryOp>(); difference != nullptr) {
      const auto known = differences.find(tensor_of_element(difference->out));
      if (known != differences.end() && difference->op == BinaryOpType::Sub &&
          is_unconditional(*difference)) {
        known->second.difference = difference;
      }
    } else if (
        const auto* power = expr->as<UnaryOp>();
        power != nullptr && group.contains(tensor_of_element(power->out))) {
      const auto known = differences.find(tensor_of_element(power->arg));
      if (known == differences.end() || known->second.difference == nullptr ||
          !is_unconditional(*power)) {
        return false;
      }
      known->second.power = power;
      found.push_back(known->second);
    }
    for (const Scope* body : bodies_of(*expr)) {
      if (!find_statements(*body, group, found)) {
        return false;
      }
    }
  }
  return true;
}

} // namespace

NormalizedPowers::NormalizedPowers(const Kernel& kernel, const RoundedValues& rounded) {
  for (const Group& group : find_groups(kernel, rounded)) {
    std::vector<Folded> found;
    if (!group.is_approximate || !is_normalized(group) ||
        !find_statements(kernel.body, group, found)) {
      continue;
    }
    maxima_.insert(static_cast<const TensorView*>(group.powers.front().maximum->out));
    for (const Folded& folded : found) {
      differences_.emplace(folded.power, folded.difference);
      unread_.insert({folded.difference, folded.allocate});
    }
  }
}

} // namespace nvfuser
