#include "lower/passes/validate_schedule.h"

#include <algorithm>
#include <map>

#include "graph/domain_map.h"
#include "ir/rules.h"
#include "ir/shifted_axes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/mma.h"
#include "lower/analysis/reductions.h"
#include "lower/kernel_forms.h"

namespace nvfuser {
namespace {

std::optional<Refusal> find_wrong_axis(const TensorView* tensor, const IterDomain* axis) {
  switch (axis->parallel_type()) {
    case ParallelType::Group:
      if (!is_reduction_expr(tensor->definition()) || axis->is_reduction()) {
        return refuse_node(
            tensor, {"Only an axis that a reduction keeps can be grouped"},
            {"an iteration axis of the result of a reduction"}, {axis->to_string()},
            {"vectorize or unroll the axis in other tensors"});
      }
      break;
    case ParallelType::Vectorize:
      if (axis->is_reduction()) {
        return refuse_node(
            tensor, {"A reduction axis cannot be vectorized"}, {"a vectorized axis of a copy"},
            {axis->to_string()},
            {"rfactor the axis, so that the lanes become an axis of a tensor of their own"});
      }
      break;
    default: break;
  }
  return std::nullopt;
}

/// A hardware index, and the vector axis, are used once in a tensor.
std::optional<Refusal> find_repeated_binding(const TensorView* tensor) {
  std::map<ParallelType, const IterDomain*> bound;
  for (const IterDomain* axis : tensor->loop()) {
    const ParallelType type = axis->parallel_type();
    if (!traits_of(type).is_unique) {
      continue;
    }
    const auto [other, is_new] = bound.try_emplace(type, axis);
    if (!is_new) {
      return refuse_node(
          tensor, {"Two axes of a tensor are bound to ", type}, {"one axis"},
          {other->second->to_string(), " and ", axis->to_string()},
          {"merge the axes, or bind one of them to another index"});
    }
  }
  return std::nullopt;
}

/// A binding belongs to a loop; on other axes it would mean nothing. A merge passes
/// the binding of its axes on to the loop.
std::optional<Refusal> find_binding_of_no_loop(const TensorView* tensor) {
  const IterDomains& loops = tensor->loop();
  for (const IterDomain* axis : tensor->domain()->all_ids()) {
    const bool is_said_of_a_loop =
        !axis->is_parallelized() || std::any_of(loops.begin(), loops.end(), [&](const auto* loop) {
          return loop->parallel_type() == axis->parallel_type();
        });
    if (!is_said_of_a_loop) {
      return refuse_node(
          tensor, {"An axis that is no loop is bound to ", axis->parallel_type()},
          {"an axis of the loop domain"}, {axis->to_string()},
          {"parallelize an axis of get_loop_domain()"});
    }
  }
  return std::nullopt;
}

/// A hint is about global memory.
std::optional<Refusal> find_wrong_hint(const TensorView* tensor) {
  if (tensor->schedule().cache_hint == CacheHint::Unspecified) {
    return std::nullopt;
  }
  const Val* source = tensor->definition()->inputs().front();
  const bool is_from_global =
      source->is_tensor() &&
      static_cast<const TensorView*>(source)->memory_type() == MemoryType::Global;
  if (is_from_global || tensor->memory_type() == MemoryType::Global) {
    return std::nullopt;
  }
  return refuse_node(
      tensor, {"A copy with a cache hint touches no global memory"},
      {"a load from global memory, or a store to it"},
      {"a copy to ", enum_name(tensor->memory_type()), " memory of ", describe(source)},
      {"give the hint to the copy of an input, or to an output"});
}

/// Blocks that shift an axis differently have no part of the same axis, and reduce nothing
/// together: their positions stand for different elements.
std::optional<Refusal> find_wrong_shift(const TensorView* tensor) {
  for (const Expr* expr : tensor->domain()->all_exprs()) {
    const auto* resize = expr->as<Resize>();
    const std::vector<ParallelType> indices =
        resize == nullptr ? std::vector<ParallelType>() : hardware_indices_in(resize->left);
    if (indices.empty()) {
      continue;
    }
    IterDomains parts{resize->out};
    for (const Expr* part : exprs_between(parts, tensor->loop())) {
      for (Val* out : part->outputs()) {
        parts.push_back(static_cast<IterDomain*>(out));
      }
    }
    for (const IterDomain* axis : tensor->loop()) {
      const bool is_part = std::ranges::find(parts, axis) != parts.end();
      if ((is_part || axis->is_reduction()) &&
          std::ranges::find(indices, axis->parallel_type()) != indices.end()) {
        return refuse_node(
            {describe(tensor), ", axis ", axis->to_string()},
            {"Blocks that shift an axis differently work on it together"},
            {"a binding to another index than ", axis->parallel_type()}, {expr->to_string()},
            {"shift by the index that the rows are bound to, and bind parts of a row to another"});
      }
    }
  }
  return std::nullopt;
}

/// If one input is updated twice, the last update counts, and a kernel has no order of outputs.
std::optional<Refusal> find_repeated_update(const Fusion& fusion) {
  for (const Val* input : fusion.inputs()) {
    const std::vector<const TensorView*> updates = fusion.updates_of(input);
    if (updates.size() > 1) {
      return refuse_node(
          updates.back(), {"An input is updated in place by two outputs"},
          {"one output that is written into ", describe(input)},
          {describe(updates[0]), " and ", describe(updates[1])},
          {"return one of them as an output of its own"});
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> validate_schedule(Kernel& kernel) {
  NVF_RETURN_REFUSAL(find_repeated_update(kernel));
  for (const Expr* expr : tensor_exprs(kernel)) {
    NVF_RETURN_REFUSAL(find_missing_form(*expr));
  }
  for (const TensorView* tensor : kernel.tensors()) {
    NVF_RETURN_REFUSAL(find_missing_form(tensor));
    if (tensor->definition() == nullptr) {
      continue; // the axes of inputs drive no loop
    }
    for (const IterDomain* axis : tensor->loop()) {
      NVF_RETURN_REFUSAL(find_wrong_axis(tensor, axis));
    }
    NVF_RETURN_REFUSAL(find_binding_of_no_loop(tensor));
    NVF_RETURN_REFUSAL(find_repeated_binding(tensor));
    NVF_RETURN_REFUSAL(find_wrong_async_copy(tensor));
    NVF_RETURN_REFUSAL(find_wrong_mma(tensor));
    NVF_RETURN_REFUSAL(find_wrong_hint(tensor));
    NVF_RETURN_REFUSAL(find_wrong_shift(tensor));
  }
  return std::nullopt;
}

} // namespace nvfuser
