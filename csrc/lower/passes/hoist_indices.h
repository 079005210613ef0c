#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Name the parts of index expressions that several statements have in common, or that a loop would
/// compute again and again.
///   before:  FOR i: IF tx * 4 + i * 256 + bx * 1024 < n: T1[tx * 4 + i * 256 + bx * 1024] = ..
///   after:   i7 = tx * 4 + bx * 1024     FOR i: { i9 = i7 + i * 256    IF i9 < n: T1[i9] = .. }
/// A name is declared in the outermost loop (or branch, or region) that knows its operands, before
/// its first use. To let sums share more, their terms are ordered from those of outer loops to
/// those of inner ones. Constants, loop indices and single additions get no name. On a GPU a
/// division by what may be 0 stays inside of the conditions and loops that guard it, unless it is
/// computed outside of them anyway; on a processor it is a call, and leaves loops where it can.
/// NVFUSER_DISABLE=index_hoist leaves every index as it is. Requires: the tree is final. Ensures:
/// values are the same; a statement whose result is a scalar declares it for what follows.
void hoist_indices(Kernel& kernel);

} // namespace nvfuser
