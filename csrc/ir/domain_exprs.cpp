// Making iteration domains from others. The rules of types and extents stand here, once.
#include "ir/domain_exprs.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

/// Broadcast with iteration gives iteration; a reduction merges with reductions only.
IterType merged_type(const IterDomain* outer, const IterDomain* inner) {
  const IterType a = outer->iter_type();
  const IterType b = inner->iter_type();
  if (a == b) {
    return a;
  }
  const auto either = [&](IterType type) { return a == type || b == type; };
  const auto is_mergeable = [](IterType type) {
    return type == IterType::Iteration || type == IterType::Broadcast ||
           type == IterType::Symbolic || type == IterType::GatherScatter ||
           type == IterType::VectorComponent;
  };
  if (!is_mergeable(a) || !is_mergeable(b)) {
    throw UserError(
        {.headline =
             {"Merging IterDomains requires that their iteration types match. Outer: ",
              outer->to_string(), ", Inner: ", inner->to_string()},
         .node = describe(outer),
         .expected = "both or neither to be reductions",
         .found = {a, " and ", b},
         .fix = "reorder the axes, or merge them before the reduction"});
  }
  if (either(IterType::Symbolic)) {
    return IterType::Symbolic;
  }
  return either(IterType::GatherScatter) ? IterType::GatherScatter : IterType::Iteration;
}

/// A sum of terms in which opposite ones cancel: n - start + stop - n is stop - start.
class CancellingSum {
 public:
  void add(Val* val, bool is_negative = false) {
    const auto* binary = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
    const auto* unary = val->definition() == nullptr ? nullptr : val->definition()->as<UnaryOp>();
    if (val->is_const_int()) {
      constant_ += is_negative ? -as_int(val->value()) : as_int(val->value());
    } else if (binary != nullptr && binary->op == BinaryOpType::Add) {
      add(binary->lhs, is_negative);
      add(binary->rhs, is_negative);
    } else if (binary != nullptr && binary->op == BinaryOpType::Sub) {
      add(binary->lhs, is_negative);
      add(binary->rhs, !is_negative);
    } else if (unary != nullptr && unary->op == UnaryOpType::Neg) {
      add(unary->arg, !is_negative);
    } else {
      cancel_or_append(val, is_negative);
    }
  }
  [[nodiscard]] Val* value(Fusion& fusion) const {
    Val* sum = fusion.zero();
    for (const bool negative : {false, true}) {
      for (const auto& [val, is_negative] : terms_) {
        if (is_negative == negative) {
          sum = negative ? scalar::sub(sum, val) : scalar::add(sum, val);
        }
      }
    }
    return constant_ < 0 ? scalar::sub(sum, fusion.new_index(-constant_))
                         : scalar::add(sum, fusion.new_index(constant_));
  }

 private:
  void cancel_or_append(Val* val, bool is_negative) {
    const auto opposite = std::find_if(terms_.begin(), terms_.end(), [&](const auto& term) {
      return term.second != is_negative && term.first->same_as(val);
    });
    if (opposite == terms_.end()) {
      terms_.emplace_back(val, is_negative);
    } else {
      terms_.erase(opposite);
    }
  }

  std::vector<std::pair<Val*, bool>> terms_; // whether it is subtracted
  int64_t constant_ = 0;
};

} // namespace

std::pair<IterDomain*, IterDomain*> split_id(
    IterDomain* in, Val* factor, bool inner_split, bool is_rfactor) {
  Fusion& fusion = *in->fusion();
  fusion.check_contains(factor);
  factor = scalar::cast(DataType::Index, factor);
  IterDomainSpec rest{
      .extent = scalar::ceil_div(in->extent(), factor),
      .iter_type = in->iter_type(),
      .parallel_type = in->parallel_type(),
      .is_rfactor = is_rfactor};
  IterDomainSpec part = rest;
  part.extent = factor;
  // Only the part that follows the size of `in` can be seen larger than it is.
  if (in->has_expanded_extent()) {
    rest.expanded_extent = scalar::ceil_div(in->expanded_extent(), factor);
  }
  IterDomain* outer = fusion.new_iter_domain(inner_split ? rest : part);
  IterDomain* inner = fusion.new_iter_domain(inner_split ? part : rest);
  fusion.make<Split>(outer, inner, in, factor, inner_split);
  return {outer, inner};
}

