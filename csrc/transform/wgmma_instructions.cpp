// Instructions that the four warps of a warpgroup compute together (wgmma): [64, k] x [k, n], k as
// many elements as 32 bytes have.
#include <algorithm>

#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kRows = 64;
constexpr std::array kSummed{16, 32, 8}; // elements of 16 bits, of 8 bits, of 32 bits
constexpr int64_t kColumnUnit = 8;
constexpr int64_t kMostColumns = 256;

// PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16", k32 and k8. A register of 4 bytes
// holds `e` neighbours along k of the first factor: 2, 4, 1. With lane = 32 * w + 4 * g + t:
//   a   row 16 * w + 8 * m2 + g, column 4 * e * k2 + e * t + k'   register 2 * e * k2 + e * m2 + k'
//   d   row 16 * w + 8 * m2 + g, column 8 * j + 2 * t + c         register 4 * j + 2 * m2 + c
// Tf32 has no k': its register is an element. The second factor lies in shared memory.
constexpr MmaInstruction instruction_of(int64_t columns, int64_t summed) {
  const TileAxis rows{.name = "m", .parts = {4, 2, 8}, .count = 3};
  const int64_t neighbours = summed / 8;
  const bool has_neighbours = neighbours > 1;
  return {
      .macro =
          {.arch = MmaMacroArch::Hopper,
           .m = kRows,
           .n = static_cast<uint16_t>(columns),
           .k = static_cast<uint16_t>(summed)},
      .a =
          {.holder = "the first factor",
           .tile =
               {rows,
                TileAxis{
                    .name = "k",
                    .parts = {2, 4, neighbours},
                    .count = has_neighbours ? size_t{3} : size_t{2}}},
           .lanes = {TilePart{0, 0}, TilePart{0, 2}, TilePart{1, 1}},
           .num_lane_parts = 3,
           .registers = {TilePart{1, 0}, TilePart{0, 1}, TilePart{1, 2}},
           .num_register_parts = has_neighbours ? size_t{3} : size_t{2}},
      .b =
          {.holder = "the second factor",
           .tile =
               {TileAxis{.name = "n", .parts = {columns}, .count = 1},
                TileAxis{.name = "k", .parts = {summed}, .count = 1}}},
      .result = {
          .holder = "the result",
          .tile = {rows, TileAxis{.name = "n", .parts = {columns / kColumnUnit, 4, 2}, .count = 3}},
          .lanes = {TilePart{0, 0}, TilePart{0, 2}, TilePart{1, 1}},
          .num_lane_parts = 3,
          .registers = {TilePart{1, 0}, TilePart{0, 1}, TilePart{1, 2}},
          .num_register_parts = 3}};
}

constexpr auto kInstructions = [] {
  std::array<MmaInstruction, kSummed.size() * kMostColumns / kColumnUnit> table{};
  size_t row = 0;
  for (const int64_t summed : kSummed) {
    for (int64_t columns = kColumnUnit; columns <= kMostColumns; columns += kColumnUnit) {
      table[row++] = instruction_of(columns, summed);
    }
  }
  return table;
}();

} // namespace

const MmaInstruction* find_wgmma_instruction(MmaMacro macro) {
  const auto found = std::ranges::find(kInstructions, macro, &MmaInstruction::macro);
  return found == kInstructions.end() ? nullptr : &*found;
}

} // namespace nvfuser
