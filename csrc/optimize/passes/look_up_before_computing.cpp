// A kernel looks elements up in what lies in memory (an input) at no cost, but in what it computes
// only if that is stored first and all threads wait. One element costs less to compute than to
// load, so lookups pass the operations before them.
//
//   T1[m, n] = sub(T0[m, n], T5[m, 1])   T2 = exp(T1)   T4[m] = select(T2, i, 1)
//   T1'[m] = select(T0, i, 1)   T5'[m] = squeeze(T5)   T2'[m] = sub(T1', T5')   T4[m] = exp(T2')

#include "optimize/passes/look_up_before_computing.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "graph/op_semantics.h"
#include "graph/output_order.h"
#include "ir/all_nodes.h"
#include "ops/operands.h"
#include "ops/shape.h"
#include "optimize/rewrite.h"

namespace nvfuser::optimize {
namespace {

/// Each lookup computes its element by operations of its own. All of them together get so many for
/// each expression of the fusion: one lookup never has too few, and many lookups in one long chain
/// do not make a fusion of its square.
constexpr size_t kStepsOfExpr = 4;

/// An expression that reads one position of a dimension of `arg`.
struct Lookup {
  const Expr* expr = nullptr;
  TensorView* arg = nullptr;
  TensorView* out = nullptr;
  int64_t dim = 0;
  bool drops_dim = false;
  bool may_be_smaller = false; // other dimensions are those of the index
};

bool has_one_position(const IterDomain* axis) {
  const Val* extent = axis->extent();
  return !axis->has_expanded_extent() &&
         (axis->is_broadcast() || (extent->is_const_int() && as_int(extent->value()) == 1));
}

std::optional<Lookup> as_lookup_of_one(const Expr& expr) {
  Lookup lookup{.expr = &expr};
  if (const auto* select = expr.as<SelectOp>()) {
    lookup.arg = select->arg;
    lookup.out = select->out;
    lookup.dim = select->dim;
    lookup.drops_dim = true;
    return lookup;
  }
  if (const auto* index_select = expr.as<IndexSelectOp>()) {
    lookup.arg = index_select->arg;
    lookup.out = index_select->out;
    lookup.dim = index_select->dim;
  } else if (const auto* gather = expr.as<GatherOp>()) {
    lookup.arg = gather->arg;
    lookup.out = gather->out;
    lookup.dim = gather->dim;
    lookup.may_be_smaller = !gather->exact_sizes;
  } else {
    return std::nullopt;
  }
  const IterDomain* axis = lookup.out->logical()[static_cast<size_t>(lookup.dim)];
  return has_one_position(axis) ? std::optional(lookup) : std::nullopt;
}

/// Whether a library computes it, which leaves its results in memory.
bool is_of_library(const Expr& expr) {
  const OpSemantics& semantics = semantics_of(expr);
  return semantics.read == OperandRead::Whole ||
         (semantics.read == OperandRead::Reduced && !semantics.has_steps);
}

bool lies_in_memory(const TensorView* tensor) {
  const Expr* made_by = tensor->definition();
  if (made_by == nullptr) {
    return tensor->is_fusion_input() && !is_updated(tensor) && !tensor->is_cpu_scalar();
  }
  const auto* copy = made_by->as<LoadStoreOp>();
  const bool ends_segment = copy != nullptr && copy->op == LoadStoreOpType::SegmenterSet;
  return ends_segment || is_of_library(*made_by);
}

/// Whether the axes of both are the same ones: broadcasts where the other has broadcasts.
bool have_axes_of_one_kind(const TensorView* a, const TensorView* b) {
  return std::ranges::equal(
      ops::shape_axes(a), ops::shape_axes(b), [](const IterDomain* x, const IterDomain* y) {
        return x->is_broadcast() == y->is_broadcast() &&
               x->has_expanded_extent() == y->has_expanded_extent();
      });
}

/// Operations on elements that lead to what is looked up in, and the tensors that they begin with.
class Way {
 public:
  explicit Way(const Lookup& lookup) : lookup_(lookup) {}

  /// Whether there is one of no more than `steps_left` operations; those that it met are taken off.
  [[nodiscard]] bool find(size_t& steps_left) {
    std::unordered_set<const TensorView*> seen;
    std::vector<Step> pending{{lookup_.arg}};
    while (!pending.empty()) {
      const Step step = pending.back();
      pending.pop_back();
      if (step.is_behind_operands) {
        operations_.push_back(step.tensor->definition());
        continue;
      }
      if (!seen.insert(step.tensor).second || begins_with(step.tensor)) {
        continue;
      }
      const Expr* made_by = step.tensor->definition();
      const bool is_passed = made_by != nullptr && is_on_elements(*made_by) &&
                             made_by->outputs().size() == 1 &&
                             have_axes_of_one_kind(step.tensor, lookup_.arg);
      if (!is_passed || steps_left == 0) {
        return false;
      }
      --steps_left;
      pending.push_back({.tensor = step.tensor, .is_behind_operands = true});
      for (TensorView* operand : tensor_inputs(made_by)) {
        pending.push_back({operand});
      }
    }
    return !operations_.empty();
  }

