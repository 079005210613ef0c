#include "base/refusal.h"

namespace nvfuser {

void throw_refusal(const Refusal& refusal) {
  throw UserError(refusal.report, refusal.kind);
}

} // namespace nvfuser
