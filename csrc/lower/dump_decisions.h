// Findings of single passes as text: the dumps that are named after a decision.
#pragma once

#include <string>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// `indexing_verbose`: each statement, the loops around it, the index of each element it touches,
/// and the tests of its axes. After build_loop_nests.
[[nodiscard]] std::string describe_indices(const Kernel& kernel);

/// `sync_map`: the barrier between the writer and each reader of memory that threads share, and
/// where barriers stand. After insert_syncs.
[[nodiscard]] std::string describe_barriers(const Kernel& kernel);

/// `predicate_elimination`: the tests that each statement came with, and the conditions that came
/// of them.
class ConditionReport {
 public:
  /// Before place_conditions.
  explicit ConditionReport(const Kernel& kernel);
  /// After it.
  [[nodiscard]] std::string describe(const Kernel& kernel) const;

 private:
  struct Statement {
    const Expr* statement = nullptr;
    std::string text;
    std::vector<std::string> tests;
  };
  std::vector<Statement> statements_;
};

/// `buffer_reuse_verbose`: where each shared buffer lies, which others lie there, and why the rest
/// may not. After reuse_memory.
[[nodiscard]] std::string describe_shared_memory(Kernel& kernel);

} // namespace nvfuser
