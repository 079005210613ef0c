// Instructions of Blackwell that one thread begins for its block (tcgen05): [128, 16] x [16, n] of
// elements of 16 bits, whose sum lies in tensor memory.
#include <algorithm>

#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kRows = 128;
constexpr int64_t kSummed = 16;
constexpr int64_t kColumnUnit = 16;
constexpr int64_t kMostColumns = 256;

// PTX ISA, "Data path layout D" of tensor memory (M = 128), and the shape 32x32b of tcgen05.ld:
//   d   row: the lane, of four warps; column: the column of tensor memory, or the register
constexpr MmaInstruction instruction_of(int64_t columns) {
  const TileAxis rows{.name = "m", .parts = {kRows}, .count = 1};
  const TileAxis along_n{.name = "n", .parts = {columns}, .count = 1};
  const TileAxis summed{.name = "k", .parts = {kSummed}, .count = 1};
  return {
      .macro =
          {.arch = MmaMacroArch::Blackwell1CTA,
           .m = kRows,
           .n = static_cast<uint16_t>(columns),
           .k = kSummed},
      .a = {.holder = "the first factor", .tile = {rows, summed}},
      .b = {.holder = "the second factor", .tile = {along_n, summed}},
      .result = {
          .holder = "the result",
          .tile = {rows, along_n},
          .lanes = {TilePart{0, 0}},
          .num_lane_parts = 1,
          .registers = {TilePart{1, 0}},
          .num_register_parts = 1}};
}

constexpr auto kInstructions = [] {
  std::array<MmaInstruction, kMostColumns / kColumnUnit> table{};
  for (size_t row = 0; row < table.size(); ++row) {
    table[row] = instruction_of(static_cast<int64_t>(row + 1) * kColumnUnit);
  }
  return table;
}();

} // namespace

const MmaInstruction* find_tcgen05_instruction(MmaMacro macro) {
  const auto found = std::ranges::find(kInstructions, macro, &MmaInstruction::macro);
  return found == kInstructions.end() ? nullptr : &*found;
}

} // namespace nvfuser
