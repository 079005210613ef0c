#include "base/compile_params.h"

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

int64_t checked_register_cap(int64_t registers) {
  if (registers < 0) {
    throw UserError(
        {.headline = "A thread cannot have a negative number of registers",
         .node = "maxrregcount of CompileParams",
         .expected = "registers of a thread, at most; 0: no cap",
         .found = {"maxrregcount = ", registers},
         .fix = "leave it unset: registers are then limited by the hardware and the block only"},
        ErrorKind::Value);
  }
  return registers;
}

} // namespace nvfuser
