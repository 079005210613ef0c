// Cache operators and hints of copies in CUDA C++.
#pragma once

#include "codegen/printer.h"

namespace nvfuser {

/// The cache hint of the copy that a statement is a part of; `result`: the tensor that it makes.
[[nodiscard]] CacheHint cache_hint_of(const TensorView* result);
/// `, Hint::EvictFirst`; empty: no hint.
[[nodiscard]] std::string hint_argument(const TensorView* result);

/// Whether a copy of one element needs more than an assignment: hints that are not given by
/// default.
[[nodiscard]] bool has_hint_for_element(const LoadStoreOp& copy);

/// `Cache::Streaming`: how a vector is loaded from global memory.
[[nodiscard]] const char* load_operator(KernelPrinter& printer, const LoadStoreOp& copy);
[[nodiscard]] const char* store_operator(const LoadStoreOp& copy);

} // namespace nvfuser
