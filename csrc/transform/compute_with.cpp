// TensorView::compute_with: compute a tensor in the loops of one consumer, whichever comes first.
//
// A tensor that several expressions read is computed once, in loops that all of them share. Beyond
// these it could still run along with the first of them, which finds the element just computed. The
// first one is known when the kernel's expressions are sorted
// (lower/passes/resolve_compute_with.h); until then the axes of *every* consumer are protected as
// if it were.
//
//   before:  c = set(x)   ca_pos(1)                    FOR i0:
//            m = max(c)                                  FOR i1: c = x[..]
//            s = c - m                                   FOR i1: m = max(m, c)
//                                                        FOR i1: s = c - m
//   after:   c = set(x)   ca_pos(1) compute_with(2)    FOR i0:
//                                                        FOR i1: c = x[..]; m = max(m, c)
//                                                        FOR i1: s = c - m
#include "ir/fusion.h"
#include "transform/circular_buffer.h"
#include "transform/inline_positions.h"
#include "transform/rules.h"

namespace nvfuser::transform {
namespace {

/// The position counted from the first axis, as deep as `limits` allow, into `allowed`.
std::optional<Refusal> find_wrong_compute_with(
    TensorView* tv, int64_t position, bool best_effort, InlineLimits& limits, int64_t& allowed) {
  NVF_RETURN_REFUSAL(find_load_ahead(tv));
  NVF_RETURN_REFUSAL(find_wrong_position(tv, position, best_effort));
  const int64_t wrapped = wrap_position(tv, position);
  const int64_t limit = limits.pair_limit(tv);
  if (wrapped > limit && !best_effort) {
    return refuse_position(tv, wrapped, limit);
  }
  allowed = std::min(wrapped, limit);
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_compute_with(TensorView* tv, int64_t position) {
  InlineLimits limits(*tv->fusion());
  int64_t allowed = 0;
  return find_wrong_compute_with(tv, position, /*best_effort=*/false, limits, allowed);
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::compute_with(int64_t position, bool best_effort) {
  using namespace transform;
  InlineLimits limits(*fusion());
  int64_t allowed = 0;
  check(find_wrong_compute_with(this, position, best_effort, limits, allowed));
  if (allowed > compute_at_position()) {
    for (TensorView* out : with_siblings(this)) {
      out->assign_compute_with(allowed);
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
