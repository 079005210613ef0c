// SegmentBuilder: makes a group of expressions a fusion of its own.
//
//   * Its inputs are arguments and results of other segments, without their reduced axes.
//   * Sizes of inputs are symbols of the segment; sizes that follow from others are computed from
//     them. A size that none of its tensors has comes with an argument that has it, which is an
//     input then, though no element of it is read.
//   * Scalars are computed where they are needed.
//   * What crosses in another type (segment/stored_types.h) is cast where it comes in and goes out.
//   * A wait for the prior grid is in front of everything where another segment may be that grid.
//   * An output that updates an argument in place has that argument among the inputs.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "segment/partition.h"

namespace nvfuser::segment {

/// A group as a fusion, and what its inputs and outputs are in the complete fusion.
struct BuiltSegment {
  std::shared_ptr<Fusion> fusion;
  std::vector<Val*> inputs; // tensors and scalars, in the order of fusion->inputs()
  std::vector<TensorView*> outputs;
};

class SegmentBuilder {
 public:
  SegmentBuilder(const Fusion& complete, const Flow& flow, const Facts& facts);

  /// `strided`: tensors that are views of others, so that nothing is known of their strides.
  /// Cost: linear in the expressions of the group.
  [[nodiscard]] BuiltSegment build(const Group& group, const std::set<TensorId>& strided) const;

  /// Whether what it builds is for io_to_lower_precision.
  [[nodiscard]] bool lowers() const {
    return facts_.lowers();
  }

  /// The facts of a run of the segment, from those of a run of the complete fusion.
  [[nodiscard]] schedule::RunFacts facts_of(
      const BuiltSegment& segment, const schedule::RunFacts& run) const;

 private:
  const Fusion& complete_;
  const Flow& flow_;
  const Facts& facts_;
  std::unordered_map<const Val*, TensorView*> argument_with_; // size; only looked up
  std::unordered_map<const Val*, size_t> position_of_;        // of arguments; only looked up
};

/// A fusion that copies its first input, which is like `from`, into the second one, like
/// `argument`. Where `from` has one element for all of an axis, each of them is copied.
/// `is_strided`: `from` is a view, so that nothing is known of its strides.
[[nodiscard]] std::shared_ptr<Fusion> copy_of(
    const Fusion& complete, TensorView* from, TensorView* argument, bool is_strided);

} // namespace nvfuser::segment
