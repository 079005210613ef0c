#include "schedule/common/shifted_rows.h"

#include "ir/fusion.h"
#include "ir/scalar.h"

namespace nvfuser::schedule {

void shift_row(LoopRoles& loops, LoopRole role, ParallelType blocks, int64_t lanes) {
  const IterDomain* axis = loops.axis(role);
  Fusion& fusion = *axis->fusion();
  Val* width = fusion.new_index(lanes);
  Val* elements = axis->extent();
  Val* before = scalar::mod(scalar::mul(fusion.parallel_index(blocks), elements), width);
  Val* positions = scalar::mul(
      scalar::ceil_div(scalar::add(elements, fusion.new_index(lanes - 1)), width), width);
  Val* behind = scalar::sub(scalar::sub(positions, elements), before);
  loops.tensor()->resize(loops.position(role), before, behind, axis->iter_type());
}

} // namespace nvfuser::schedule
