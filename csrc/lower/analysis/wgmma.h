// Products that the four warps of a warpgroup compute together, from shared memory (wgmma).
//
//   factor    [m, k] or [n, k] in shared memory, as a bulk copy with a swizzle brings it: rows of
//             32, 64 or 128 bytes of k. The instruction reads a tile of a box. With elements of 16
//             bits rows may be along m or n as well, one for each position of k: the factor is
//             transposed, and a tile is one box or several neighbours. The first factor may be a
//             fragment in registers.
//   sum       [m, n], which the lanes of the warpgroup hold, in the order that
//             transform/wgmma_instructions.cpp tells
//
// The instruction goes on while its threads do. In shared memory it reads as bulk copies write; in
// registers it works besides the threads, which say when theirs are ready, and wait before they
// touch them again:
//
//   AsyncWait(StMatrix)     registers of the sum are ready          wgmma.fence
//   MmaOp ..
//   AsyncCommit(LdMatrix)   the products are a group                wgmma.commit_group
//   AsyncWait(LdMatrix)     the group is complete                   wgmma.wait_group
//
// On a target without warps it is a loop nest, as other products are (lower/analysis/mma.h).
#pragma once

#include "lower/analysis/async_copies.h"

namespace nvfuser {

/// Whether `expr`, in a definition or as a statement, names such an instruction.
[[nodiscard]] bool is_wgmma(const Expr* expr);

/// Whether the lanes hold the first factor of a product in registers. On a target without warps it
/// is what they would hold.
[[nodiscard]] bool holds_first_factor(const MmaOp& product);

/// Whether the rows of a factor in shared memory run along m or n, not along k.
[[nodiscard]] bool is_transposed_factor(const MmaOp& product, const TensorView* factor);

/// Says no to a factor that does not lie where the instruction reads it, by what its tensor says.
[[nodiscard]] std::optional<Refusal> find_wrong_shared_factor(
    const TensorView* factor, const TensorView* sum);
/// Says no to boxes that do not hold the tiles that an instruction reads.
/// Requires: bulk copies have been checked.
[[nodiscard]] std::optional<Refusal> find_wrong_boxes(Kernel& kernel, const MmaOp& product);
/// Says no to a device without the instruction, and to boxes that do not hold its tiles.
/// Requires: bulk copies have been checked.
[[nodiscard]] std::optional<Refusal> find_wrong_wgmma(Kernel& kernel, const MmaOp& product);

/// How these products go on while their threads do.
[[nodiscard]] const AsyncMechanism& products_of_warpgroups();

/// Kinds of the groups that they commit and wait for.
constexpr LoadStoreOpType kProducts = LoadStoreOpType::LdMatrix;
constexpr LoadStoreOpType kRegistersOfProducts = LoadStoreOpType::StMatrix;

} // namespace nvfuser
