// Where in the user's program a statement was made.
//
// The core does not know Python. An embedding program installs a provider; the bindings install one
// that reads the innermost Python frame outside of this package. Without one, locations are empty.
#pragma once

#include <string>

namespace nvfuser {

/// A line of the user's program. `file` is interned and lives as long as the process.
struct SourceLocation {
  const char* file = nullptr;
  int line = 0;

  [[nodiscard]] bool is_known() const {
    return file != nullptr;
  }
  /// "softmax.py:14" (base name only, so that texts do not depend on where a project lies), or "".
  [[nodiscard]] std::string str() const;
};

using SourceLocationProvider = SourceLocation (*)();

/// Install the provider; nullptr removes it. Call once, before other threads use the core.
void set_source_location_provider(SourceLocationProvider provider);

/// The line of the user's program that is running now.
[[nodiscard]] SourceLocation current_source_location();

/// The one permanent copy of `text`; thread-safe.
[[nodiscard]] const char* intern_string(const std::string& text);

} // namespace nvfuser
