#include "runtime/kernel_refusal.h"

#include "runtime/host_compiler.h"

namespace nvfuser {

void throw_refusal(const KernelRefusal& refusal) {
  if (refusal.cause == KernelRefusal::Cause::CompilerFailure) {
    throw CompilerError(refusal.refusal.report);
  }
  throw_refusal(refusal.refusal);
}

} // namespace nvfuser
