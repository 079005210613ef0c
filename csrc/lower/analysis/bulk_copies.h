// Bulk copies: copies of boxes between global and shared memory, each one instruction of one
// thread.
//
//   box       the tile that the axes of a tensor bound to ParallelType.tma span. It has the same
//             shape on both sides, and lies in shared memory without gaps.
//   group     the boxes loaded between two commits. All threads of a block wait for a group at a
//             barrier in shared memory, which counts the bytes that arrive.
//             Groups that are under way have a barrier each, used in turn.
//
// Whatever a box covers beyond the tensor is a hole: zeros when it is loaded, left out when it is
// stored. So bulk copies stand under no condition but that of the one thread.
//
// On a target without them the axes of a box are loops, and the copy is one like any other.
#pragma once

#include <unordered_map>

#include "lower/kernel.h"
#include "transform/bulk_copy.h"

namespace nvfuser {

/// Whether `expr` copies boxes to shared memory: in a definition, or as a statement.
[[nodiscard]] bool is_bulk_load(const Expr* expr);
/// Whether the copy that defines `tensor` is one instruction in this kernel.
[[nodiscard]] bool is_bulk_instruction(const Kernel& kernel, const TensorView* tensor);

/// Says no to a definition of `tensor` that no bulk copy can be: types, memory, bindings of axes.
/// Nothing to say about other tensors, but that they have no axes of a box.
[[nodiscard]] std::optional<Refusal> find_wrong_bulk_copy(const TensorView* tensor);

/// Groups of loads that may be under way at a time: so many barriers the block needs.
[[nodiscard]] int64_t num_bulk_groups(const Kernel& kernel);

/// The address of a box in shared memory is a multiple of so many bytes.
[[nodiscard]] int64_t alignment_of_boxes(int64_t swizzle_bytes);
/// The same for each tensor in shared memory that statements of the kernel copy as boxes.
[[nodiscard]] std::unordered_map<const TensorView*, int64_t> find_box_alignments(
    const Kernel& kernel);

/// A tensor in global memory as BulkLoads and BulkStores of a kernel see it; the host describes it
/// to the kernel, which has one parameter for all that see it alike.
struct BoxedTensor {
  const TensorView* tensor = nullptr;
  std::vector<Val*> extents; // innermost first, as all that follows
  std::vector<Val*> strides;
  std::vector<int64_t> box;
  std::vector<int64_t> steps; // as BulkLoad has them
  int64_t swizzle_bytes = 0;

  [[nodiscard]] bool same_as(const BoxedTensor& other) const;
  [[nodiscard]] int64_t bytes_of_box() const;
};
/// Whether a BulkLoad or BulkStore copies a run (lower/analysis/bulk_runs.h).
[[nodiscard]] bool copies_run(const Expr& statement);
/// The tensor that a BulkLoad or BulkStore copies a box of; no value for other statements, and for
/// those that copy runs: their instructions read no description.
[[nodiscard]] std::optional<BoxedTensor> boxed_tensor(const Expr& statement);
/// Those of a kernel, in the order of its statements, each once.
[[nodiscard]] std::vector<BoxedTensor> boxed_tensors(const Kernel& kernel);

} // namespace nvfuser
