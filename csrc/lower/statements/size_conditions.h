// Conditions on the sizes of a launch, without which the statement of an expression would read
// elements that are not there, for the kinds that need some. They stand with their statements
// (lower/statements/element_statements.h): a kind without one here needs nothing.
#pragma once

#include "ir/all_nodes.h"
#include "lower/kernel.h"

namespace nvfuser {

/// Leaves conditions for the launch.
class SizeConditions {
 public:
  explicit SizeConditions(Kernel& kernel) : kernel_(kernel) {}

  /// A dimension of `arg` has an element if there are `positions` along it.
  void require_elements(const TensorView* arg, int64_t dim, const TensorView* positions);
  /// Sizes of `small` are at most those of `large`, but in the dimension `except`.
  void require_at_most(const TensorView* small, const TensorView* large, int64_t except);
  /// Positions from `start` to `stop` along a dimension of `arg` are there, if any are taken.
  void require_positions(const TensorView* arg, int64_t dim, Val* start, Val* stop);
  /// The transforms that reshape `out` neither leave nor add an element.
  void require_exact_transforms(const TensorView* out);

 private:
  void require(Val* holds, const TensorView* tensor, const Part& headline);

  Kernel& kernel_;
};

void require_sizes(const ReshapeOp& op, SizeConditions& conditions);
void require_sizes(const SelectOp& op, SizeConditions& conditions);
void require_sizes(const IndexSelectOp& op, SizeConditions& conditions);
void require_sizes(const GatherOp& op, SizeConditions& conditions);
void require_sizes(const ScatterOp& op, SizeConditions& conditions);
void require_sizes(const SliceOp& op, SizeConditions& conditions);

} // namespace nvfuser
