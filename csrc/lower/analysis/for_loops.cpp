#include "lower/analysis/for_loops.h"

namespace nvfuser {

bool is_serial(const ForLoop& loop) {
  return !loop.is_parallel && !loop.is_vectorized;
}

bool surely_runs(const ForLoop& loop) {
  return !is_serial(loop) || (loop.start->is_const() && loop.stop->is_const() &&
                              as_int(loop.start->value()) < as_int(loop.stop->value()));
}

ForLoop* with_body(Kernel& kernel, const ForLoop& loop, Scope body) {
  return kernel.make<ForLoop>(
      loop.index, loop.iter_domain, loop.start, loop.stop, loop.step, loop.is_parallel,
      loop.is_vectorized, loop.is_unrolled, loop.hoists_conditions, std::move(body),
      loop.circular_buffer_stage, loop.circular_buffer_depth, loop.unroll_count);
}

} // namespace nvfuser
