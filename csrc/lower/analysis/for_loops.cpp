#include "lower/analysis/for_loops.h"

namespace nvfuser {

bool is_serial(const ForLoop& loop) {
  return traits_of(loop.loop_kind).repeats;
}

bool surely_runs(const ForLoop& loop) {
  return !is_serial(loop) || (loop.start->is_const() && loop.stop->is_const() &&
                              as_int(loop.start->value()) < as_int(loop.stop->value()));
}

ForLoop* with_body(Kernel& kernel, const ForLoop& loop, Scope body) {
  ForLoopFields fields = loop;
  fields.body = std::move(body);
  return kernel.make<ForLoop>(std::move(fields));
}

} // namespace nvfuser
