// CompileParams: how a kernel is compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/device.h"
#include "base/types.h"

namespace nvfuser {

struct CompileParams {
  /// Int or Int32: width of index arithmetic. Empty: on a GPU the narrowest that the
  /// arguments allow, on a processor Int.
  std::optional<DataType> index_type;
  /// Register cap of a thread; 0: none.
  int64_t maxrregcount = 255;
  bool enable_magic_zero = true;
  /// Print the assembler's report.
  bool enable_ptxas_verbose = false;
  /// The device to compile for. Empty: the device of the arguments.
  std::optional<Device> device;
  std::vector<std::string> include_paths;

  /// Requires that both have an index type.
  bool operator==(const CompileParams& other) const;
  [[nodiscard]] std::string to_string() const;
};

/// `registers` as a cap; 0 is none. Throws UserError for less.
[[nodiscard]] int64_t checked_register_cap(int64_t registers);

} // namespace nvfuser
