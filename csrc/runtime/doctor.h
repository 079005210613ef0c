// The doctor: a report for people of what this installation can do (targets, compilers, caches),
// and what is missing.
#pragma once

#include <string>
#include <vector>

namespace nvfuser {

struct DoctorLine {
  std::string topic;
  std::string finding;
  std::string fix; // empty where all is well
};

[[nodiscard]] std::vector<DoctorLine> doctor_report();

} // namespace nvfuser
