// Instructions that the lanes of one warp compute together (mma.sync): [16, k] x [k, 8], k as many
// elements as 32 bytes have.
#include <algorithm>

#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr TileAxis kRows{.name = "m", .parts = {2, 8}, .count = 2};
constexpr TileAxis kColumns{.name = "n", .parts = {8}, .count = 1};
constexpr TileAxis kPairsOfColumns{.name = "n", .parts = {4, 2}, .count = 2};

// PTX ISA, "Matrix fragments for mma.m16n8k16" with operands of 16 bits, "for mma.m16n8k32" with
// operands of 8 bits, and "for mma.m16n8k8" with tf32. A register of 4 bytes holds `e` neighbours
// along k: 2, 4, 1. With lane = 4 * g + t:
//   a     row g + 8 * m2, column 4 * e * k2 + e * t + k'   register 2 * e * k2 + e * m2 + k'
//   b     column g,       row 4 * e * k2 + e * t + k'      register e * k2 + k'
//   c, d  row g + 8 * m2, column 2 * t + n2                register 2 * m2 + n2
// Tf32 has no k': its register is an element.
constexpr MmaInstruction instruction_of(int64_t neighbours) {
  const bool has_neighbours = neighbours > 1;
  const TileAxis summed{
      .name = "k", .parts = {2, 4, neighbours}, .count = has_neighbours ? size_t{3} : size_t{2}};
  return {
      .macro =
          {.arch = MmaMacroArch::Ampere,
           .m = 16,
           .n = 8,
           .k = static_cast<uint16_t>(summed.extent())},
      .a =
          {.holder = "the first factor",
           .tile = {kRows, summed},
           .lanes = {TilePart{0, 1}, TilePart{1, 1}},
           .num_lane_parts = 2,
           .registers = {TilePart{1, 0}, TilePart{0, 0}, TilePart{1, 2}},
           .num_register_parts = has_neighbours ? size_t{3} : size_t{2}},
      .b =
          {.holder = "the second factor",
           .tile = {kColumns, summed},
           .lanes = {TilePart{0, 0}, TilePart{1, 1}},
           .num_lane_parts = 2,
           .registers = {TilePart{1, 0}, TilePart{1, 2}},
           .num_register_parts = has_neighbours ? size_t{2} : size_t{1}},
      .result = {
          .holder = "the result",
          .tile = {kRows, kPairsOfColumns},
          .lanes = {TilePart{0, 1}, TilePart{1, 0}},
          .num_lane_parts = 2,
          .registers = {TilePart{0, 0}, TilePart{1, 1}},
          .num_register_parts = 2}};
}

constexpr std::array kInstructions{instruction_of(2), instruction_of(4), instruction_of(1)};

} // namespace

const MmaInstruction* find_mma_sync_instruction(MmaMacro macro) {
  const auto found = std::ranges::find(kInstructions, macro, &MmaInstruction::macro);
  return found == kInstructions.end() ? nullptr : &*found;
}

} // namespace nvfuser