IterDomain* merge_ids(IterDomain* outer, IterDomain* inner, bool is_rfactor) {
  Fusion& fusion = *outer->fusion();
  fusion.check_contains(inner);
  IterDomainSpec spec{
      .extent = scalar::mul(outer->extent(), inner->extent()),
      .iter_type = merged_type(outer, inner),
      .parallel_type = outer->parallel_type(),
      .is_rfactor = is_rfactor};
  if (spec.iter_type == IterType::Broadcast &&
      (outer->has_expanded_extent() || inner->has_expanded_extent())) {
    spec.expanded_extent =
        scalar::mul(outer->maybe_expanded_extent(), inner->maybe_expanded_extent());
  }
  IterDomain* out = fusion.new_iter_domain(spec);
  fusion.make<Merge>(out, outer, inner);
  return out;
}

std::pair<IterDomain*, IterDomain*> swizzle_ids(
    SwizzleType type, IterDomain* in_x, IterDomain* in_y) {
  Fusion& fusion = *in_x->fusion();
  fusion.check_contains(in_y);
  const auto like = [&](const IterDomain* in) {
    return fusion.new_iter_domain(
        IterDomainSpec{
            .extent = in->extent(),
            .iter_type = in->iter_type(),
            .parallel_type = in->parallel_type()});
  };
  IterDomain* out_x = like(in_x);
  IterDomain* out_y = like(in_y);
  fusion.make<Swizzle>(out_x, out_y, in_x, in_y, type);
  return {out_x, out_y};
}

IterDomain* resize_id(
    IterDomain* in, Val* left, Val* right, std::optional<IterType> iter_type, bool is_rfactor) {
  if (left->is_zero() && right->is_zero()) {
    return in;
  }
  NVF_USER_CHECK(
      in->start()->is_zero() && in->stop_offset()->is_zero(),
      "Cannot resize an axis with a start or a stop offset: ", describe(in));
  NVF_USER_CHECK(
      in->is_iteration() || in->is_broadcast() || in->is_symbolic_axis(),
      "Only iteration, broadcast and symbolic axes can be resized: ", describe(in));
  Fusion& fusion = *in->fusion();
  CancellingSum sum;
  for (Val* term : {in->maybe_expanded_extent(), left, right}) {
    sum.add(term);
  }
  Val* extent = sum.value(fusion);
  if (!iter_type.has_value()) {
    iter_type = !extent->is_const_int() ? IterType::Symbolic
                : extent->is_one()      ? IterType::Broadcast
                                        : IterType::Iteration;
  }
  IterDomain* out = fusion.new_iter_domain(
      IterDomainSpec{
          .extent = extent,
          .iter_type = *iter_type,
          .parallel_type = in->parallel_type(),
          .is_rfactor = is_rfactor});
  fusion.make<Resize>(out, in, left, right);
  return out;
}

IterDomains replay_id_expr(const Expr* expr, const IterDomains& inputs) {
  NVF_INVARIANT(inputs.size() == expr->inputs().size(), "one id per input of ", expr->op_name());
  return visit(
      *expr, overloaded{
                 [&](const Split& e) -> IterDomains {
                   const auto [outer, inner] = split_id(inputs[0], e.factor, e.inner_split);
                   return {outer, inner};
                 },
                 [&](const Merge&) -> IterDomains { return {merge_ids(inputs[0], inputs[1])}; },
                 [&](const Swizzle& e) -> IterDomains {
                   const auto [x, y] = swizzle_ids(e.swizzle_type, inputs[0], inputs[1]);
                   return {x, y};
                 },
                 [&](const Swizzle1D& e) -> IterDomains {
                   Fusion& fusion = *inputs[0]->fusion();
                   IterDomain* out = fusion.new_iter_domain(
                       IterDomainSpec{
                           .extent = inputs[0]->extent(),
                           .iter_type = inputs[0]->iter_type(),
                           .parallel_type = inputs[0]->parallel_type()});
                   fusion.make<Swizzle1D>(out, inputs[0], e.parallel_type);
                   return {out};
                 },
                 [&](const Resize& e) -> IterDomains {
                   return {resize_id(inputs[0], e.left, e.right, e.out->iter_type(), false)};
                 },
                 [&](const Expr& e) -> IterDomains {
                   throw InternalError(
                       __FILE__, __LINE__, "is a transform of axes",
                       {"cannot replay ", e.op_name()});
                 }});
}

} // namespace nvfuser
