#include "ops/cast.h"

#include "base/warnings.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"
#include "ops/operands.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

void warn_of_lost_part(DataType from, DataType to) {
  // A Bool says whether either part is nonzero.
  if (is_complex(from) && !is_complex(to) && !is_boolean(to)) {
    warn("Casting a complex value to a real type drops its imaginary part.");
  }
}

} // namespace

Val* cast(Val* arg, DataType dtype) {
  Fusion& fusion = fusion_for({arg});
  const DataType from = arg->dtype();
  if (from == dtype) {
    return set(arg);
  }
  if (dtype == DataType::Null || cast_text(from, dtype).empty()) {
    throw UserError({
        .headline = {"Illegal Cast value from  DataType: ", from, " to DataType: ", dtype},
        .node = describe(arg),
        .expected = {"a pair of types with a conversion"},
        .found = {from, " to ", dtype},
        .fix = {"convert through Float"},
    });
  }
  warn_of_lost_part(from, dtype);
  Val* out = new_result({arg}, dtype);
  fusion.make<UnaryOp>({.out = out, .arg = arg, .op = UnaryOpType::Cast});
  return out;
}

Val* cast_constant(Val* arg, DataType dtype) {
  if (!arg->is_const()) {
    return maybe_cast(arg, dtype);
  }
  warn_of_lost_part(arg->dtype(), dtype);
  return scalar::cast(dtype, arg);
}

Val* maybe_cast(Val* arg, DataType dtype) {
  return arg->dtype() == dtype ? arg : cast(arg, dtype);
}

TensorView* widened(TensorView* arg) {
  return is_low_precision(arg->dtype()) ? cast(arg, DataType::Float) : arg;
}

Val* bitcast(DataType dtype, Val* arg) {
  Fusion& fusion = fusion_for({arg});
  NVF_NODE_CHECK(
      size_bits(dtype) == size_bits(arg->dtype()), arg,
      "BitCast only works for types of the same size, but got ", arg->dtype(), " and ", dtype);
  if (dtype == arg->dtype()) {
    return set(arg);
  }
  Val* out = new_result({arg}, dtype);
  fusion.make<UnaryOp>({.out = out, .arg = arg, .op = UnaryOpType::BitCast});
  return out;
}

} // namespace nvfuser::ops
