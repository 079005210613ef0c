// Statements that stand for others are made at the lines of those.
#pragma once

#include <optional>

#include "base/source_location.h"

namespace nvfuser {

/// Until the end of its scope, this thread makes statements at `location`, whatever line of the
/// user's program runs.
class SourceLocationScope {
 public:
  explicit SourceLocationScope(const SourceLocation& location);
  ~SourceLocationScope();
  SourceLocationScope(const SourceLocationScope&) = delete;
  SourceLocationScope& operator=(const SourceLocationScope&) = delete;

 private:
  std::optional<SourceLocation> previous_;
};

} // namespace nvfuser
