// Questions about tensors that the translator asks.
#pragma once

#include <string>
#include <vector>

#include "ir/all_nodes.h"

namespace nvfuser::python {

[[nodiscard]] IterDomains shape_of(const TensorView* tv);
[[nodiscard]] TensorView* as_tensor(Val* val);
/// Position of every axis of `of` in `in`; empty if they are not the same axes.
[[nodiscard]] std::vector<int64_t> positions(const IterDomains& of, const IterDomains& in);
/// Rank of every dimension's stride, if the allocation domain says so and nothing else.
[[nodiscard]] std::vector<int64_t> stride_order_of(const TensorView* tv);
[[nodiscard]] std::vector<int64_t> stride_order_of(const TensorDomain& domain);
/// The sizes a user sees.
[[nodiscard]] std::vector<Val*> sizes_of(const TensorView* tv);
/// Whether a copy has other expressions of the same sizes: an `expand` that expands nothing. Equal
/// constants are no others.
[[nodiscard]] bool is_resized(const LoadStoreOp& op);
[[nodiscard]] bool is_row_major(const std::vector<int64_t>& stride_order);
/// The positions of true flags.
[[nodiscard]] std::vector<int64_t> true_positions(const std::vector<bool>& flags);
/// Whether `init` is what `op` starts from unless told otherwise.
[[nodiscard]] bool is_identity_of(BinaryOpType op, const Val* init);
/// Elements of `out` for each element of `scale`, along the innermost dimension.
[[nodiscard]] int64_t block_size_of(const TensorView* out, const TensorView* scale);
[[noreturn]] void throw_untranslatable(const Statement& statement, const char* expected);

} // namespace nvfuser::python
