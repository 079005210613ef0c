// Programs that are run and waited for.
#pragma once

#include <string>
#include <vector>

namespace nvfuser {

struct RunResult {
  int status = -1;    // exit status; -1: it did not start or was ended by a signal
  int signal = 0;     // that signal
  std::string output; // standard output and error together
};

/// Run a program, found on PATH, without a shell and collect what it prints.
[[nodiscard]] RunResult run_program(const std::vector<std::string>& command);

} // namespace nvfuser
