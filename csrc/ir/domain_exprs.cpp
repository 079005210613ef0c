// Making iteration domains from others. The rules of types and extents stand here, once.
#include "ir/domain_exprs.h"

#include "ir/all_nodes.h"
#include "ir/cancelling_sum.h"
#include "ir/fusion.h"
#include "ir/rules.h"
#include "ir/scalar.h"
#include "ir/shifted_axes.h"

namespace nvfuser {
namespace {

bool is_mergeable(IterType type) {
  return type == IterType::Iteration || type == IterType::Broadcast || type == IterType::Symbolic ||
         type == IterType::GatherScatter || type == IterType::VectorComponent;
}

/// Broadcast with iteration gives iteration; a reduction merges with reductions only.
IterType merged_type(IterType a, IterType b) {
  if (a == b) {
    return a;
  }
  const auto either = [&](IterType type) { return a == type || b == type; };
  if (either(IterType::Symbolic)) {
    return IterType::Symbolic;
  }
  return either(IterType::GatherScatter) ? IterType::GatherScatter : IterType::Iteration;
}

/// Extents are 64-bit integers; a product that wraps would be a small axis, or none.
bool fits_in_64_bits(const Val* a, const Val* b) {
  int64_t product = 0;
  return !a->is_const_int() || !b->is_const_int() ||
         !__builtin_mul_overflow(as_int(a->value()), as_int(b->value()), &product);
}

Val* resized_extent(IterDomain* in, Val* left, Val* right) {
  return scalar::cancelling_sum({left, in->maybe_expanded_extent(), right});
}

bool is_shift_by(const Val* left) {
  return !hardware_indices_in(left).empty();
}

/// Blocks have shifts of their own; their threads agree, and all run as far.
std::optional<Refusal> find_wrong_shift(const IterDomain* in, const Val* left, const Val* extent) {
  for (const ParallelType index : hardware_indices_in(left)) {
    if (!is_grid_dim(index)) {
      return refuse(
          {.headline = "The threads of a block cannot shift an axis differently",
           .node = describe(in),
           .expected = "a width that depends on grid_x, grid_y or grid_z",
           .found = left->to_inline_string(),
           .fix = "give each block one row, or rows whose shifts are equal"});
    }
  }
  if (!hardware_indices_in(extent).empty()) {
    return refuse(
        {.headline = "The size of a resized axis differs between blocks",
         .node = describe(in),
         .expected = "widths whose sum depends on sizes only",
         .found = extent->to_inline_string(),
         .fix = "shift the axis: what one width adds, the other one lacks"});
  }
  return std::nullopt;
}

/// Positions added to an axis, or cut off it, run as the rest of the axis does.
std::optional<Refusal> find_wrong_resized_axis(
    const IterDomain* in,
    const Val* left,
    const Val* right,
    const Val* extent, // nullptr: it has none
    std::optional<IterType> type) {
  if (extent == nullptr) {
    return refuse(
        {.headline = "The size of a resized axis does not fit in 64 bits",
         .node = describe(in),
         .expected = "a size below 2^63",
         .found =
             {in->maybe_expanded_extent()->to_inline_string(), " + ", left->to_inline_string(),
              " + ", right->to_inline_string()},
         .fix = "pad the axis by less"});
  }
  if (is_shift_by(left)) {
    NVF_RETURN_REFUSAL(find_wrong_shift(in, left, extent));
    if (type == in->iter_type()) {
      return std::nullopt; // a loop of a schedule
    }
  }
  const bool is_other_size = extent->is_const_int() && !extent->is_one();
  if (!type || *type == IterType::Iteration || *type == IterType::Symbolic ||
      (*type == IterType::Broadcast && !is_other_size)) {
    return std::nullopt;
  }
  return refuse(
      {.headline = {"A resized axis cannot be of type ", enum_name(*type)},
       .node = describe(in),
       .expected = "Iteration, or Symbolic, or Broadcast for a size of 1",
       .found = {enum_name(*type), " of size ", extent->to_inline_string()},
       .fix = "leave iter_type out: it follows from the size"});
}

std::optional<Refusal> find_unresizable_axis(const IterDomain* axis, const Val* left) {
  if (axis->maybe_partial()) {
    return refuse(
        {.headline = {"Cannot resize an axis with a start or a stop offset: ", axis->to_string()},
         .node = describe(axis),
         .expected = "an axis that runs from 0 to its extent",
         .found =
             {"start ", axis->start()->to_inline_string(), ", stop offset ",
              axis->stop_offset()->to_inline_string()},
         .fix = "resize the axis that it was made from"});
  }
  const bool is_shifted = axis->is_reduction() && is_shift_by(left);
  if (!axis->is_iteration() && !axis->is_broadcast() && !axis->is_symbolic_axis() && !is_shifted) {
    return refuse(
        {.headline =
             {"Only iteration, broadcast and symbolic axes can be resized: ", axis->to_string()},
         .node = describe(axis),
         .expected = "Iteration, Broadcast or Symbolic",
         .found = enum_name(axis->iter_type()),
         .fix = "resize the tensor before it is reduced, gathered or scattered"});
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_merge(const IterDomain* outer, const IterDomain* inner) {
  const Val* a = outer->maybe_expanded_extent();
  const Val* b = inner->maybe_expanded_extent();
  if (!fits_in_64_bits(a, b)) {
    return refuse(
        {.headline = "The size of merged axes does not fit in 64 bits",
         .node = describe(outer),
         .expected = "a product below 2^63",
         .found = {a->to_inline_string(), " * ", b->to_inline_string()},
         .fix = "merge fewer axes"});
  }
  const IterType outer_type = outer->iter_type();
  const IterType inner_type = inner->iter_type();
  if (outer_type != inner_type && (!is_mergeable(outer_type) || !is_mergeable(inner_type))) {
    return refuse(
        {.headline =
             {"Merging IterDomains requires that their iteration types match. Outer: ",
              outer->to_string(), ", Inner: ", inner->to_string()},
         .node = describe(outer),
         .expected = "both or neither to be reductions",
         .found = {outer_type, " and ", inner_type},
         .fix = "reorder the axes, or merge them before the reduction"});
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_rotation(const IterDomain* axis, ParallelType type) {
  if (is_device_dim(type)) {
    return std::nullopt;
  }
  return refuse_node(axis, {"Swizzle1D only supports device parallel types, given: ", type});
}

std::optional<Refusal> find_wrong_resize(
    IterDomain* axis, Val* left, Val* right, std::optional<IterType> iter_type) {
  if (left->is_zero() && right->is_zero()) {
    return std::nullopt;
  }
  NVF_RETURN_REFUSAL(find_unresizable_axis(axis, left));
  return find_wrong_resized_axis(axis, left, right, resized_extent(axis, left, right), iter_type);
}

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
  fusion.make<Split>(
      {.outer = outer, .inner = inner, .in = in, .factor = factor, .inner_split = inner_split});
  return {outer, inner};
}

IterDomain* merge_ids(IterDomain* outer, IterDomain* inner, bool is_rfactor) {
  Fusion& fusion = *outer->fusion();
  fusion.check_contains(inner);
  check(find_wrong_merge(outer, inner));
  IterDomainSpec spec{
      .extent = scalar::mul(outer->extent(), inner->extent()),
      .iter_type = merged_type(outer->iter_type(), inner->iter_type()),
      .parallel_type = outer->parallel_type(),
      .is_rfactor = is_rfactor};
  if (spec.iter_type == IterType::Broadcast &&
      (outer->has_expanded_extent() || inner->has_expanded_extent())) {
    spec.expanded_extent =
        scalar::mul(outer->maybe_expanded_extent(), inner->maybe_expanded_extent());
  }
  IterDomain* out = fusion.new_iter_domain(spec);
  fusion.make<Merge>({.out = out, .outer = outer, .inner = inner});
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
  fusion.make<Swizzle>(
      {.out_x = out_x, .out_y = out_y, .in_x = in_x, .in_y = in_y, .swizzle_type = type});
  return {out_x, out_y};
}

IterDomain* swizzle1d_id(IterDomain* in, ParallelType type) {
  check(find_wrong_rotation(in, type));
  IterDomain* out = in->fusion()->new_iter_domain(
      IterDomainSpec{
          .extent = in->extent(),
          .iter_type = in->iter_type(),
          .parallel_type = in->parallel_type()});
  in->fusion()->make<Swizzle1D>({.out = out, .in = in, .parallel_type = type});
  return out;
}

IterDomain* resize_id(
    IterDomain* in,
    Val* left,
    Val* right,
    std::optional<IterType> iter_type,
    bool is_rfactor,
    Val* extent) {
  if (left->is_zero() && right->is_zero()) {
    return in;
  }
  check(find_unresizable_axis(in, left));
  Fusion& fusion = *in->fusion();
  fusion.check_contains(left);
  fusion.check_contains(right);
  const bool is_shifted = is_shift_by(left);
  if (is_shifted && in->is_broadcast()) { // the loops of other tensors run over their shifted axis
    extent = in->extent();
    iter_type = IterType::Broadcast;
  }
  if (extent == nullptr) {
    extent = resized_extent(in, left, right);
  }
  if (!iter_type.has_value() && is_shifted) {
    iter_type = in->iter_type();
  }
  check(find_wrong_resized_axis(in, left, right, extent, iter_type));
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
  fusion.make<Resize>({.out = out, .in = in, .left = left, .right = right});
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
                   return {swizzle1d_id(inputs[0], e.parallel_type)};
                 },
                 [&](const Resize& e) -> IterDomains {
                   return {resize_id(
                       inputs[0], e.left, e.right,
                       is_shift(e) ? inputs[0]->iter_type() : e.out->iter_type(), false)};
                 },
                 [&](const Expr& e) -> IterDomains {
                   throw InternalError(
                       __FILE__, __LINE__, "is a transform of axes",
                       {"cannot replay ", e.op_name()});
                 }});
}

} // namespace nvfuser
