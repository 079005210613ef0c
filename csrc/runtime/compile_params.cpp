#include "runtime/compile_params.h"

#include <sstream>

#include "base/errors.h"

namespace nvfuser {

bool CompileParams::operator==(const CompileParams& other) const {
  NVF_USER_CHECK(
      index_type.has_value() && other.index_type.has_value(),
      "cannot compare as the index type is not defined");
  return index_type == other.index_type && maxrregcount == other.maxrregcount &&
         enable_magic_zero == other.enable_magic_zero &&
         enable_ptxas_verbose == other.enable_ptxas_verbose && device == other.device &&
         include_paths == other.include_paths;
}

std::string CompileParams::to_string() const {
  std::ostringstream out;
  out << "Compile Parameters: index_type = " << (index_type ? text(*index_type) : "NotSet")
      << ", maxrregcount = " << maxrregcount << ", enable_magic_zero = " << enable_magic_zero
      << ", enable_ptxas_verbose = " << enable_ptxas_verbose << ", include_paths = ";
  const char* separator = "";
  for (const std::string& path : include_paths) {
    out << separator << path;
    separator = ":";
  }
  out << "\n";
  return out.str();
}

} // namespace nvfuser
