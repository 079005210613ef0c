#pragma once

#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

struct Pass {
  using Rewrite = void (*)(Kernel&);
  using Rule = std::optional<Refusal> (*)(Kernel&); // may find out that there can be no kernel

  const char* name;
  std::variant<Rewrite, Rule> run;
  const char* why_here;

  [[nodiscard]] std::optional<Refusal> operator()(Kernel& kernel) const;
};

/// The passes of lowering, in order.
[[nodiscard]] const std::vector<Pass>& lowering_passes();

/// Run them up to the first refusal; time and, if asked for, record each.
[[nodiscard]] std::optional<Refusal> run_passes(Kernel& kernel);

} // namespace nvfuser
