// Operations on the elements of three operands.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// start + weight * (end - start).
Val* lerp(Val* start, Val* end, Val* weight);

/// `a` where `condition` is true, `b` elsewhere. A tensor condition makes the result a tensor. Half
/// branches give a half result.
Val* where(Val* condition, Val* a, Val* b);

/// `x` limited to [min, max]; a bound that is nullptr does not limit. Bounds are scalars.
Val* clamp(Val* x, Val* min, Val* max);

/// `value` where x <= thresh, `x` elsewhere. `thresh` and `value` are scalars.
Val* threshold(Val* x, Val* thresh, Val* value);

/// v1 + v2 * (v3 * alpha); alpha is a scalar.
Val* addcmul(Val* v1, Val* v2, Val* v3, Val* alpha);

} // namespace nvfuser::ops
