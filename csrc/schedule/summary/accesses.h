// How a kernel over the axes of a reference accesses global memory: the loads of inputs and the
// stores of outputs.
#pragma once

#include <optional>
#include <vector>

#include "schedule/summary/vector_runs.h"

namespace nvfuser::schedule {

struct TensorAccess {
  TensorView* tensor = nullptr;
  bool is_output = false;
  /// Among the inputs or outputs of the fusion.
  size_t position = 0;
  /// Position of the input whose memory an output is written into; none for other accesses.
  std::optional<size_t> updated_input = std::nullopt;
  /// Expressions that read the element at the position of the result. The others look elements up,
  /// or read them elsewhere. None for outputs.
  std::vector<Expr*> elementwise_uses = {};
  /// For each axis of the reference: whether the tensor has it. Nothing has a broadcast.
  std::vector<bool> has_axis = {};
  bool has_all_axes = false; // that are no broadcasts
  /// [i]: where lanes are split off the innermost i + 1 axes of the reference, merged.
  std::vector<VectorRun> runs = {};

  /// The axis of the reference whose neighbours are neighbours in memory, alone: position, and how
  /// far. None if that is no axis of the reference, or not contiguous.
  std::optional<size_t> lane_axis = std::nullopt;
  VectorRun lane_run = {};
  /// Positions of the axes of the reference that the tensor has, in the order of its memory,
  /// outermost first. Empty if its memory has others, what they were split from for instance.
  std::vector<size_t> memory_order = {};
  /// [i]: where lanes are split off the innermost i + 1 axes of `memory_order`, merged. As many as
  /// are neighbours in memory.
  std::vector<VectorRun> memory_runs = {};

  /// Every element is read elsewhere, or looked up.
  [[nodiscard]] bool is_lookup() const {
    return !is_output && elementwise_uses.empty();
  }
  /// Whether the tensor has one of the axes [begin, end) of the reference.
  [[nodiscard]] bool has_any_axis(size_t begin, size_t end) const;
};

/// Tensor inputs that are read, then outputs that are computed; each tensor once, in their order.
/// `axes`: those of the reference, outermost first.
/// Cost: O(tensors * rank^2).
[[nodiscard]] std::vector<TensorAccess> find_accesses(
    const Fusion& fusion, const ValGraph& exact, const IterDomains& axes);

/// Expressions that read the element of `tensor` at the position of their result.
[[nodiscard]] std::vector<Expr*> elementwise_uses(const TensorView* tensor);

} // namespace nvfuser::schedule
