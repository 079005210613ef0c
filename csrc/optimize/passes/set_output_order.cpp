// Every tensor takes over from its operands which input its axes come from, and in which order they
// lie there.

#include "optimize/passes/set_output_order.h"

#include <algorithm>
#include <unordered_map>

#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "ir/all_nodes.h"

namespace nvfuser::optimize {
namespace {

/// Axes of a tensor that come from one input, as they lie there: the outermost first.
struct Order {
  IterDomains axes;
  size_t input = 0; // its number

  /// Whether results follow this one rather than `other`.
  [[nodiscard]] bool goes_before(const Order& other) const {
    return axes.size() != other.axes.size() ? axes.size() > other.axes.size() : input < other.input;
  }
};

using Orders = std::unordered_map<const TensorView*, Order>; // only looked up

bool has_elements_apart(const IterDomain* axis) {
  return !axis->is_broadcast() && !axis->is_reduction();
}

Order order_of_input(const TensorView* input, size_t number) {
  Order order{.axes = {}, .input = number};
  std::ranges::copy_if(
      input->domain()->maybe_allocation(), std::back_inserter(order.axes), has_elements_apart);
  return order;
}

/// Whether a kernel stores the result at the positions of its operands.
bool keeps_positions(const Expr& expr) {
  const OpSemantics& semantics = semantics_of(expr);
  return semantics.read == OperandRead::Same || semantics.read == OperandRead::Elsewhere ||
         (semantics.read == OperandRead::Reduced && tensor_inputs(&expr).size() == 1);
}

/// Gives its results other axes, by a permutation or a reshape, or as parts of elements.
bool rearranges_axes(const Expr& expr) {
  const auto* copy = expr.as<LoadStoreOp>();
  const auto* out = copy == nullptr ? nullptr : static_cast<const TensorView*>(copy->out);
  const bool is_permuted = out != nullptr && out->has_root() && out->root() != out->logical();
  const OpSemantics& semantics = semantics_of(expr);
  return is_permuted || semantics.view == ViewOf::Packed || semantics.shows_parts;
}

/// The axis of `tensor` that an axis it reads becomes: a slice and a pad resize each in its place.
IterDomain* resized(const TensorView* tensor, IterDomain* axis) {
  if (!tensor->has_root() || axis == nullptr) {
    return axis;
  }
  const auto place = std::ranges::find(tensor->root(), axis) - tensor->root().begin();
  return tensor->logical().at(static_cast<size_t>(place));
}

/// The axes of `order`, an order of `operand`, that `result` has.
Order carried(const Order& order, const TensorView* operand, const TensorView* result) {
  const PairwiseDomainMap map(operand, result, BroadcastPairs::Drop);
  Order found{.axes = {}, .input = order.input};
  for (const IterDomain* axis : order.axes) {
    IterDomain* partner = resized(result, map.consumer_of(axis));
    if (partner != nullptr && has_elements_apart(partner)) {
      found.axes.push_back(partner);
    }
  }
  return found;
}

void find_order(const Expr& expr, Orders& orders) {
  if (!keeps_positions(expr) || rearranges_axes(expr)) {
    return;
  }
  for (const TensorView* result : tensor_outputs(&expr)) {
    for (const TensorView* operand : tensor_inputs(&expr)) {
      const auto known = orders.find(operand);
      if (known == orders.end()) {
        continue;
      }
      Order order = carried(known->second, operand, result);
      const auto [best, is_new] = orders.try_emplace(result, order);
      if (!is_new && order.goes_before(best->second)) {
        best->second = std::move(order);
      }
    }
  }
}

bool may_be_moved(const TensorView* output) {
  constexpr int64_t kBitsOfByte = 8; // elements that share one are neighbours along the last axis
  return output->definition() != nullptr && !output->is_fusion_input() &&
         size_bits(output->dtype()) >= kBitsOfByte && !output->domain()->has_allocation() &&
         output->fusion()->alias_of(output) == nullptr && keeps_positions(*output->definition()) &&
         !loops_over_operands(output);
}

/// Whether the axes of `order` stand in `output` in the same order.
bool is_as_they_stand(const Order& order, const TensorView* output) {
  IterDomains standing;
  std::ranges::copy_if(
      output->logical(), std::back_inserter(standing), [&](const IterDomain* axis) {
        return std::ranges::find(order.axes, axis) != order.axes.end();
      });
  return standing == order.axes;
}

void let_lie(TensorView* output, const Order& order) {
  IterDomains memory;
  std::ranges::copy_if(output->logical(), std::back_inserter(memory), [&](const IterDomain* axis) {
    return std::ranges::find(order.axes, axis) == order.axes.end();
  });
  memory.insert(memory.end(), order.axes.begin(), order.axes.end());
  Contiguity contiguity = TensorDomain::contiguity_filled_with(memory, true);
  output->domain()->assign_allocation(std::move(memory), std::move(contiguity));
}

} // namespace

bool set_output_order(Fusion& fusion) {
  Orders orders;
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    if (fusion.inputs()[i]->is_tensor()) {
      const auto* input = static_cast<const TensorView*>(fusion.inputs()[i]);
      orders.emplace(input, order_of_input(input, i));
    }
  }
  for (const Expr* expr : tensor_exprs(fusion)) {
    find_order(*expr, orders);
  }
  bool has_changed = false;
  for (Val* val : fusion.outputs()) {
    auto* output = static_cast<TensorView*>(val);
    const auto found = orders.find(output);
    if (found != orders.end() && may_be_moved(output) && !is_as_they_stand(found->second, output)) {
      let_lie(output, found->second);
      has_changed = true;
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
