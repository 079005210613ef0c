#include "ops/composite.h"

#include "ir/scalar.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/create.h"
#include "ops/operands.h"
#include "ops/shape.h"
#include "ops/ternary.h"

namespace nvfuser::ops {

Val* sign(Val* x) {
  Fusion& fusion = fusion_for({x});
  check_not_complex("sign", x);
  Val* wide = is_low_precision(x->dtype()) ? cast(x, DataType::Float) : x; // once, not per compare
  const auto constant = [&](int64_t value) { return fusion.new_constant(value, wide->dtype()); };
  Val* zero = constant(0); // which e8m0 has not
  Val* is_positive = gt(wide, zero);
  Val* not_positive = where(lt(wide, zero), constant(-1), zero);
  return maybe_cast(where(is_positive, constant(1), not_positive), x->dtype());
}

TensorView* triu(TensorView* arg, Val* diagonal) {
  Fusion& fusion = fusion_for({arg, diagonal});
  NVF_NODE_CHECK(is_integral(diagonal->dtype()), diagonal, "offset must have integral type");
  const int64_t rank = arg->rank();
  NVF_NODE_CHECK(
      rank >= 2, arg, "input tensor for triu must have 2 or more dims, but got ", rank, " dims");
  Val* first_column = scalar::neg(scalar::cast(DataType::Index, diagonal));
  TensorView* rows = iota(arg->size(-2), fusion.zero(), fusion.one(), DataType::Index);
  TensorView* columns = iota(arg->size(-1), first_column, fusion.one(), DataType::Index);

  std::vector<bool> row_flags(static_cast<size_t>(rank), true);
  std::vector<bool> column_flags = row_flags;
  row_flags[static_cast<size_t>(rank - 2)] = false;
  column_flags[static_cast<size_t>(rank - 1)] = false;
  TensorView* row = broadcast(rows, row_flags);
  TensorView* column = broadcast(columns, column_flags);
  Val* zero = fusion.new_constant(int64_t{0}, arg->dtype());
  return static_cast<TensorView*>(where(le(row, column), arg, zero));
}

} // namespace nvfuser::ops
