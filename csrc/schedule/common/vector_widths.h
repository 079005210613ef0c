// How wide the accesses of a kernel can be: the proof that vectors are aligned.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/run_facts.h"
#include "schedule/summary/accesses.h"
#include "schedule/summary/lookups.h"

namespace nvfuser::schedule {

/// The widest access of the tensor, in elements, where lanes are split off the innermost
/// `merged_axes` axes of the reference: a power of two that divides what lies together in memory,
/// every stride outside of it, and the address. 1: none.
[[nodiscard]] int64_t widest_access(
    const TensorAccess& access, size_t merged_axes, const RunFacts& facts);

/// The same for lanes along one axis alone.
[[nodiscard]] int64_t widest_access(
    const TensorAccess& access, const VectorRun& run, const RunFacts& facts);

/// The same for elements that are read elsewhere, with lanes along the innermost axis of the
/// reference.
[[nodiscard]] int64_t widest_access(const LookupAccess& lookup, const RunFacts& facts);

/// Widths that layouts do not exclude, whatever the sizes: for params that a user writes.
[[nodiscard]] bool may_be_vectorized(const TensorAccess& access, size_t merged_axes);

struct VectorWidths {
  int64_t lanes = 1;           // neighbouring elements of a thread
  std::vector<int64_t> widths; // of each access: at most `lanes`
};

/// As many lanes as the widest access of those tensors needs that carry half of the bytes: a tensor
/// of a wider type, or one that is not aligned, takes several accesses for them.
[[nodiscard]] VectorWidths choose_vector_widths(
    const std::vector<TensorAccess>& accesses, size_t merged_axes, const RunFacts& facts);

} // namespace nvfuser::schedule
