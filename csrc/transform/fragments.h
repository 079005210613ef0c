// Fragments: how the tiles of a product of matrices lie in the registers of a warp.
//
//   tile      [m, k] of the first factor, [n, k] of the second, [m, n] of the result: what one
//             instruction of tensor cores multiplies
//   part      a factor of an axis of a tile; the axis of 16 rows below has parts of 2 and of 8
//   fragment  the elements of a tile that one lane of the warp holds, or of four warps
//
// A tensor in registers has a fragment where its innermost loop axes are parts of a tile: the parts
// that tell lanes apart, merged and bound to block_x, then those that count a lane's registers.
//
//   [.., m16, k16]                           the tile, rows split into 2 x 8, columns into 2 x 4 x
//   2
//   [.., merge(m8, k4) block_x, k2, m2, k2']
//
// So where elements lie is a matter of the tensor's own axes, and readers index it like any other.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "base/mma_macro.h"
#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// Outer part first; of `count` axes of a tile.
struct TileAxis {
  const char* name = "";
  std::array<int64_t, 3> parts{};
  size_t count = 0;

  [[nodiscard]] constexpr int64_t extent() const {
    int64_t extent = 1;
    for (size_t i = 0; i < count; ++i) {
      extent *= parts[i];
    }
    return extent;
  }
};

/// A part of an axis of a tile.
struct TilePart {
  size_t axis = 0;
  size_t part = 0;
};

/// Where the elements of a tile are. The order of lanes and registers is that of the loop domain.
struct FragmentLayout {
  const char* holder = ""; // for errors: "the first factor"
  std::array<TileAxis, 2> tile;
  std::array<TilePart, 3> lanes{};
  size_t num_lane_parts = 0;
  std::array<TilePart, 3> registers{};
  size_t num_register_parts = 0;

  [[nodiscard]] std::span<const TilePart> lane_parts() const {
    return std::span(lanes).first(num_lane_parts);
  }
  [[nodiscard]] std::span<const TilePart> register_parts() const {
    return std::span(registers).first(num_register_parts);
  }
  [[nodiscard]] constexpr int64_t extent_of(const TilePart& part) const {
    return tile[part.axis].parts[part.part];
  }
};

/// An instruction of tensor cores: the table has a row for each that kernels can use.
struct MmaInstruction {
  MmaMacro macro;
  FragmentLayout a;      // [m, k]
  FragmentLayout b;      // [n, k]
  FragmentLayout result; // [m, n]

  /// Whether it reads its second factor where it lies in shared memory: there are no fragments of
  /// it. The first one may lie there as well.
  [[nodiscard]] constexpr bool reads_shared_memory() const {
    return b.num_lane_parts == 0;
  }
};

/// The row of an instruction; nullptr: there is none.
[[nodiscard]] const MmaInstruction* find_mma_instruction(MmaMacro macro);
/// The same, of those that the lanes of a warp compute from registers (mma.sync).
[[nodiscard]] const MmaInstruction* find_mma_sync_instruction(MmaMacro macro);
/// The same, of those that four warps compute together, from shared memory (wgmma).
[[nodiscard]] const MmaInstruction* find_wgmma_instruction(MmaMacro macro);
/// The same, of those that one thread begins for its block, with the sum in tensor memory
/// (tcgen05).
[[nodiscard]] const MmaInstruction* find_tcgen05_instruction(MmaMacro macro);
/// Says why there is none, of an instruction for `tv` (nullptr: for none in particular).
[[nodiscard]] std::optional<Refusal> find_wrong_macro(const TensorView* tv, MmaMacro macro);
/// Says no to the fragment of a factor that lies in shared memory.
[[nodiscard]] std::optional<Refusal> find_missing_fragment(
    const TensorView* tv, const MmaInstruction& instruction, std::optional<MmaOperand> operand);

/// Whether `expr` copies fragments between shared memory and registers: ldmatrix, stmatrix.
[[nodiscard]] bool is_matrix_copy(const Expr* expr);
/// Whether `expr` copies from tensor memory to registers.
[[nodiscard]] bool is_tensor_memory_load(const Expr* expr);
/// The same, or from registers to tensor memory.
[[nodiscard]] bool is_tensor_memory_copy(const Expr* expr);

/// The axes of the tile that the innermost loop axes of `tv` are parts of, or why they are none.
/// Axes that an MmaOp sums come behind them.
struct FragmentAxes {
  std::array<IterDomain*, 2> tile{};
  IterDomain* lanes = nullptr;
  int64_t first = 0; // position of `lanes`
};
[[nodiscard]] std::optional<Refusal> find_fragment(
    const TensorView* tv, const FragmentLayout& layout, FragmentAxes& found);

/// The layout as text: a line for each row of the tile (a column of the second factor), which says
/// for each element `lane.register`.
[[nodiscard]] std::string to_string(const FragmentLayout& layout);

namespace transform {

/// Give the innermost axes of `tv`, a tile, the layout of a fragment of an instruction.
///   [.., m, k] of the first factor, [.., n, k] of the second, [.., m, n] of the result, and of
///   what is computed from it; [.., m, n, k] of the result of an MmaOp, of which all three are
///   bound to mma.
/// Registers of a copy with load_matrix, StMatrix or LdTMem, and columns of one with StTMem, are
/// bound to mma likewise.
/// Errors: axes of other extents.
void apply_mma_swizzle(TensorView* tv, MmaMacro macro, std::optional<MmaOperand> operand);
[[nodiscard]] std::optional<Refusal> find_wrong_mma_swizzle(
    const TensorView* tv, MmaMacro macro, std::optional<MmaOperand> operand);

} // namespace transform
} // namespace nvfuser
