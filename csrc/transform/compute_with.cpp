// TensorView::compute_with: compute a tensor in the loops of one consumer, whichever comes first.
//
// A tensor that several expressions read is computed once, in loops that all of them share. Beyond
// these it could still run along with the first of them, which finds the element just computed. Who
// is first is known when the kernel's expressions are sorted (lower/passes/resolve_compute_with.h);
// until then the axes of *every* consumer are protected as if it were.
//
//   before:  c = set(x)   ca_pos(1)                    FOR i0:
//            m = max(c)                                  FOR i1: c = x[..]
//            s = c - m                                   FOR i1: m = max(m, c)
//                                                        FOR i1: s = c - m
//   after:   c = set(x)   ca_pos(1) compute_with(2)    FOR i0:
//                                                        FOR i1: c = x[..]; m = max(m, c)
//                                                        FOR i1: s = c - m
#include "base/errors.h"
#include "ir/fusion.h"
#include "transform/inline_positions.h"

namespace nvfuser {

TensorView* TensorView::compute_with(int64_t position, bool best_effort) {
  using namespace transform;
  if (circular_buffer_options().has_value()) {
    throw UserError(
        {.headline = "A circular buffer cannot be computed with its first consumer only",
         .node = describe(this),
         .expected = "a tensor that is computed when it is read",
         .found = "circular_buffer()",
         .fix = "inline it with inline_at"});
  }
  InlineLimits limits(*fusion());
  const int64_t wrapped = wrap_position(this, position, best_effort);
  const int64_t limit = limits.pair_limit(this);
  if (wrapped > limit && !best_effort) {
    refuse_position(this, wrapped, limit);
  }
  if (std::min(wrapped, limit) > compute_at_position()) {
    for (TensorView* out : with_siblings(this)) {
      out->assign_compute_with(std::min(wrapped, limit));
    }
    for (TensorView* out : with_siblings(this)) {
      for (TensorView* consumer : out->consumers()) {
        update_produce_positions(consumer, limits.alignments());
      }
    }
  }
  record_step(steps::ComputeWith{.pos = position, .best_effort = best_effort});
  return this;
}

} // namespace nvfuser
