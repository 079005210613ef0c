#pragma once

#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

struct Pass {
  const char* name;
  void (*run)(Kernel&);
  const char* why_here;
};

/// The passes of lowering, in order.
[[nodiscard]] const std::vector<Pass>& lowering_passes();

/// Run them; time and, if asked for, record each.
void run_passes(Kernel& kernel);

} // namespace nvfuser
