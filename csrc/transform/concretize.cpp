#include "transform/concretize.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/source_location_scope.h"
#include "graph/domain_map.h"
#include "ir/all_nodes.h"
#include "ir/replay_domain.h"
#include "ops/create.h"
#include "ops/operands.h"
#include "ops/reduce.h"
#include "ops/reshape_nodes.h"
#include "ops/shape.h"
#include "transform/redefine.h"
#include "transform/sizes_by_operands.h"

namespace nvfuser {
namespace {

using Maps = std::vector<PairwiseDomainMap>;

void make_broadcast(IterDomain* axis, Val* expanded_extent = nullptr) {
  axis->assign_iter_type(IterType::Broadcast);
  axis->assign_extents(axis->fusion()->one(), expanded_extent);
}

void make_iteration(IterDomain* axis, Val* extent) {
  axis->assign_iter_type(IterType::Iteration);
  axis->assign_extents(extent, nullptr);
}

/// An axis that came out as a broadcast has no stride any more.
void update_contiguity(TensorDomain* domain) {
  const IterDomains& axes = domain->maybe_allocation();
  Contiguity contiguity = domain->contiguity();
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool has_stride = !axes[i]->is_broadcast() && !axes[i]->is_reduction();
    contiguity[i] = has_stride ? std::optional<bool>(contiguity[i].value_or(true)) : std::nullopt;
  }
  domain->assign_contiguity(std::move(contiguity));
}

/// Records are found and used by separate calls.
[[noreturn]] void throw_of_another_fusion(const Val* val) {
  throw UserError(
      {.headline = "The concretization is one of another fusion",
       .node = describe(val),
       .expected = "what find_concretization returned for this fusion",
       .found = "a record that does not decide this value",
       .fix = "call find_concretization with the fusion that is concretized"});
}

/// Whether the steps of a form lead from the operand of a reshape to a shape of its result's rank.
bool fits(const ReshapeForm& form, const ReshapeOp& op) {
  if (form.empty.has_value()) {
    return static_cast<int64_t>(form.empty->size()) == op.out->rank();
  }
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  const auto is_below = [](const std::vector<int64_t>& dims, int64_t rank) {
    return std::ranges::all_of(dims, [&](int64_t dim) { return 0 <= dim && dim < rank; });
  };
  const std::optional<int64_t> rank =
      ops::rank_after(op.arg->rank() - count(form.walk.squeezes), form.walk.transforms);
  return is_below(form.walk.squeezes, op.arg->rank()) &&
         is_below(form.walk.broadcasts, op.out->rank()) && rank.has_value() &&
         *rank + count(form.walk.broadcasts) == op.out->rank();
}

class Rewriter {
 public:
  Rewriter(Fusion& fusion, const Concretization& record)
      : fusion_(fusion), repeated_(record.repeated) {
    for (const ReshapeForm& form : record.reshapes) {
      reshapes_.emplace(form.tensor, &form);
    }
    for (const AxisForm& form : record.axes) {
      axes_.emplace(form.axis, form.kind);
    }
    for (const TensorView* tensor : fusion.tensors()) {
      if (tensor->domain()->has_symbolic_axis()) {
        open_.insert(tensor);
      }
    }
  }

  void run() {
    for (const Val* input : fusion_.inputs()) {
      if (input->is_tensor() && open_.contains(static_cast<const TensorView*>(input))) {
        resolve_input(static_cast<const TensorView*>(input));
      }
    }
    for (Expr* expr : tensor_exprs(fusion_)) {
      auto* reshape = expr->as<ReshapeOp>();
      if (reshape != nullptr && is_dynamic(*reshape)) {
        rewrite_reshape(*reshape);
        continue;
      }
      resolve_axes(*expr);
      if (auto* expand = expr->as<ExpandOp>()) {
        rewrite_expand(*expand);
      } else if (const auto* squeeze = expr->as<SqueezeOp>()) {
        check_repeated(*squeeze);
        fix_squeezed(squeeze->arg, squeeze->flags);
      } else {
        define_with_broadcasts(*expr);
      }
    }
    replace_fixed_sizes();
    compute_sizes_by_operands(fusion_, fusion_.tensors());
  }

