// Products of matrices by tensor cores: sums of products whose definition names an instruction.
//
//   factor    [m, k] or [n, k], in registers that are fragments (transform/fragments.h): loaded by
//             each lane for itself, before the lanes of the warp multiply them together
//   sum       [m, n], which the lanes hold over the loops outside of the instruction
//
// Products of warpgroups read their factors in shared memory: lower/analysis/wgmma.h.
//
// Whatever a tile covers beyond a factor is a hole, and zero: no condition stands around the
// instruction, which needs all lanes.
//
// On a target without warps the axes bound to mma are loops. Each thread adds up its own elements
// of the sum, k in increasing order, and factors lie in shared memory, where it finds them.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Whether `expr`, of a definition, is the sum of products that an instruction computes.
[[nodiscard]] bool is_mma(const Expr* expr);
/// Whether it is one statement of a warp in this kernel.
[[nodiscard]] bool is_mma_instruction(const Kernel& kernel, const Expr* expr);
/// Whether an instruction reads `tensor`.
[[nodiscard]] bool is_mma_factor(const TensorView* tensor);

/// Says no to a definition of `tensor` that no instruction can be: memory, fragments, bindings of
/// axes. Nothing to say about other tensors, but that they have no axes of an instruction.
[[nodiscard]] std::optional<Refusal> find_wrong_mma(const TensorView* tensor);

/// Put factors where the threads that multiply them find them: on a target without warps in shared
/// memory.
void place_factors(Kernel& kernel);

/// The axes of factors are those that the instruction multiplies, and threads are its lanes.
/// Requires: loops, and the threads that are launched.
[[nodiscard]] std::optional<Refusal> check_mma(Kernel& kernel);

} // namespace nvfuser
