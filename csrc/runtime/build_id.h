// Which build of the library this is.
#pragma once

#include <string>

namespace nvfuser {

/// The linker's hash of this library's contents, in hexadecimal digits; empty if it left none.
[[nodiscard]] const std::string& build_id();

} // namespace nvfuser