 private:
  // -- inputs --

  /// An axis of an input is open where a run has the size 1 for it (transform/unit_axes.h).
  void resolve_input(const TensorView* input) {
    for (IterDomain* axis : input->logical()) {
      if (axis->is_symbolic_axis()) {
        const auto form = axes_.find(axis->name());
        if (form == axes_.end() || form->second != AxisForm::Kind::Broadcast) {
          throw_of_another_fusion(axis);
        }
        fixed_sizes_.emplace_back(axis->extent(), fusion_.one());
        make_broadcast(axis);
      }
    }
    update_contiguity(input->domain());
  }

  // -- reshape --

  void rewrite_reshape(const ReshapeOp& op) {
    const auto found = reshapes_.find(op.out->name());
    if (found == reshapes_.end() || !fits(*found->second, op)) {
      throw_of_another_fusion(op.out);
    }
    const ReshapeForm& form = *found->second;
    const std::vector<Val*> old_shape = op.out->shape();
    TensorView* out = op.out;
    if (form.empty.has_value()) {
      define_as(out, empty_tensor(out, *form.empty));
    } else {
      fix_squeezed(op.arg, ops::flags_of(form.walk.squeezes, op.arg->rank()));
      TensorView* result = ops::apply_walk(op.arg, form.walk, old_shape);
      define_as(out, result == op.arg ? copy(op.arg) : result);
    }
    const std::vector<Val*> new_shape = out->shape();
    for (size_t i = 0; i < old_shape.size(); ++i) {
      const bool is_computed = old_shape[i]->definition() != nullptr; // symbols are bound by a run
      const bool is_said = old_shape[i]->is_const() && !old_shape[i]->is_one();
      if (is_computed && new_shape[i]->is_const()) {
        fixed_sizes_.emplace_back(old_shape[i], new_shape[i]);
      } else if (is_said && is_bound_by_input(new_shape[i])) {
        fixed_sizes_.emplace_back(new_shape[i], old_shape[i]);
      } else if (is_said && !new_shape[i]->is_const() && out->logical()[i]->is_iteration()) {
        out->logical()[i]->assign_extents(old_shape[i], nullptr); // a launch compares the two
      }
    }
  }

  /// Whether `size` is that of an input's dimension: a launch refuses another one than a constant.
  [[nodiscard]] static bool is_bound_by_input(const Val* size) {
    return !size->is_const() && size->definition() == nullptr && !size->is_fusion_input();
  }

  /// A dimension of another size than 1 is squeezed only if it repeats an element.
  void check_repeated(const SqueezeOp& op) const {
    const IterDomains axes = TensorDomain::no_reductions(op.arg->logical());
    for (size_t i = 0; i < axes.size(); ++i) {
      const RepeatedDim dim{.tensor = op.arg->name(), .dim = static_cast<int64_t>(i)};
      if (op.flags[i] && !axes[i]->is_broadcast() && std::ranges::count(repeated_, dim) != 0) {
        throw_refusal(refuse_squeeze(op.arg, i, axes[i]->extent()->to_inline_string()));
      }
    }
  }

  /// A squeezed dimension has size 1, says the record. An ordinary dimension that does stays one,
  /// of one position, which needs no loop.
  void fix_squeezed(const TensorView* arg, const std::vector<bool>& flags) {
    const IterDomains axes = TensorDomain::no_reductions(arg->logical());
    for (size_t i = 0; i < axes.size(); ++i) {
      if (flags[i] && !axes[i]->extent()->is_const()) {
        fixed_sizes_.emplace_back(axes[i]->extent(), fusion_.one());
      }
    }
  }

