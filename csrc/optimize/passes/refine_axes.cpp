#include "optimize/passes/refine_axes.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "ops/reshape.h"
#include "optimize/axis_parts.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

bool is_copy(const Expr& expr) {
  const auto* copy = expr.as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::Set;
}

/// Whether a reshape of what was computed from a reduction is computed with.
bool has_reshape_behind_reduction(const std::vector<Expr*>& exprs) {
  std::set<const Val*> behind; // only looked up
  for (const Expr* expr : exprs) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    const bool is_behind = std::ranges::any_of(
        tensor_inputs(expr), [&](const TensorView* in) { return behind.contains(in); });
    if (is_behind && expr->is_a<ReshapeOp>() && !results.front()->all_uses().empty()) {
      return true;
    }
    if (is_behind || semantics_of(*expr).has_steps) {
      behind.insert(results.begin(), results.end());
    }
  }
  return false;
}

class Refiner {
 public:
  explicit Refiner(Fusion& fusion)
      : fusion_(fusion),
        exprs_(tensor_exprs(fusion)),
        model_(shared_id_model(fusion)),
        parts_(model_->maybe_build_graph(IdMappingMode::exact)) {}

  bool run() {
    if (!has_reshape_behind_reduction(exprs_) || !find_parts() || !find_broadcasts() ||
        !std::ranges::all_of(exprs_, [&](const Expr* expr) { return may_be_refined(*expr); })) {
      return false;
    }
    const std::vector<Val*> outputs = fusion_.outputs();
    std::vector<std::pair<TensorView*, TensorView*>> made; // outputs, and what stands for them
    for (Expr* expr : exprs_) {
      refine(*expr);
    }
    for (Val* output : outputs) {
      const auto found = refined_.find(output);
      if (found != refined_.end() && output->definition() != nullptr) {
        made.emplace_back(static_cast<TensorView*>(output), found->second);
      }
    }
    for (const auto& [output, refined] : made) {
      const MadeFor line(output);
      replace(output, is_divided(output) ? merged(output, refined) : refined);
    }
    return !made.empty();
  }

