#include "ops/promotion.h"

#include <array>

#include "base/errors.h"
#include "ir/tensor_view.h"
#include "ops/cast.h"
#include "ops/operands.h"

namespace nvfuser::ops {

namespace {

/// Classes of numbers. fp4 is storage only and belongs to none.
enum class NumberClass : uint8_t { None, Bool, Integral, Float, Complex };

NumberClass class_of(DataType dtype) {
  if (is_boolean(dtype)) {
    return NumberClass::Bool;
  }
  if (is_complex(dtype)) {
    return NumberClass::Complex;
  }
  if (is_integral(dtype)) {
    return NumberClass::Integral;
  }
  const bool is_fp4 = dtype == DataType::Float4_e2m1fn || dtype == DataType::Float4_e2m1fn_x2;
  return is_floating_point(dtype) && !is_fp4 ? NumberClass::Float : NumberClass::None;
}

DataType widen_low_precision(DataType dtype) {
  return is_low_precision(dtype) ? DataType::Float : dtype;
}

/// The complex type whose parts have the width of `dtype`.
DataType complex_of(DataType dtype) {
  switch (dtype) {
    case DataType::Float: return DataType::ComplexFloat;
    case DataType::Double: return DataType::ComplexDouble;
    default: throw UserError(Part("Only support Float and Double, current type:", dtype));
  }
}

/// How strongly an operand takes part in the choice of the common dtype.
enum Strength : uint8_t { kTensor, kZeroDimTensor, kScalar, kNumStrengths };

Strength strength_of(const Val* operand) {
  if (!operand->is_tensor()) {
    return kScalar;
  }
  return static_cast<const TensorView*>(operand)->rank() > 0 ? kTensor : kZeroDimTensor;
}

/// The dtype of operands of dtype `strong` together with weaker ones of dtype `weak`.
DataType merge_strengths(DataType strong, DataType weak) {
  if (strong == DataType::Null) {
    return weak;
  }
  const NumberClass s = class_of(strong);
  const NumberClass w = class_of(weak);
  if (weak == DataType::Null || s == NumberClass::Complex) {
    return strong;
  }
  if (w == NumberClass::Complex && s != NumberClass::None) {
    return s == NumberClass::Float ? complex_of(strong) : weak;
  }
  const bool holds_weak =
      (s == NumberClass::Float && w != NumberClass::None) ||
      (s == NumberClass::Integral && (w == NumberClass::Integral || w == NumberClass::Bool));
  return holds_weak ? strong : promote_pair(strong, weak);
}

void check_integral(const std::vector<Val*>& operands) {
  bool all_integral = true;
  std::string dtypes;
  for (const Val* operand : operands) {
    all_integral = all_integral && is_integral(operand->dtype());
    dtypes += (dtypes.empty() ? "" : " and ") + std::string(text(operand->dtype()));
  }
  NVF_NODE_CHECK(all_integral, operands.front(), "input must have integral type, but got ", dtypes);
}

/// The dtype that operands are cast to; Null: they stay as they are.
DataType compute_dtype(Promotion policy, const std::vector<Val*>& operands) {
  switch (policy) {
    case Promotion::Keep:
    case Promotion::KeepReal:
    case Promotion::Test: return DataType::Null;
    case Promotion::Bool: return DataType::Bool;
    case Promotion::Int: check_integral(operands); return common_dtype(operands);
    case Promotion::FloatOnly: {
      const DataType common = common_dtype(operands, /*widen=*/false);
      NVF_NODE_CHECK(
          common == DataType::Float || common == DataType::Double, operands.front(),
          "Promoted type must be single or double precision float but found ", common);
      return common;
    }
    case Promotion::Float: {
      const DataType common = common_dtype(operands);
      return is_integral(common) || is_boolean(common) ? DataType::Float : common;
    }
    case Promotion::Default:
    case Promotion::Compare: return common_dtype(operands);
  }
  return DataType::Null;
}

} // namespace

bool same_number_class(DataType a, DataType b) {
  return class_of(a) == class_of(b);
}

DataType promote_pair(DataType a, DataType b) {
  if (a == b) {
    return a;
  }
  const NumberClass ca = class_of(a);
  const NumberClass cb = class_of(b);
  const auto either_is = [&](DataType dtype) { return a == dtype || b == dtype; };
  const bool is_real_mix = ca == NumberClass::Float || cb == NumberClass::Float;

  if (ca == NumberClass::None || cb == NumberClass::None) {
    // no rule
  } else if (ca == NumberClass::Complex || cb == NumberClass::Complex) {
    const bool is_double = either_is(DataType::Double) || either_is(DataType::ComplexDouble);
    return is_double ? DataType::ComplexDouble : DataType::ComplexFloat;
  } else if (is_real_mix) {
    if (ca != cb) {
      return ca == NumberClass::Float ? a : b;
    }
    return either_is(DataType::Double) ? DataType::Double : DataType::Float;
  } else if (either_is(DataType::Index) && ca == NumberClass::Integral && ca == cb) {
    return DataType::Index;
  } else if (
      either_is(DataType::Int) && (either_is(DataType::Int32) || either_is(DataType::Bool))) {
    return DataType::Int;
  } else if (either_is(DataType::Int32) && either_is(DataType::Bool)) {
    return DataType::Int32;
  } else if (either_is(DataType::Index) && either_is(DataType::Bool)) {
    return DataType::Index;
  }
  throw UserError(Part("Expected promotable DataTypes but got: ", a, " and ", b));
}

DataType common_dtype(const std::vector<Val*>& operands, bool widen) {
  NVF_USER_CHECK(!operands.empty(), "common_dtype: expected at least one operand, but got none");
  std::array<DataType, kNumStrengths> dtypes{};
  dtypes.fill(DataType::Null);
  bool all_same = true;
  for (const Val* operand : operands) {
    const Strength strength = strength_of(operand);
    const DataType own = operand->dtype();
    all_same = all_same && own == operands.front()->dtype();
    const DataType counted = strength == kScalar ? widen_low_precision(own) : own;
    DataType& merged = dtypes[strength];
    merged = merged == DataType::Null ? counted : promote_pair(merged, counted);
  }
  DataType common = DataType::Null;
  if (all_same) {
    common = operands.front()->dtype();
  } else {
    for (const DataType dtype : dtypes) {
      common = merge_strengths(common, dtype);
    }
  }
  return widen ? widen_low_precision(common) : common;
}

Val* cast_operand(Val* operand, DataType dtype) {
  const DataType own = operand->dtype();
  if (own == dtype || (!operand->is_tensor() && same_number_class(own, dtype))) {
    return operand;
  }
  return cast(operand, dtype);
}

Promoted promote(Promotion policy, const std::vector<Val*>& operands) {
  const DataType dtype = compute_dtype(policy, operands);
  Promoted promoted{.operands = operands, .result = dtype};
  if (dtype != DataType::Null) {
    for (Val*& operand : promoted.operands) {
      operand = cast_operand(operand, dtype);
    }
  } else {
    promoted.result = operands.front()->dtype();
  }
  if (policy == Promotion::Compare || policy == Promotion::Test) {
    promoted.result = DataType::Bool;
  } else if (policy == Promotion::KeepReal) {
    promoted.result = real_type_of(promoted.result);
  }
  return promoted;
}

} // namespace nvfuser::ops
