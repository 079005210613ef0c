// How often statements stand in a kernel once the loops that have to be unrolled are.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/kernel_nodes.h"

namespace nvfuser {

/// Iterations of a loop; 0 if they are not constant.
[[nodiscard]] int64_t constant_iterations(const ForLoop& loop);

/// The loops that address arrays in registers, which have no run-time index.
class LoopCopies {
 public:
  explicit LoopCopies(const Scope& scope);

  /// `tensor` is not in registers.
  void leave_out(const TensorView* tensor);
  [[nodiscard]] bool addresses_registers(const ForLoop& loop) const {
    return !addressed_by(loop).empty();
  }
  /// The tensors in registers whose element depends on the iteration.
  [[nodiscard]] const std::vector<const TensorView*>& addressed_by(const ForLoop& loop) const;
  /// Statements that are left of `statement` when those loops are unrolled.
  [[nodiscard]] int64_t copies(const Expr& statement) const;

 private:
  std::unordered_map<const ForLoop*, std::vector<const TensorView*>> addressed_;
};

} // namespace nvfuser
