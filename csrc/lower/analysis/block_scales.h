// Scales of the blocks that products of Blackwell sum (tcgen05.mma with .block_scale). They have
// never run on hardware.
//
//   block   32 elements of a factor along k: what one instruction sums. It has one scale.
//   chunk   the scales of 128 rows and 4 blocks, of one byte each: 512 bytes, 4 columns of tensor
//           memory. A tile of 256 rows has two, one behind the other.
//
// One instruction copies a chunk from shared memory to tensor memory (tcgen05.cp.32x128b.warpx4).
// Both sides have the axes of the copy, innermost, all of which are bound to mma:
//
//   [.., rows / 128, 32, 4, 4]    row 32 * i + l of a chunk, block j:  l, i, j
//
//   shared memory  in this order, without gaps: 16 bytes for each l
//   tensor memory  lane l, column i, byte j; the lanes of the other three warps have the same
//
// PTX ISA, tcgen05 "Block scaling": "Layout of the scale factor A matrix" (and B) for
// scale_vec::1X. An instruction is told the column where a chunk begins, and which byte it reads.
//
//   FenceAsyncProxy       threads wrote the scales to shared memory; a barrier of the block
//   LoadStoreOp(StTMem)   one thread copies them, in order before the products that it begins
//   MmaOp ..
//
// On a target without warps, they lie in shared memory, as all factors do.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Whether products by tensor cores read `tensor` as their scales.
[[nodiscard]] bool is_block_scale(const TensorView* tensor);
/// Whether `expr`, of a definition, copies scales to tensor memory.
[[nodiscard]] bool is_scale_copy(const Expr* expr);
/// The copy that a statement on elements is; nullptr: it copies no scales to tensor memory.
[[nodiscard]] const TensorView* scales_copied_by(const Expr& statement);

/// Columns of tensor memory that so many scales have.
[[nodiscard]] int64_t columns_of_scales(int64_t elements);
/// Chunks that one statement copies.
[[nodiscard]] int64_t chunks_of(const TensorView* copy);

/// Says no to scales that no copy brings to tensor memory, by what the tensors of a product say.
/// Nothing to say about products without scales.
[[nodiscard]] std::optional<Refusal> find_wrong_scales(const MmaOp& product);
/// Says no to a copy of scales that is no chunk.
[[nodiscard]] std::optional<Refusal> find_wrong_scale_copy(const TensorView* copy);
/// Says no to chunks of other rows than the tiles of a product, and to those that do not lie in
/// shared memory as they are copied.
/// Requires: loops.
[[nodiscard]] std::optional<Refusal> find_wrong_chunks(Kernel& kernel, const MmaOp& product);

} // namespace nvfuser
