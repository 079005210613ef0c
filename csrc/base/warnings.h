// Warnings: the program is right, but probably not what its author meant.
//
// The core does not know Python. Whoever embeds it installs a handler; the bindings install one
// that raises a Python warning. Without one, warnings go to standard error.
#pragma once

#include <atomic>
#include <iostream>
#include <string>

namespace nvfuser {

using WarningHandler = void (*)(const std::string& text);

namespace detail {
inline std::atomic<WarningHandler> warning_handler{nullptr};
} // namespace detail

/// Install the handler; nullptr removes it.
inline void set_warning_handler(WarningHandler handler) {
  detail::warning_handler = handler;
}

inline void warn(const std::string& text) {
  if (const WarningHandler handler = detail::warning_handler) {
    handler(text);
  } else {
    std::cerr << "nvfuser: warning: " << text << '\n';
  }
}

} // namespace nvfuser
