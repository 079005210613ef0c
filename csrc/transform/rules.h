// May this tensor be split, inlined, cached, ... here? The rules of each scheduling primitive of
// TensorView answer with a refusal as a value: schedulers ask before they choose, and the primitive
// of that name throws the same refusal for a user. None of these changes the tensor.
//
// The rules of one axis alone stand in ir/rules.h. Functions on several tensors have a counterpart
// that returns the refusal beside them: `try_transform_like`, `try_inline_at`, ...
#pragma once

#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::transform {

// -- axes --

[[nodiscard]] std::optional<Refusal> find_wrong_split(
    const TensorView* tv, int64_t axis, int64_t factor);
[[nodiscard]] std::optional<Refusal> find_wrong_split(
    const TensorView* tv, int64_t axis, const Val* factor);
[[nodiscard]] std::optional<Refusal> find_wrong_merge(
    const TensorView* tv, int64_t axis_o, int64_t axis_i);
[[nodiscard]] std::optional<Refusal> find_wrong_flatten(
    const TensorView* tv, int64_t from = 0, int64_t to = -1);
[[nodiscard]] std::optional<Refusal> find_wrong_reorder(
    const TensorView* tv, const std::unordered_map<int64_t, int64_t>& old2new);
[[nodiscard]] std::optional<Refusal> find_wrong_swizzle(
    const TensorView* tv, SwizzleType type, int64_t x, int64_t y);
[[nodiscard]] std::optional<Refusal> find_wrong_swizzle1d(
    const TensorView* tv, int64_t x, ParallelType parallel_type);
/// `extent`: nullptr is 1.
[[nodiscard]] std::optional<Refusal> find_wrong_broadcast(
    const TensorView* tv, int64_t axis, const Val* extent = nullptr);
[[nodiscard]] std::optional<Refusal> find_wrong_resize(
    const TensorView* tv,
    int64_t axis,
    Val* left,
    Val* right,
    std::optional<IterType> iter_type = std::nullopt);

// -- tensors --

[[nodiscard]] std::optional<Refusal> find_wrong_cache_after(
    const TensorView* tv,
    LoadStoreOpType op_type = LoadStoreOpType::Set,
    CacheOp cache_op = CacheOp::Unspecified,
    const std::vector<Expr*>& cached_uses = {});
[[nodiscard]] std::optional<Refusal> find_wrong_cache_before(const TensorView* tv);
[[nodiscard]] std::optional<Refusal> find_wrong_cache_fork(const TensorView* tv);
[[nodiscard]] std::optional<Refusal> find_wrong_rfactor(
    const TensorView* tv, const std::vector<int64_t>& axes);
/// `tvs`: the results of a reduction with several of them.
[[nodiscard]] std::optional<Refusal> find_wrong_rfactor(
    const TensorView* tv, const std::vector<int64_t>& axes, const std::vector<TensorView*>& tvs);
[[nodiscard]] std::optional<Refusal> find_wrong_memory_type(
    const TensorView* tv, MemoryType memory_type);
[[nodiscard]] std::optional<Refusal> find_wrong_allocation_domain(
    const TensorView* tv, const IterDomains& ids, const Contiguity& contiguity);
[[nodiscard]] std::optional<Refusal> find_wrong_loop_domain(
    const TensorView* tv, const IterDomains& ids);

[[nodiscard]] std::optional<Refusal> find_wrong_commit_leaf_to_logical(const TensorView* tv);
[[nodiscard]] std::optional<Refusal> find_wrong_clear_reduction_iter_domains(const TensorView* tv);

// -- positions --

/// `inline_at` without `best_effort`.
/// Cost: that of inlining the tensor.
[[nodiscard]] std::optional<Refusal> find_wrong_inline_at(TensorView* tv, int64_t position);
/// `compute_with` without `best_effort`.
[[nodiscard]] std::optional<Refusal> find_wrong_compute_with(TensorView* tv, int64_t position);

// -- loading ahead --

[[nodiscard]] std::optional<Refusal> find_wrong_circular_buffer(
    const TensorView* tv,
    int64_t number_of_stages,
    int64_t prefetch_distance = -1,
    const std::variant<Pipelined, WarpSpecialized>& type = Pipelined{});

} // namespace nvfuser::transform
