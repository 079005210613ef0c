// Copies of fragments between registers and shared memory by one instruction of a warp: ldmatrix
// (compute capability 7.5 and above) and stmatrix (9.0 and above).
//
//   matrix   8 x 8 elements of 16 bits of a fragment: those of 32 lanes in two registers. One
//            instruction copies 1, 2 or 4 of them.
//   row      8 elements of a matrix, neighbours in shared memory. Each lane says where one begins:
//            lane 8 * i + r where row r of matrix i does.
//
// The axes of the copy that are bound to mma are what the instruction does. The innermost one
// counts a lane's two elements of a matrix, the others count matrices.
//
//   [.., 2, merge(m8, k4) block_x, k2, m2, k2']    k2' is bound to mma, and what is copied with it:
//                                                  m2, k2 and m2, all, or, without m2, 2 and k2
//
// Fragments of warpgroups have 128 lanes: each warp copies its own rows of the tile.
//
//   [.., merge(w4, m8, k4) block_x, k2, m2, k2']   the first factor
//   [.., merge(w4, m8, n4) block_x, j, m2, n2]     the sum: j is a loop
#pragma once

#include <optional>

#include "lower/kernel.h"

namespace nvfuser {

/// Whether the copy that defines a tensor is one statement of a warp in this kernel.
[[nodiscard]] bool is_matrix_instruction(const Kernel& kernel, const Expr* expr);

struct MatrixCopy {
  TensorView* copy = nullptr;      // what it defines: it has the axes of the fragment
  TensorView* tile = nullptr;      // in shared memory
  TensorView* registers = nullptr; // the other side
  IterDomain* lanes = nullptr;     // merged from 8 and 4, or from 4 warps, 8 and 4
  IterDomain* pair = nullptr;      // bound to mma, innermost
  IterDomains matrices;            // bound to mma, outermost first
  int64_t count = 1;               // of matrices
};
/// Requires: find_wrong_matrix_copy has nothing to say.
[[nodiscard]] MatrixCopy matrix_copy_of(const TensorView* copy);
/// Whether rows in shared memory run along the 8 lanes, not along 4 lanes and the pair of each.
/// Requires: loops.
[[nodiscard]] bool is_transposed(const Kernel& kernel, const MatrixCopy& copy);

/// Says no to a definition of `tensor` that no such instruction can be: memory, types, fragments,
/// bindings. Nothing to say about other tensors.
[[nodiscard]] std::optional<Refusal> find_wrong_matrix_copy(const TensorView* tensor);
/// Says no to a GPU without the instruction.
[[nodiscard]] std::optional<Refusal> find_missing_instruction(
    const Kernel& kernel, const TensorView* copy);

} // namespace nvfuser
