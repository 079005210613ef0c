#include "ops/cast.h"

#include "base/warnings.h"
#include "ir/pointwise.h"
#include "ops/operands.h"
#include "ops/shape.h"

namespace nvfuser::ops {

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
  if (is_complex(from) && !is_complex(dtype)) {
    warn("Casting a complex value to a real type drops its imaginary part.");
  }
  Val* out = new_result({arg}, dtype);
  fusion.make<UnaryOp>(out, arg, UnaryOpType::Cast);
  return out;
}

Val* maybe_cast(Val* arg, DataType dtype) {
  return arg->dtype() == dtype ? arg : cast(arg, dtype);
}

TensorView* widened(TensorView* arg) {
  return is_low_precision(arg->dtype()) ? cast(arg, DataType::Float) : arg;
}

Val* bitcast(DataType dtype, Val* arg) {
  Fusion& fusion = fusion_for({arg});
  NVF_USER_CHECK(
      size_bits(dtype) == size_bits(arg->dtype()),
      "BitCast only works for types of the same size, but got ", arg->dtype(), " and ", dtype);
  if (dtype == arg->dtype()) {
    return set(arg);
  }
  Val* out = new_result({arg}, dtype);
  fusion.make<UnaryOp>(out, arg, UnaryOpType::BitCast);
  return out;
}

} // namespace nvfuser::ops
