// Steps that all recipes begin with: the loads and stores of a kernel get tensors of their own, to
// be vectorized, staged and inlined apart from what is computed.
#pragma once

#include <vector>

#include "schedule/summary/accesses.h"
#include "schedule/summary/lookups.h"

namespace nvfuser::schedule {

/// For each access the tensor whose definition moves the elements:
///   an input     a copy that its elementwise readers read, in registers; nullptr if there are
///                none, for tensors without dimensions, and for those in `read_in_place`
///   an output    the output, which becomes a copy of what is computed in registers
[[nodiscard]] std::vector<TensorView*> cache_global_tensors(
    const std::vector<TensorAccess>& accesses, const std::vector<TensorView*>& read_in_place = {});

/// A tensor that moves the elements of an access.
struct MovedTensor {
  TensorView* tensor = nullptr;
  size_t access = 0; // its position
};
/// The same, with a copy of an input for each of its readers: where they are in different loops,
/// each loads for itself.
[[nodiscard]] std::vector<MovedTensor> cache_for_each_reader(
    const std::vector<TensorAccess>& accesses);

/// Only outputs that are read get a copy, so that nothing is read back from memory.
[[nodiscard]] std::vector<TensorView*> fork_outputs(const std::vector<TensorAccess>& accesses);

/// Vectorize the innermost loop of `moved`, which has `lanes` iterations, by `width`: split once
/// more where that is less. 1 and less: nothing.
void vectorize_access(TensorView* moved, int64_t width, int64_t lanes);

/// The tensors that load what is read elsewhere. Requires: outputs have been cached.
[[nodiscard]] std::vector<TensorView*> lookup_loads(const std::vector<LookupAccess>& lookups);

/// The tensors of the fusion that are computed, without some.
[[nodiscard]] std::vector<TensorView*> computed_without(
    const Fusion& fusion, const std::vector<TensorView*>& excluded);

/// A UserError unless params have a width for each access, and for each of `lookups` behind them.
void check_widths(
    const std::vector<int64_t>& widths,
    const std::vector<TensorAccess>& accesses,
    const std::vector<LookupAccess>& lookups = {});

} // namespace nvfuser::schedule
