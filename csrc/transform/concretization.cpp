#include "transform/concretization.h"

#include <algorithm>

#include "base/value_or_throw.h"
#include "graph/domain_map.h"
#include "ir/all_nodes.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

std::string sizes_text(const std::vector<int64_t>& sizes) {
  std::string out = "[";
  for (const int64_t size : sizes) {
    out += (out.size() == 1 ? "" : ", ") + std::to_string(size);
  }
  return out + "]";
}

/// Walks over the definition, operands before results, and writes down what sizes decide.
class Finder {
 public:
  Finder(const Fusion& fusion, ExpressionEvaluator& evaluator)
      : fusion_(fusion), evaluator_(evaluator) {}

  std::optional<Refusal> run() {
    for (const Expr* expr : tensor_exprs(fusion_)) {
      const auto* reshape = expr->as<ReshapeOp>();
      if (reshape != nullptr && is_dynamic(*reshape)) {
        NVF_RETURN_REFUSAL(visit_reshape(*reshape));
      } else if (const auto* expand = expr->as<ExpandOp>()) {
        NVF_RETURN_REFUSAL(visit_expand(*expand));
      } else {
        NVF_RETURN_REFUSAL(visit_axes(*expr));
      }
    }
    return std::nullopt;
  }

  /// After run().
  [[nodiscard]] Concretization take() {
    return std::move(found_);
  }

 private:
  // -- reshape --

  std::optional<Refusal> visit_reshape(const ReshapeOp& op) {
    const IterDomains axes = TensorDomain::no_reductions(op.arg->logical());
    std::vector<int64_t> old_sizes;
    for (const IterDomain* axis : axes) {
      NVF_RETURN_REFUSAL(
          add_size(axis->maybe_expanded_extent(), op, "an input domain to reshape", old_sizes));
    }
    std::vector<int64_t> new_sizes;
    for (const IterDomain* axis : op.out->logical()) {
      NVF_RETURN_REFUSAL(add_size(axis->extent(), op, "an output domain of reshape", new_sizes));
    }
    ReshapeForm form{.tensor = op.out->name(), .walk = {}, .empty = {}};
    if (std::count(old_sizes.begin(), old_sizes.end(), 0) > 0) {
      NVF_RETURN_REFUSAL(find_empty_form(op, new_sizes, form.empty.emplace()));
    } else {
      NVF_RETURN_REFUSAL(find_walk(op, axes, old_sizes, new_sizes, form.walk));
    }
    found_.reshapes.push_back(std::move(form));
    return std::nullopt;
  }

  static std::optional<Refusal> find_empty_form(
      const ReshapeOp& op,
      const std::vector<int64_t>& new_sizes,
      std::vector<ReshapeForm::Size>& sizes) {
    using Size = ReshapeForm::Size;
    for (size_t i = 0; i < new_sizes.size(); ++i) {
      const int64_t size = new_sizes[i];
      if (size < -1) { // -1 stands for 0 here
        return refuse({
            .headline =
                {"The value ", size, " at index ", i,
                 " was neither symbolic(-1), zero_element(0), broadcast(1), or static(>1)."},
            .node = {describe(op.arg), "\nreshaped to ", describe(op.out)},
            .expected = {"sizes of at least 0"},
            .found = {sizes_text(new_sizes)},
            .fix = {"check the scalars that the new shape is computed from"},
        });
      }
      sizes.push_back(size == 0 || size == -1 ? Size::Zero : size == 1 ? Size::One : Size::Other);
    }
    if (std::count(sizes.begin(), sizes.end(), Size::Zero) == 0) {
      return refuse_headline(
          {"Output shape must have at least one 0 when input shape does. Reshape of ",
           describe(op.arg), " to ", sizes_text(new_sizes)});
    }
    return std::nullopt;
  }