  /// Let the operations compute the element alone.
  void move_lookup() {
    {
      const MadeFor line(lookup_.expr);
      for (TensorView* source : looked_up_) {
        const ValMap operands{{lookup_.arg, source}};
        elements_.emplace(source, apply_to(*lookup_.expr, operands, source->dtype()).front());
      }
      for (const auto& [operand, narrow] : kept_) {
        elements_.emplace(operand, element_of(narrow));
      }
    }
    for (const Expr* operation : operations_) {
      const MadeFor line(operation);
      auto* whole = static_cast<TensorView*>(operation->output(0));
      TensorView* element = ops::new_tensor_like(lookup_.out, whole->dtype());
      elements_.emplace(whole, element);
      copy_expr(*operation, elements_);
    }
    define_as(lookup_.out, static_cast<TensorView*>(elements_.at(lookup_.arg)));
  }

 private:
  struct Step {
    TensorView* tensor = nullptr;
    bool is_behind_operands = false; // the operations before it are listed
  };

  /// Whether the operations begin with a tensor: one that lies in memory, or has one element along
  /// the dimension.
  bool begins_with(TensorView* tensor) {
    if (lies_in_memory(tensor) && have_axes_of_one_kind(tensor, lookup_.arg)) {
      looked_up_.push_back(tensor);
      return true;
    }
    if (TensorView* narrow = without_repeats(tensor); narrow != nullptr) {
      kept_.emplace_back(tensor, narrow);
      return true;
    }
    return false;
  }

  [[nodiscard]] const IterDomain* axis_of(const TensorView* tensor) const {
    return ops::shape_axes(tensor)[static_cast<size_t>(lookup_.dim)];
  }

  /// The tensor before it is expanded along the dimension; nullptr: it has several elements there,
  /// or more elements than the result along another dimension.
  [[nodiscard]] TensorView* without_repeats(TensorView* tensor) const {
    while (axis_of(tensor)->has_expanded_extent()) {
      const Expr* made_by = tensor->definition();
      const auto* expand = made_by == nullptr ? nullptr : made_by->as<ExpandOp>();
      if (expand == nullptr) {
        return nullptr;
      }
      tensor = expand->arg;
    }
    return axis_of(tensor)->is_broadcast() && has_places_of_result(tensor) ? tensor : nullptr;
  }

  [[nodiscard]] bool has_places_of_result(const TensorView* tensor) const {
    const IterDomains axes = ops::shape_axes(tensor);
    for (size_t i = 0; lookup_.may_be_smaller && i < axes.size(); ++i) {
      const bool is_shared = axes[i]->extent()->same_as(lookup_.out->logical()[i]->extent());
      if (!axes[i]->is_broadcast() && !is_shared) {
        return false;
      }
    }
    return true;
  }

  /// A tensor with one element along the dimension, in the shape of the result.
  [[nodiscard]] TensorView* element_of(TensorView* narrow) const {
    if (!lookup_.drops_dim) {
      return narrow;
    }
    const Expr* made_by = narrow->definition();
    const auto* broadcast = made_by == nullptr ? nullptr : made_by->as<BroadcastOp>();
    const bool is_added = broadcast != nullptr && std::ranges::count(broadcast->flags, true) == 1 &&
                          broadcast->flags[static_cast<size_t>(lookup_.dim)];
    return is_added ? broadcast->arg : ops::squeeze(narrow, {lookup_.dim});
  }

  const Lookup& lookup_;
  std::vector<const Expr*> operations_;                   // operands before results
  std::vector<TensorView*> looked_up_;                    // tensors in memory
  std::vector<std::pair<TensorView*, TensorView*>> kept_; // and how they are before expansions
  ValMap elements_; // by tensor: the element of it that is looked up
};

} // namespace

bool look_up_before_computing(Fusion& fusion) {
  const std::vector<Expr*> exprs = exprs_from_outputs(fusion);
  size_t steps_left = kStepsOfExpr * exprs.size();
  bool has_changed = false;
  for (const Expr* expr : exprs) {
    const std::optional<Lookup> lookup = as_lookup_of_one(*expr);
    if (!lookup || lies_in_memory(lookup->arg)) {
      continue;
    }
    Way way(*lookup);
    if (way.find(steps_left)) {
      way.move_lookup();
      has_changed = true;
    }
  }
  return has_changed;
}

} // namespace nvfuser::optimize
