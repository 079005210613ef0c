// The dumps of lowering that NVFUSER_DUMP asks for.
#pragma once

#include <memory>
#include <string>

#include "lower/kernel.h"

namespace nvfuser {

class ConditionReport;

/// The kernel as text: its statements or, before there are any, the scheduled math.
[[nodiscard]] std::string kernel_state(const Kernel& kernel);

/// Dumps of one lowering, printed while its passes run.
class LoweringDumps {
 public:
  explicit LoweringDumps(Kernel& kernel);
  ~LoweringDumps();
  LoweringDumps(const LoweringDumps&) = delete;
  LoweringDumps& operator=(const LoweringDumps&) = delete;

  void before_pass(const std::string& pass);
  void after_pass(const std::string& pass);
  void at_end() const;

 private:
  /// `lower_verbose`: the kernel after the first pass that is shown, then what others change.
  void show_changes(const std::string& pass);

  Kernel& kernel_;
  std::string shown_; // the kernel as it was printed last; empty: not yet
  std::unique_ptr<ConditionReport> conditions_;
};

} // namespace nvfuser
