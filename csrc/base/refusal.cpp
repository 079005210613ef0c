#include "base/refusal.h"

namespace nvfuser {

[[gnu::noinline]] Refusal refuse(ErrorReport report, ErrorKind kind) {
  asm volatile(""); // keeps the call, and so the breakpoint, in optimized builds
  return {std::move(report), kind};
}

void throw_refusal(const Refusal& refusal) {
  throw UserError(refusal.report, refusal.kind);
}

} // namespace nvfuser