  /// A size that the record fixes is a constant for all its readers. (A computed one that -1 stood
  /// for may be n / 0 where there are no elements, so that nothing may compute it any more.)
  void replace_fixed_sizes() {
    for (const auto& [size, constant] : fixed_sizes_) {
      const auto replaced = [&](Val* val) { return val == size ? constant : val; };
      for (Val* val : fusion_.vals()) {
        if (val->vtype() == ValType::IterDomain) {
          auto* axis = static_cast<IterDomain*>(val);
          axis->assign_extents(replaced(axis->extent()), replaced(axis->expanded_extent()));
          if (auto* resize = val->definition() ? val->definition()->as<Resize>() : nullptr) {
            resize->left = replaced(resize->left);
            resize->right = replaced(resize->right);
          }
        }
      }
      if (size->is_fusion_input()) { // a number of the user's, of the user's type
        continue;
      }
      fusion_.replace_uses(size, constant, std::vector<Expr*>(size->all_uses()));
      if (size->definition() != nullptr && !size->is_fusion_output()) {
        fusion_.remove(size->definition());
      }
    }
  }

  TensorView* empty_tensor(const TensorView* out, const std::vector<ReshapeForm::Size>& sizes) {
    std::vector<Val*> shape = out->shape();
    for (size_t i = 0; i < shape.size(); ++i) {
      shape[i] = sizes[i] == ReshapeForm::Size::Zero  ? fusion_.zero()
                 : sizes[i] == ReshapeForm::Size::One ? fusion_.one()
                                                      : shape[i];
    }
    TensorView* result = ops::zeros(shape, out->dtype());
    decide_as_iteration(result);
    return result;
  }

  // -- expand --

  void rewrite_expand(ExpandOp& op) {
    const IterDomains operand = TensorDomain::no_reductions(op.arg->logical());
    const IterDomains& result = op.out->logical();
    std::vector<int64_t> ones; // ordinary dimensions of size 1 that are repeated
    bool is_expanded = false;
    for (size_t i = 0; i < operand.size(); ++i) {
      const bool is_repeated = result[i]->has_expanded_extent();
      is_expanded = is_expanded ||
                    (is_repeated && result[i]->expanded_extent() != operand[i]->expanded_extent());
      if (is_repeated && !operand[i]->is_broadcast()) {
        ones.push_back(static_cast<int64_t>(i));
      }
    }
    TensorView* out = op.out;
    TensorView* arg = op.arg;
    if (!ones.empty()) {
      const std::vector<bool> flags = ops::flags_of(ones, op.arg->rank());
      fix_squeezed(arg, flags);
      arg = ops::broadcast(ops::squeeze_ones(arg, ones), flags);
    }
    if (!is_expanded) {
      fusion_.make<LoadStoreOp>(
          {.out = out, .arg = arg, .op = LoadStoreOpType::Set, .cache_op = CacheOp::Streaming});
    } else if (arg != op.arg) {
      fusion_.replace_uses(op.arg, arg, {&op});
    }
  }

  // -- expressions that look at what their operands' axes are --

  /// Whether an axis that was open at definition has come out as a broadcast.
  [[nodiscard]] bool reads_new_broadcast(const Expr& expr) const {
    return std::ranges::any_of(tensor_inputs(&expr), [&](const TensorView* operand) {
      const IterDomains& axes = operand->logical();
      return open_.contains(operand) && std::ranges::any_of(axes, &IterDomain::is_broadcast);
    });
  }

  /// The dimensions of its results that have one element, says the record. Empty: none.
  [[nodiscard]] std::vector<bool> units_of(const Expr& expr) const {
    std::vector<bool> units;
    for (const TensorView* out : tensor_outputs(&expr)) {
      units.clear(); // they agree
      for (const IterDomain* axis : out->logical()) {
        units.push_back(axis->is_broadcast() && axes_.contains(axis->name()));
      }
    }
    return std::ranges::count(units, true) == 0 ? std::vector<bool>() : units;
  }

