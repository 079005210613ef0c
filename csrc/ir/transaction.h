// Transaction: what makes several statements makes all of them or none.
#pragma once

#include "ir/fusion.h"

namespace nvfuser {

/// While it lives, statements are made in `fusion`. If an exception ends its scope, or the code
/// says `take_back`, the fusion is again what it was: what was made since leaves the graph, and its
/// numbers are given again.
///
/// For code that only makes statements, as operations do: what existed before is left as it is,
/// except that it gains uses. Statements that leave stay alive, so that a handle to one of them
/// (Python code may have run meanwhile) never dangles.
class Transaction {
 public:
  /// `fusion` may be nullptr: then nothing can be made.
  explicit Transaction(Fusion* fusion);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// For what ends in a refusal, and for rules that have to try something.
  void take_back();

 private:
  Fusion* fusion_;
  int exceptions_; // under way when it began
  size_t size_ = 0;
  Fusion::Counters counters_;
};

} // namespace nvfuser
