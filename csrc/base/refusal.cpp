#include "base/refusal.h"

namespace nvfuser {

[[gnu::noinline]] Refusal refuse(ErrorReport report, ErrorKind kind) {
  asm volatile(""); // keeps the call, and so the breakpoint, in optimized builds
  return {std::move(report), kind};
}

Refusal refuse_headline(Part headline, ErrorKind kind) {
  return refuse(
      {.headline = std::move(headline),
       .node = Part::none(),
       .expected = Part::none(),
       .found = Part::none(),
       .fix = Part::none()},
      kind);
}

void throw_refusal(const Refusal& refusal) {
  throw UserError(refusal.report, refusal.kind);
}

} // namespace nvfuser