  /// Let the functions of the definition decide again.
  void define_with_broadcasts(Expr& expr) {
    const SourceLocationScope line(expr.location());
    const std::vector<TensorView*> outs = tensor_outputs(&expr);
    std::vector<TensorView*> results;
    if (const std::vector<bool> units = units_of(expr); !units.empty()) {
      create_units(expr, units);
      results = redefine_with_units(expr, units);
    }
    if (results.empty() && reads_new_broadcast(expr)) {
      results = redefine(expr);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      take_over_kinds(results[i], outs.at(i));
      define_as(outs.at(i), results[i]);
    }
  }

  /// Axes of a new tensor that are open, since their sizes are scalars, are what those of `before`
  /// have come out as.
  static void take_over_kinds(const TensorView* tensor, const TensorView* before) {
    const IterDomains axes = TensorDomain::no_reductions(tensor->logical());
    const IterDomains decided = TensorDomain::no_reductions(before->logical());
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i]->is_symbolic_axis() && decided.at(i)->is_broadcast()) {
        make_broadcast(axes[i], decided[i]->expanded_extent());
      } else if (axes[i]->is_symbolic_axis()) {
        make_iteration(axes[i], axes[i]->extent());
      }
    }
    for (IterDomain* axis : tensor->maybe_root()) { // elements of what was repeated
      if (axis->is_symbolic_axis()) {
        make_iteration(axis, axis->extent());
      }
    }
  }

  /// A new tensor whose sizes of 1 are constants.
  static void decide_as_iteration(const TensorView* tensor) {
    for (IterDomain* axis : tensor->logical()) {
      if (axis->is_symbolic_axis()) {
        make_iteration(axis, axis->extent());
      }
    }
  }

  // -- axes of readers --

  void resolve_axes(const Expr& expr) {
    for (TensorView* out : tensor_outputs(&expr)) {
      Maps maps;
      for (const TensorView* producer : tensor_inputs(&expr)) {
        maps.emplace_back(producer, out);
      }
      for (IterDomain* axis : out->domain()->all_ids()) {
        if (axis->definition() == nullptr) {
          resolve_first_axis(axis, out, maps);
        }
      }
      for (const Expr* transform : out->domain()->all_exprs()) {
        resolve_transform(*transform);
      }
      update_contiguity(out->domain());
    }
  }

  /// An axis that no transform made.
  void resolve_first_axis(IterDomain* axis, const TensorView* out, const Maps& maps) {
    IterDomains partners;
    for (const PairwiseDomainMap& map : maps) {
      if (IterDomain* partner = map.producer_of(axis)) {
        partners.push_back(partner);
      }
    }
    if (axis->is_reduction() && !partners.empty() && partners.front()->is_iteration()) {
      axis->assign_extents(partners.front()->extent(), nullptr);
    }
    if (!axis->is_symbolic_axis()) {
      return;
    }
    const auto form = axes_.find(axis->name());
    if (form == axes_.end()) {
      const bool is_transformed =
          std::find(out->logical().begin(), out->logical().end(), axis) == out->logical().end();
      follow(axis, partners, is_transformed);
      return;
    }
    switch (form->second) {
      case AxisForm::Kind::Iteration: return make_iteration(axis, axis->extent());
      case AxisForm::Kind::Broadcast: return make_broadcast(axis);
      case AxisForm::Kind::Expanded: return make_broadcast(axis, axis->extent());
      case AxisForm::Kind::Unchanged: return follow(axis, partners, false);
    }
  }

  /// One iteration among the axes it is computed from makes an axis an iteration. A transform makes
  /// elements of what was repeated.
  static void follow(IterDomain* axis, const IterDomains& partners, bool is_transformed) {
    if (partners.empty()) { // it follows no other axis, so the record of its fusion decides it
      throw_of_another_fusion(axis);
    }
    Val* extent = nullptr;
    Val* expanded_extent = nullptr;
    for (const IterDomain* partner : partners) {
      Val*& size = partner->is_broadcast() ? expanded_extent : extent;
      Val* candidate = partner->is_broadcast() ? partner->expanded_extent() : partner->extent();
      size = ops::agreed_extent(size, candidate);
    }
    if (extent != nullptr) {
      Val* size =
          expanded_extent == nullptr || !expanded_extent->is_const() ? extent : expanded_extent;
      const bool is_known = axis->extent()->is_const() && !size->is_const(); // stays a constant
      make_iteration(axis, is_known ? axis->extent() : size);
    } else if (expanded_extent != nullptr && is_transformed) {
      make_iteration(axis, expanded_extent);
    } else {
      make_broadcast(axis, expanded_extent);
    }
  }

  void resolve_transform(const Expr& transform) {
    for (Val* val : transform.outputs()) {
      auto* out = static_cast<IterDomain*>(val);
      if (!out->is_symbolic_axis()) {
        continue;
      }
      const auto form = axes_.find(out->name());
      const bool is_broadcast =
          form != axes_.end()
              ? form->second == AxisForm::Kind::Broadcast
              : std::all_of(transform.inputs().begin(), transform.inputs().end(), [](Val* in) {
                  return in->vtype() != ValType::IterDomain ||
                         static_cast<IterDomain*>(in)->is_broadcast();
                });
      if (is_broadcast) {
        make_broadcast(out);
      } else {
        make_iteration(out, out->extent());
      }
    }
  }

  // -- editing --

  /// Let `out` be computed as `result` is, which has no readers.
  void define_as(TensorView* out, TensorView* result) {
    const TensorDomain* before = out->domain();
    fusion_.replace_output_of(result->definition(), result, out);
    out->assign_domain(result->domain());
    replay_domain_on(out, before); // it lies where it was to lie, for instance as an input does
    update_contiguity(out->domain());
  }

  /// A plain copy, also of the axes that the operand does not reduce.
  TensorView* copy(TensorView* arg) {
    return static_cast<TensorView*>(ops::set(arg));
  }

  Fusion& fusion_;
  const std::vector<RepeatedDim>& repeated_;
  std::unordered_map<int64_t, const ReshapeForm*> reshapes_; // only looked up
  std::unordered_map<int64_t, AxisForm::Kind> axes_;         // only looked up
  std::unordered_set<const TensorView*> open_;               // only looked up
  std::vector<std::pair<Val*, Val*>> fixed_sizes_;
};

} // namespace

