// Warnings: the program is right, but probably not what its author meant.
//
// The core does not know Python. A program that embeds it installs a handler; the bindings have one
// that raises a Python warning. Without one, warnings go to standard error.
#pragma once

#include <string>

namespace nvfuser {

using WarningHandler = void (*)(const std::string& text);

/// Install the handler; nullptr removes it.
void set_warning_handler(WarningHandler handler);

void warn(const std::string& text);

} // namespace nvfuser
