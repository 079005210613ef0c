#include "ops/floor_divide.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/operands.h"
#include "ops/ternary.h"
#include "ops/unary.h"

namespace nvfuser::ops {

namespace {

bool is_size_of_input(const Fusion& fusion, const Val* val) {
  return std::any_of(fusion.inputs().begin(), fusion.inputs().end(), [&](const Val* input) {
    if (!input->is_tensor()) {
      return false;
    }
    const IterDomains axes = shape_axes(static_cast<const TensorView*>(input));
    return std::any_of(axes.begin(), axes.end(), [&](const IterDomain* axis) {
      return axis->maybe_expanded_extent() == val;
    });
  });
}

bool is_positive_constant(const Val* val) {
  return val->is_const_int() && as_int(val->value()) > 0;
}

/// Whether nothing but sizes and their quotients by positive constants made it.
bool is_size(const Fusion& fusion, const Val* val) {
  const auto* division = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
  if (division == nullptr) {
    return is_size_of_input(fusion, val);
  }
  const bool keeps_sign =
      division->op == BinaryOpType::Div || division->op == BinaryOpType::CeilDiv;
  return keeps_sign && is_positive_constant(division->rhs) && is_size(fusion, division->lhs);
}

/// Whether a quotient without `rest`, which has the sign of the dividend, is above a / b.
Val* is_above(Val* rest, Val* b) {
  Val* zero = number(0);
  return logical_and(ne(rest, zero), ne(lt(b, zero), lt(rest, zero)));
}

/// As PyTorch: the remainder goes first, so that the quotient has nothing left to round but one
/// ulp.
Val* floor_divide_floats(Val* a, Val* b) {
  Val* rest = fmod(a, b);
  Val* quotient = div(sub(a, rest), b);
  Val* one = quotient->fusion()->one();
  Val* whole = round(where(is_above(rest, b), sub(quotient, one), quotient));
  const bool is_nonzero = b->is_const() && !b->is_zero();
  return is_nonzero ? whole : where(eq(b, number(0)), div(a, b), whole);
}

/// The truncated quotient of any two integers fits; a - remainder(a, b) may wrap.
Val* floor_divide_integers(Val* a, Val* b) {
  Val* quotient = div(a, b);
  Val* one = quotient->fusion()->new_constant(int64_t{1}, quotient->dtype());
  return where(is_above(fmod(a, b), b), sub(quotient, one), quotient);
}

} // namespace

Val* floor_divide(Val* a, Val* b) {
  const Fusion& fusion = fusion_for({a, b});
  const DataType dtype = common_dtype({a, b});
  if (!is_integral(dtype)) {
    return floor_divide_floats(a, b);
  }
  const bool has_no_sign = is_unsigned(dtype) || (is_positive_constant(b) && is_size(fusion, a));
  return has_no_sign ? div(a, b) : floor_divide_integers(a, b);
}

} // namespace nvfuser::ops
