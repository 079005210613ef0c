// Rules for what no scheduler that makes a kernel takes.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

/// Refuses
///   * a fusion that has a schedule already, or shapes that wait for sizes,
///   * expressions that a library or an evaluator computes: products, searches, blocks,
///   * operands that are read at other positions and are computed in the fusion: that needs memory
///     which another thread wrote,
///   * outputs that are scalars of the host, and expanded ones that update an input,
///   * tensors that meet their own transpose or reshape.
[[nodiscard]] std::optional<Refusal> find_refusal_of_kernels(const FusionSummary& summary);

/// The same for kernels that compute operands of slices and pads where they are read.
[[nodiscard]] std::optional<Refusal> find_refusal_of_moving_kernels(const FusionSummary& summary);

/// The same for kernels that also scan and scatter.
[[nodiscard]] std::optional<Refusal> find_refusal_of_greedy_kernels(const FusionSummary& summary);

/// The same for kernels that multiply matrices.
[[nodiscard]] std::optional<Refusal> find_refusal_of_product_kernels(const FusionSummary& summary);

/// Refuses outputs that lack axes of the reference: some of the threads would store them.
[[nodiscard]] std::optional<Refusal> find_smaller_output(const FusionSummary& summary);

/// Refuses updates of inputs that are also read at other positions than they are written: by a
/// lookup, or where the update is computed from the transpose or a reshape of its input.
[[nodiscard]] std::optional<Refusal> find_moved_update(const FusionSummary& summary);

/// The first axis along which `output` has one element for all that `input`, which it updates, has:
/// no kernel writes it there. nullptr: there is none.
[[nodiscard]] const IterDomain* find_expanded_axis(
    const TensorView& output, const TensorView& input);

/// Whether a library or an evaluator computes `expr`, and no loops over elements do.
[[nodiscard]] bool is_for_library(const Expr* expr);

/// Whether `expr` multiplies matrices: it combines elements, and its parts are no such products.
[[nodiscard]] bool is_product(const Expr* expr);

/// Whether an element of the result combines all elements up to its position.
[[nodiscard]] bool is_scan(const Expr* expr);

/// Whether `expr` computes or writes elements one after the other: a scan, a scatter. The `greedy`
/// scheduler has loops for it.
[[nodiscard]] bool is_in_order(const Expr* expr);

/// Refuses fusions with reductions.
[[nodiscard]] std::optional<Refusal> find_reduction(const FusionSummary& summary);

/// Refuses operands that are read through a slice or a pad: another scheduler moves such axes.
[[nodiscard]] std::optional<Refusal> find_resize(const FusionSummary& summary);

/// Refuses what is no map over the axes of a reference: reductions, what no kernel has, fusions
/// without a reference, slices and pads, outputs that lack axes of the reference.
[[nodiscard]] std::optional<Refusal> find_refusal_of_maps(const FusionSummary& summary);

} // namespace nvfuser::schedule