void concretize(Fusion& fusion, const Concretization& record) {
  const FusionGuard guard(&fusion);
  Rewriter(fusion, record).run();
  NVF_INVARIANT(!has_dynamic_shapes(fusion), "a record for this fusion decides every axis");
}

std::optional<Refusal> find_unequal_sizes(const Fusion& fusion, ExpressionEvaluator& evaluator) {
  for (const Expr* expr : tensor_exprs(fusion)) {
    for (const TensorView* out : tensor_outputs(expr)) {
      for (const TensorView* producer : tensor_inputs(expr)) {
        const PairwiseDomainMap map(producer, out, BroadcastPairs::Drop);
        for (const auto& [in_axis, out_axis] : map.pairs()) {
          const auto in_size = evaluator.evaluate(in_axis->maybe_expanded_extent());
          const auto out_size = evaluator.evaluate(out_axis->maybe_expanded_extent());
          const bool is_copied = in_axis->extent() == out_axis->extent();
          if (!is_copied && in_size && out_size && as_int(*in_size) != as_int(*out_size)) {
            return refuse_headline(
                {"Expected sizes to match: ", as_int(*in_size), " vs ", as_int(*out_size),
                 ". Dimension ", in_axis->to_string(), " of ", describe(producer), " meets ",
                 out_axis->to_string(), " of ", describe(out)});
          }
        }
      }
    }
  }
  return std::nullopt;
}

void check_meeting_sizes(const Fusion& fusion, ExpressionEvaluator& evaluator) {
  check(find_unequal_sizes(fusion, evaluator));
}

} // namespace nvfuser
