// Instructions of Blackwell that one thread begins for its block (tcgen05): [128, k] x [k, n], k as
// many elements as 32 bytes have, whose sum lies in tensor memory.
#include <algorithm>

#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kRows = 128;
constexpr std::array kSummed{16, 32}; // elements of 16 bits, of 8 bits
constexpr int64_t kColumnUnit = 16;
constexpr int64_t kMostColumns = 256;

// PTX ISA, "Data path layout D" of tensor memory (M = 128), and the shape 32x32b of tcgen05.ld:
//   d   row: the lane, of four warps; column: the column of tensor memory, or the register
constexpr MmaInstruction instruction_of(int64_t columns, int64_t depth) {
  const TileAxis rows{.name = "m", .parts = {kRows}, .count = 1};
  const TileAxis along_n{.name = "n", .parts = {columns}, .count = 1};
  const TileAxis summed{.name = "k", .parts = {depth}, .count = 1};
  return {
      .macro =
          {.arch = MmaMacroArch::Blackwell1CTA,
           .m = kRows,
           .n = static_cast<uint16_t>(columns),
           .k = static_cast<uint16_t>(depth)},
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
  std::array<MmaInstruction, kSummed.size() * kMostColumns / kColumnUnit> table{};
  size_t row = 0;
  for (const int64_t depth : kSummed) {
    for (int64_t columns = kColumnUnit; columns <= kMostColumns; columns += kColumnUnit) {
      table[row++] = instruction_of(columns, depth);
    }
  }
  return table;
}();

} // namespace

const MmaInstruction* find_tcgen05_instruction(MmaMacro macro) {
  const auto found = std::ranges::find(kInstructions, macro, &MmaInstruction::macro);
  return found == kInstructions.end() ? nullptr : &*found;
}

} // namespace nvfuser
