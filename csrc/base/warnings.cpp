#include "base/warnings.h"

#include <atomic>
#include <iostream>

namespace nvfuser {
namespace {

std::atomic<WarningHandler> warning_handler{nullptr};

} // namespace

void set_warning_handler(WarningHandler handler) {
  warning_handler = handler;
}

void warn(const std::string& text) {
  if (const WarningHandler handler = warning_handler) {
    handler(text);
  } else {
    std::cerr << "nvfuser: warning: " << text << '\n';
  }
}

} // namespace nvfuser
