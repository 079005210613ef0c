// Products that one thread begins for its block, with the sum in tensor memory (tcgen05). They have
// never run on hardware.
//
//   factor         [m, k] or [n, k] in shared memory, as for products of warpgroups
//                  (lower/analysis/wgmma.h)
//   tensor memory  128 lanes of 32-bit columns. A lane belongs to one thread of four warps, so that
//                  a tensor there is one of threads, as in registers; but only the instruction
//                  and copies of whole warps touch it.
//   sum            [m, n] in tensor memory: row m is the lane, column n the column
//   LdTMem         copies all columns of a thread's lane to registers
//   StTMem         copies them from registers: a tensor that does not fit there
//
// The instruction goes on while all threads do:
//
//   AsyncWait(StTMem)     what threads stored there is seen; a barrier of the block
//   MmaOp ..              of one thread
//   AsyncCommit(LdTMem)   the products are a group, which arrives at a barrier in shared memory
//   AsyncWait(LdTMem)     the group is complete
//
// Two blocks of a cluster may multiply together (cta_group::2): each has its own rows of the first
// factor and of the sum, and a half of the columns of the second factor, which the instruction
// reads from both. A thread of the first block begins it, when the second one is ready as well.
//
// On a target without warps, tensor memory is registers, and the copy is one like any other.
#pragma once

#include "lower/analysis/async_copies.h"

namespace nvfuser {

/// Whether `expr`, in a definition or as a statement, names such an instruction.
[[nodiscard]] bool is_tcgen05(const Expr* expr);
/// Whether two blocks of a cluster compute it together.
[[nodiscard]] bool is_product_of_pair(const Expr* expr);
/// Blocks that compute a product of the kernel together: 1 or 2.
[[nodiscard]] int64_t blocks_of_products(const Kernel& kernel);
/// Whether a copy from or to tensor memory is one statement of all four warps in this kernel.
[[nodiscard]] bool is_tensor_memory_instruction(const Kernel& kernel, const Expr* expr);

/// Says no to a tensor in tensor memory that neither an instruction nor a copy has there, and to
/// copies from and to there that are none. Nothing to say about other tensors.
[[nodiscard]] std::optional<Refusal> find_wrong_tensor_memory(const TensorView* tensor);
/// Says no to a device without the instruction, and to threads that are not its lanes.
/// Requires: loops, and the threads that are launched.
[[nodiscard]] std::optional<Refusal> find_wrong_tcgen05(Kernel& kernel, const MmaOp& product);
/// Says no to a copy on a device without tensor memory, and to threads that are not its lanes.
[[nodiscard]] std::optional<Refusal> find_missing_tensor_memory(
    Kernel& kernel, const TensorView* copy);
/// Says no to more columns than a block can have.
[[nodiscard]] std::optional<Refusal> find_wrong_columns(Kernel& kernel);

/// Columns that a tensor has in tensor memory. Requires: `find_wrong_columns` says nothing.
[[nodiscard]] int64_t columns_of(const TensorView* tensor, Kernel& kernel);

/// On a target without warps: tensors in tensor memory lie in registers.
void place_tensor_memory(Kernel& kernel);

/// How these products go on while their threads do.
[[nodiscard]] const AsyncMechanism& products_of_blocks();

/// Kinds of the groups that they commit and wait for, and of what threads store.
constexpr LoadStoreOpType kProductsOfBlock = LoadStoreOpType::LdTMem;
constexpr LoadStoreOpType kStoresToTensorMemory = LoadStoreOpType::StTMem;

} // namespace nvfuser
