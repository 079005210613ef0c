// Instructions of Blackwell that one thread begins for its block (tcgen05): [128, k] x [k, n], k as
// many elements as 32 bytes have, whose sum lies in tensor memory. Two blocks of a cluster together
// multiply [256, k]: each has the layout of its own 128 rows.
#include <algorithm>

#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kRows = 128;
constexpr std::array kSummed{16, 32, 8}; // elements of 16 bits, of 8 bits, of 32 bits
constexpr int64_t kColumnUnit = 16;      // of a pair of blocks twice as many: each has a half
constexpr int64_t kMostColumns = 256;

// PTX ISA, "Data path layout D" of tensor memory (M = 128), and the shape 32x32b of tcgen05.ld:
//   d   row: the lane, of four warps; column: the column of tensor memory, or the register
constexpr MmaInstruction instruction_of(int64_t blocks, int64_t columns, int64_t depth) {
  const TileAxis rows{.name = "m", .parts = {kRows}, .count = 1};
  const TileAxis along_n{.name = "n", .parts = {columns}, .count = 1};
  const TileAxis summed{.name = "k", .parts = {depth}, .count = 1};
  return {
      .macro =
          {.arch = blocks == 2 ? MmaMacroArch::Blackwell2CTA : MmaMacroArch::Blackwell1CTA,
           .m = static_cast<uint16_t>(blocks * kRows),
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
  constexpr size_t kOfOneBlock = kMostColumns / kColumnUnit;
  std::array<MmaInstruction, kSummed.size() * (kOfOneBlock + kOfOneBlock / 2)> table{};
  size_t row = 0;
  for (const int64_t blocks : {1, 2}) {
    const int64_t unit = blocks * kColumnUnit;
    for (const int64_t depth : kSummed) {
      for (int64_t columns = unit; columns <= kMostColumns; columns += unit) {
        table[row++] = instruction_of(blocks, columns, depth);
      }
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
