// Instructions that the four warps of a warpgroup compute together (wgmma): [64, 16] x [16, n].
#include <algorithm>

#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kSummed = 16; // of elements of 16 bits
constexpr int64_t kColumnUnit = 8;
constexpr int64_t kMostColumns = 256;

// PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16". With lane = 32 * w + 4 * g + t:
//   d   row 16 * w + 8 * m2 + g, column 8 * j + 2 * t + c   register 4 * j + 2 * m2 + c
constexpr MmaInstruction instruction_of(int64_t columns) {
  constexpr TileAxis kSummedWhole{.name = "k", .parts = {kSummed}, .count = 1};
  return {
      .macro =
          {.arch = MmaMacroArch::Hopper,
           .m = kRows,
           .n = static_cast<uint16_t>(columns),
           .k = kSummed},
      .a =
          {.holder = "the first factor",
           .tile = {TileAxis{.name = "m", .parts = {kRows}, .count = 1}, kSummedWhole}},
      .b =
          {.holder = "the second factor",
           .tile = {TileAxis{.name = "n", .parts = {columns}, .count = 1}, kSummedWhole}},
      .result = {
          .holder = "the result",
          .tile =
              {TileAxis{.name = "m", .parts = {4, 2, 8}, .count = 3},
               TileAxis{.name = "n", .parts = {columns / kColumnUnit, 4, 2}, .count = 3}},
          .lanes = {TilePart{0, 0}, TilePart{0, 2}, TilePart{1, 1}},
          .num_lane_parts = 3,
          .registers = {TilePart{1, 0}, TilePart{0, 1}, TilePart{1, 2}},
          .num_register_parts = 3}};
}

constexpr auto kInstructions = [] {
  std::array<MmaInstruction, kMostColumns / kColumnUnit> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = instruction_of(static_cast<int64_t>(i + 1) * kColumnUnit);
  }
  return table;
}();

} // namespace

const MmaInstruction* find_wgmma_instruction(MmaMacro macro) {
  const auto found = std::ranges::find(kInstructions, macro, &MmaInstruction::macro);
  return found == kInstructions.end() ? nullptr : &*found;
}

} // namespace nvfuser
