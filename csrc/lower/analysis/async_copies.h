// Asynchronous copies: cp.async moves 4, 8 or 16 bytes from global to shared memory while the
// thread that began it goes on. Copies that are committed together are a group; a thread waits for
// its own groups, the oldest first.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Whether `expr`, an expression of tensors or a statement on elements, copies while its thread
/// goes on. Never on a target that cannot.
[[nodiscard]] bool is_async_copy(const Kernel& kernel, const Expr* expr);

/// Says no to what no asynchronous copy can do. Nothing to say about other tensors.
[[nodiscard]] std::optional<Refusal> find_wrong_async_copy(const TensorView* tensor);

} // namespace nvfuser