  static std::optional<Refusal> find_walk(
      const ReshapeOp& op,
      const IterDomains& axes,
      const std::vector<int64_t>& old_sizes,
      const std::vector<int64_t>& new_sizes,
      ops::ReshapeWalk& walk) {
    const auto as_product = [](int64_t size) {
      return ops::SizeProduct{.constant = size, .unknowns = {}};
    };
    std::vector<ops::WalkDim> old_dims;
    std::vector<ops::SizeProduct> old_products;
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool is_removable =
          axes[i]->is_implicit_broadcast() || (axes[i]->is_symbolic_axis() && old_sizes[i] == 1);
      old_products.push_back(as_product(old_sizes[i]));
      old_dims.push_back({.size = old_products.back(), .is_removable = is_removable});
    }
    std::vector<ops::SizeProduct> new_products;
    for (const int64_t size : new_sizes) {
      if (size == -1) {
        return refuse_headline(
            {"Values of -1 passed to reshape must be constant at definition. Reshape of ",
             describe(op.arg), " to ", sizes_text(new_sizes)});
      }
      new_products.push_back(as_product(size));
    }
    const int64_t old_count = ops::product_of(old_products).constant;
    const int64_t new_count = ops::product_of(new_products).constant;
    if (axes.empty() && new_count != 1) {
      return refuse_headline(
          {"Zero-dim tensors may only be reshaped to tensors with a single element, but got ",
           sizes_text(new_sizes)});
    }
    const bool has_negative =
        std::any_of(new_sizes.begin(), new_sizes.end(), [](int64_t size) { return size < 0; });
    if (old_count != new_count || has_negative) {
      return refuse({
          .headline =
              {"Total element counts across view operation must match: ", old_count, " vs ",
               new_count, ", reshaping ", sizes_text(old_sizes), " to ", sizes_text(new_sizes)},
          .node = {describe(op.arg), "\nreshaped to ", describe(op.out)},
          .expected = {old_count, " elements"},
          .found = has_negative ? Part("a negative size") : Part(new_count, " elements"),
          .fix = {"give -1 for one size to have it worked out"},
      });
    }
    const std::optional<ops::ReshapeWalk> found = ops::walk_reshape(old_dims, new_products);
    NVF_INVARIANT(found.has_value(), "constant shapes have a walk: ", describe(op.out));
    walk = *found;
    return std::nullopt;
  }

  // -- other expressions --

  /// An axis of the result that has a size of its own: was the operand's dimension expanded to it?
  std::optional<Refusal> visit_expand(const ExpandOp& op) {
    const IterDomains axes = TensorDomain::no_reductions(op.arg->logical());
    for (size_t i = 0; i < axes.size(); ++i) {
      const IterDomain* axis = op.out->logical().at(i);
      const Val* old_extent = axes[i]->maybe_expanded_extent();
      if (!axis->is_symbolic_axis() || axis->extent()->same_as(old_extent)) {
        continue;
      }
      int64_t old_size = 0;
      int64_t new_size = 0;
      NVF_RETURN_REFUSAL(find_size(old_extent, op, "an operand of expand", old_size));
      NVF_RETURN_REFUSAL(find_size(axis->extent(), op, "a result of expand", new_size));
      if (old_size != new_size && old_size != 1) {
        return refuse({
            .headline =
                {"Mismatch in sizes when concretizing expand. Size ", old_size,
                 " cannot be expanded to ", new_size},
            .node = {describe(op.arg), "\nexpanded to ", describe(op.out)},
            .expected = {"size ", old_size, ", or an operand of size 1 in dimension ", i},
            .found = {"size ", new_size},
            .fix = {"give -1 for dimensions that keep their size"},
        });
      }
      const auto kind = old_size == new_size ? AxisForm::Kind::Unchanged : AxisForm::Kind::Expanded;
      found_.axes.push_back({.axis = axis->name(), .kind = kind});
    }
    return std::nullopt;
  }

  /// Symbolic axes that follow no operand: of tensors made of scalars, of parts and surroundings.
  std::optional<Refusal> visit_axes(const Expr& expr) {
    if (const auto* squeeze = expr.as<SqueezeOp>()) {
      NVF_RETURN_REFUSAL(visit_squeezed(*squeeze));
    }
    for (const TensorView* out : tensor_outputs(&expr)) {
      std::vector<PairwiseDomainMap> maps;
      for (const TensorView* producer : tensor_inputs(&expr)) {
        maps.emplace_back(producer, out);
      }
      for (const IterDomain* axis : out->domain()->all_ids()) {
        const Expr* made_by = axis->definition();
        const bool has_partner = std::any_of(
            maps.begin(), maps.end(),
            [&](const PairwiseDomainMap& map) { return map.producer_of(axis) != nullptr; });
        const bool is_decided_here = made_by == nullptr ? !has_partner : made_by->is_a<Resize>();
        if (axis->is_symbolic_axis() && is_decided_here) {
          int64_t size = 0;
          NVF_RETURN_REFUSAL(find_size(axis->extent(), expr, "an axis", size));
          found_.axes.push_back(
              {.axis = axis->name(),
               .kind = size == 1 ? AxisForm::Kind::Broadcast : AxisForm::Kind::Iteration});
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> visit_squeezed(const SqueezeOp& op) {
    const IterDomains axes = TensorDomain::no_reductions(op.arg->logical());
    for (size_t i = 0; i < axes.size(); ++i) {
      if (op.flags[i] && axes[i]->is_symbolic_axis()) {
        int64_t size = 0;
        NVF_RETURN_REFUSAL(find_size(axes[i]->extent(), op, "an operand of squeeze", size));
        if (size != 1 && !op.squeeze_expanded) {
          return refuse_squeeze(op.arg, i, std::to_string(size));
        }
        if (size != 1) {
          found_.repeated.push_back({.tensor = op.arg->name(), .dim = static_cast<int64_t>(i)});
        }
      }
    }
    return std::nullopt;
  }

  // -- sizes --

  std::optional<Refusal> add_size(
      const Val* extent, const Expr& reader, const char* role, std::vector<int64_t>& sizes) {
    return find_size(extent, reader, role, sizes.emplace_back());
  }

  std::optional<Refusal> find_size(
      const Val* extent, const Expr& reader, const char* role, int64_t& size) {
    // The quotient that -1 stands for: where another size is 0, so is this one.
    const auto* quotient =
        extent->definition() == nullptr ? nullptr : extent->definition()->as<BinaryOp>();
    if (quotient != nullptr && quotient->op == BinaryOpType::Div) {
      const std::optional<ScalarValue> divisor = evaluator_.evaluate(quotient->rhs);
      if (divisor && as_int(*divisor) == 0) {
        evaluator_.override_value(extent, int64_t{0});
      }
    }
    const std::optional<ScalarValue> value = evaluator_.evaluate(extent);
    if (!value) {
      return refuse_headline(
          {"Cannot evaluate the extent of ", role, ": ", extent->to_inline_string(),
           " is determined by no input. Needed by ", describe(reader)});
    }
    size = as_int(*value);
    return std::nullopt;
  }

  const Fusion& fusion_;
  ExpressionEvaluator& evaluator_;
  Concretization found_;
};

const char* text(AxisForm::Kind kind) {
  switch (kind) {
    case AxisForm::Kind::Iteration: return "iteration";
    case AxisForm::Kind::Broadcast: return "broadcast";
    case AxisForm::Kind::Expanded: return "expanded";
    case AxisForm::Kind::Unchanged: return "unchanged";
  }
  throw InternalError(__FILE__, __LINE__, "known kind", {"AxisForm::Kind out of range"});
}

std::string text(const ReshapeForm& form) {
  if (!form.empty.has_value()) {
    return ops::to_string(form.walk);
  }
  std::string sizes;
  for (const ReshapeForm::Size size : *form.empty) {
    const char* name = size == ReshapeForm::Size::Zero  ? "0"
                       : size == ReshapeForm::Size::One ? "1"
                                                        : "n";
    sizes += (sizes.empty() ? "" : ", ") + std::string(name);
  }
  return "empty[" + sizes + "]";
}

} // namespace

std::string Concretization::to_string() const {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
  for (const ReshapeForm& form : reshapes) {
    add("T" + std::to_string(form.tensor) + ": " + text(form));
  }
  for (const AxisForm& form : axes) {
    add("?S" + std::to_string(form.axis) + ": " + text(form.kind));
  }
  for (const RepeatedDim& form : repeated) {
    add("T" + std::to_string(form.tensor) + "." + std::to_string(form.dim) + ": repeated");
  }
  return out;
}

size_t Concretization::hash() const {
  size_t hash = reshapes.size();
  const auto add = [&](int64_t value) {
    hash = detail::hash_combine(hash, static_cast<size_t>(value));
  };
  for (const ReshapeForm& form : reshapes) {
    add(form.tensor);
    for (const int64_t dim : form.walk.squeezes) {
      add(dim);
    }
    for (const ops::ReshapeStep& step : form.walk.transforms) {
      add(static_cast<int64_t>(step.kind));
      add(step.position);
      add(step.factor);
    }
    for (const int64_t dim : form.walk.broadcasts) {
      add(dim);
    }
    for (const ReshapeForm::Size size : form.empty.value_or(std::vector<ReshapeForm::Size>{})) {
      add(static_cast<int64_t>(size));
    }
  }
  for (const AxisForm& form : axes) {
    add(form.axis);
    add(static_cast<int64_t>(form.kind));
  }
  for (const RepeatedDim& form : repeated) {
    add(form.tensor);
    add(form.dim);
  }
  return hash;
}

Refusal refuse_squeeze(const TensorView* arg, size_t dim, const std::string& size) {
  return refuse_headline(
      {"Squeezed dimension ", dim, " of ", describe(arg),
       " must concretize to IterType::Broadcast but found IterType::Iteration of size ", size});
}

bool is_dynamic(const ReshapeOp& op) {
  return exprs_between(op.out->maybe_root(), op.out->logical()).empty();
}

bool has_dynamic_shapes(const Fusion& fusion) {
  const std::vector<TensorView*> tensors = fusion.tensors();
  return std::any_of(tensors.begin(), tensors.end(), [](const TensorView* tensor) {
    const auto* reshape =
        tensor->definition() == nullptr ? nullptr : tensor->definition()->as<ReshapeOp>();
    return tensor->domain()->has_symbolic_axis() || (reshape != nullptr && is_dynamic(*reshape));
  });
}

std::optional<Refusal> find_unresolved(const Fusion& fusion) {
  for (const Expr* expr : fusion.exprs()) {
    const auto* reshape = expr->as<ReshapeOp>();
    if (reshape != nullptr && is_dynamic(*reshape)) {
      return refuse({
          .headline = {"A kernel cannot have a reshape that is not resolved yet."},
          .node = describe(reshape->out),
          .expected = {"sizes that are known at definition, or a concretized fusion"},
          .found = {describe(reshape)},
          .fix = {"execute the definition with FusionExecutorCache, or schedule the result of "
                  "concretize(fusion, find_concretization(fusion, inputs))"},
      });
    }
  }
  return std::nullopt;
}

std::vector<int64_t> size_inputs(const Fusion& fusion) {
  std::vector<Val*> extents;
  for (const TensorView* tensor : fusion.tensors()) {
    for (const IterDomain* axis : tensor->domain()->all_ids()) {
      extents.push_back(axis->maybe_expanded_extent());
    }
  }
  std::vector<const Val*> read(extents.begin(), extents.end());
  for (const Expr* expr : sorted_definitions(extents)) {
    read.insert(read.end(), expr->inputs().begin(), expr->inputs().end());
  }
  std::vector<int64_t> positions;
  const std::vector<Val*>& inputs = fusion.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->is_scalar() && std::find(read.begin(), read.end(), inputs[i]) != read.end()) {
      positions.push_back(static_cast<int64_t>(i));
    }
  }
  return positions;
}

std::variant<Concretization, Refusal> try_find_concretization(
    const Fusion& fusion, ExpressionEvaluator& evaluator) {
  Finder finder(fusion, evaluator);
  if (std::optional<Refusal> refusal = finder.run()) {
    return *std::move(refusal);
  }
  return finder.take();
}

Concretization find_concretization(const Fusion& fusion, ExpressionEvaluator& evaluator) {
  return value_or_throw(try_find_concretization(fusion, evaluator));
}

} // namespace nvfuser