 private:
  bool find_parts() {
    for (const Expr* expr : exprs_) {
      for (const TensorView* result : tensor_outputs(expr)) {
        if (!expr->is_a<ReshapeOp>() || !result->has_root()) {
          continue;
        }
        for (const Expr* step : exprs_between(result->root(), result->logical())) {
          if (has_broadcast(*step) || !parts_.add(step)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /// Whether `fn` holds for every axis of an operand that is read position by position, with the
  /// axis of the result that it becomes. Reductions of operands do not count.
  template <typename Fn>
  bool all_read_axes(const Expr& expr, const Fn& fn) {
    const IterDomains& read = tensor_outputs(&expr).front()->maybe_root();
    return std::ranges::all_of(tensor_inputs(&expr), [&](const TensorView* operand) {
      const IterDomains axes = TensorDomain::no_reductions(operand->logical());
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes.size() != read.size() || !fn(axes[i], read[i])) {
          return false;
        }
      }
      return true;
    });
  }

  bool find_broadcasts() {
    return std::ranges::all_of(exprs_, [&](const Expr* expr) {
      return !is_on_elements(*expr) ||
             all_read_axes(*expr, [&](const IterDomain* from, const IterDomain* to) {
               return !from->is_broadcast() || to->is_broadcast() || parts_.add_broadcast(from, to);
             });
    });
  }

  /// Whether axes have as many parts on both sides.
  bool has_equal_parts(const Expr& expr) {
    return all_read_axes(expr, [&](const IterDomain* from, const IterDomain* to) {
      return parts_.extents(from).size() == parts_.extents(to).size();
    });
  }

  static bool has_broadcast(const Expr& step) {
    return std::ranges::any_of(step.inputs(), [](const Val* val) {
      return val->vtype() == ValType::IterDomain &&
             static_cast<const IterDomain*>(val)->is_broadcast();
    });
  }

  [[nodiscard]] bool is_divided(const TensorView* tensor) {
    return std::ranges::any_of(
        tensor->logical(), [&](const IterDomain* axis) { return parts_.is_divided(axis); });
  }

  /// The memory of such a tensor has parts of axes as neighbours, and inputs have known parts.
  bool may_be_divided(const TensorView* tensor) {
    if (tensor->is_fusion_output()) {
      return !tensor->has_allocation() && fusion_.alias_of(tensor) == nullptr;
    }
    return !tensor->is_fusion_input() ||
           std::ranges::all_of(tensor->logical(), [&](const IterDomain* axis) {
             const std::vector<Val*> extents = parts_.extents(axis);
             return extents.size() == 1 || std::ranges::all_of(extents, &Val::is_const);
           });
  }

  bool may_be_refined(const Expr& expr) {
    std::vector<TensorView*> tensors = tensor_inputs(&expr);
    const bool has_operand = !tensors.empty();
    const std::vector<TensorView*> results = tensor_outputs(&expr);
    tensors.insert(tensors.end(), results.begin(), results.end());
    if (std::ranges::none_of(tensors, [&](const TensorView* t) { return is_divided(t); })) {
      return true;
    }
    const bool is_by_position =
        is_on_elements(expr) || is_copy(expr) || semantics_of(expr).has_steps;
    const bool is_known = (is_by_position && has_equal_parts(expr)) || expr.is_a<ReshapeOp>() ||
                          expr.is_a<BroadcastOp>() || expr.is_a<SqueezeOp>();
    return has_operand && is_known && std::ranges::all_of(tensors, [&](const TensorView* tensor) {
             return !is_divided(tensor) || may_be_divided(tensor);
           });
  }

  // ---- Editing ----------------------------------------------------------------------------------

  void refine(Expr& expr) {
    const bool reads_refined = std::ranges::any_of(tensor_inputs(&expr), [&](TensorView* operand) {
      return is_divided(operand) || refined_.contains(operand);
    });
    const std::vector<TensorView*> results = tensor_outputs(&expr);
    if (!reads_refined &&
        std::ranges::none_of(results, [&](TensorView* out) { return is_divided(out); })) {
      return;
    }
    const MadeFor line(&expr);
    if (const auto* reshape = expr.as<ReshapeOp>()) {
      refined_[reshape->out] = refined(static_cast<TensorView*>(reshape->arg));
      return;
    }
    ValMap values;
    for (TensorView* operand : tensor_inputs(&expr)) {
      values[operand] = refined(operand);
    }
    for (TensorView* out : results) { // a slice has steps of its own between its axes
      TensorView* made =
          is_divided(out) ? new_refined(out) : copy_tensor(out, out->dtype(), values);
      values[out] = refined_[out] = made;
    }
    copy(expr, values);
  }

  void copy(const Expr& expr, const ValMap& values) {
    if (const auto* op = expr.as<BroadcastOp>()) {
      const auto* out = static_cast<const TensorView*>(op->out);
      fusion_.make<BroadcastOp>(
          {.out = static_cast<TensorView*>(values.at(op->out)),
           .arg = static_cast<TensorView*>(values.at(op->arg)),
           .flags = flags_of_parts(out->logical(), op->flags)});
    } else if (const auto* op = expr.as<SqueezeOp>()) {
      const auto* arg = static_cast<const TensorView*>(op->arg);
      fusion_.make<SqueezeOp>(
          {.out = static_cast<TensorView*>(values.at(op->out)),
           .arg = static_cast<TensorView*>(values.at(op->arg)),
           .flags = flags_of_parts(TensorDomain::no_reductions(arg->logical()), op->flags),
           .squeeze_expanded = op->squeeze_expanded});
    } else {
      copy_expr(expr, values);
    }
  }

  std::vector<bool> flags_of_parts(const IterDomains& axes, const std::vector<bool>& flags) {
    std::vector<bool> of_parts;
    for (size_t i = 0; i < axes.size(); ++i) {
      of_parts.insert(of_parts.end(), parts_.extents(axes[i]).size(), flags.at(i));
    }
    return of_parts;
  }

  /// The tensor that stands for an operand: it was made before, or it is an input in parts.
  TensorView* refined(TensorView* tensor) {
    if (const auto found = refined_.find(tensor); found != refined_.end()) {
      return found->second;
    }
    if (!is_divided(tensor)) {
      return tensor;
    }
    std::vector<Val*> shape;
    for (const IterDomain* axis : TensorDomain::no_reductions(tensor->logical())) {
      const std::vector<Val*> extents = parts_.extents(axis);
      shape.insert(shape.end(), extents.begin(), extents.end());
    }
    return refined_[tensor] = ops::reshape(tensor, shape);
  }

  TensorView* new_refined(const TensorView* tensor) {
    std::unordered_map<const IterDomain*, IterDomains> made; // only looked up
    const auto parts_of = [&](const IterDomains& axes) {
      IterDomains all;
      for (const IterDomain* axis : axes) {
        const auto [found, is_new] = made.try_emplace(axis);
        if (is_new) {
          found->second = new_parts(axis);
        }
        all.insert(all.end(), found->second.begin(), found->second.end());
      }
      return all;
    };
    TensorDomainSpec spec;
    spec.root = parts_of(tensor->has_root() ? tensor->root() : IterDomains{});
    spec.logical = parts_of(tensor->logical());
    return fusion_.new_tensor(fusion_.new_tensor_domain(std::move(spec)), tensor->dtype());
  }

  IterDomains new_parts(const IterDomain* axis) {
    const std::vector<Val*> extents = parts_.extents(axis);
    if (extents.size() == 1 || axis->is_broadcast()) {
      IterDomainSpec spec = axis->spec();
      spec.is_rfactor = false;
      IterDomains copies;
      for (size_t i = 0; i < extents.size(); ++i) {
        copies.push_back(fusion_.new_iter_domain(spec));
      }
      return copies;
    }
    IterDomains made;
    for (Val* extent : extents) {
      made.push_back(fusion_.new_iter_domain({.extent = extent, .iter_type = axis->iter_type()}));
    }
    return made;
  }

  static TensorView* merged(const TensorView* output, TensorView* refined) {
    std::vector<Val*> shape;
    for (const IterDomain* axis : TensorDomain::no_reductions(output->logical())) {
      shape.push_back(axis->extent());
    }
    return ops::reshape(refined, shape);
  }

  Fusion& fusion_;
  std::vector<Expr*> exprs_;
  std::shared_ptr<IdModel> model_; // keeps the graph
  AxisParts parts_;
  std::unordered_map<const Val*, TensorView*> refined_; // only looked up
};

} // namespace

bool refine_axes(Fusion& fusion) {
  return Refiner(fusion).run();
}

} // namespace nvfuser::optimize
