// Bank conflicts: how often the shared memory of a GPU repeats an access of a warp.
//
// Shared memory has 32 banks; 4-byte word w lies in bank w % 32. A warp's access is served in as
// many rounds as some bank has different words to deliver: the access is that many ways in
// conflict, 1 being none. Threads that want the same word share it. Accesses of 8 bytes a thread
// are served for 16 threads at a time, those of 16 bytes for 8; wider ones are several accesses.
#pragma once

#include <string>
#include <vector>

#include "eval/evaluator.h"
#include "lower/kernel.h"

namespace nvfuser {

/// One access to shared memory by the first warp of a block.
struct BankConflict {
  const Expr* statement = nullptr;
  TensorView* tensor = nullptr;
  bool is_write = false;
  int64_t bytes = 0; // that a thread accesses at once
  int64_t ways = 0;  // the most rounds of a phase; 1: no conflict

  /// "T2 is written, 4 bytes a thread, 32 ways: T2_s[..] = .."
  [[nodiscard]] std::string to_string() const;
};

/// Every access of the kernel to a shared tensor that some thread of warp 0 of block 0 makes, in
/// the order of the kernel. For an access in loops it is the worst over the iterations of each
/// loop, with the other loops at their first, up to 32 iterations of each. `known` has the sizes
/// that indices and launch dimensions depend on. Throws UserError if one lacks; a condition that is
/// not known holds.
[[nodiscard]] std::vector<BankConflict> find_bank_conflicts(
    const Kernel& kernel, const ExpressionEvaluator& known);

} // namespace nvfuser
