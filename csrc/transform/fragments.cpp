#include "transform/fragments.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/domain_exprs.h"
#include "ir/fusion.h"
#include "ir/matmul_exprs.h"
#include "ir/pointwise.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"

namespace nvfuser {
namespace {

constexpr const char* kMacros =
    "Ampere_16_8_16, Ampere_16_8_32 and Ampere_16_8_8, which all GPUs of compute capability 8.0 "
    "and "
    "above have, or Hopper_64_N_16, Hopper_64_N_32 and Hopper_64_N_8, N a multiple of 8 up to 256, "
    "of compute capability 9.0, or Blackwell1CTA_128_N_16, Blackwell1CTA_128_N_32 and "
    "Blackwell1CTA_128_N_8, N a multiple of 16 up to 256, or Blackwell2CTA_256_N_16, "
    "Blackwell2CTA_256_N_32 and Blackwell2CTA_256_N_8, N a multiple of 32 up to 256, of compute "
    "capability 10.0";

/// `[m, k]`
std::string tile_text(const FragmentLayout& layout) {
  std::string text = "[..";
  for (const TileAxis& axis : layout.tile) {
    text += std::string(", ") + axis.name + std::to_string(axis.extent());
  }
  return text + "]";
}

const FragmentLayout& layout_of(
    const MmaInstruction& instruction, std::optional<MmaOperand> operand) {
  if (!operand) {
    return instruction.result;
  }
  return *operand == MmaOperand::A ? instruction.a : instruction.b;
}

bool is_sum_of_instruction(const TensorView* tv) {
  return tv->definition() != nullptr && tv->definition()->is_a<MmaOp>();
}

Refusal no_fragment(
    const TensorView* tv, const FragmentLayout& layout, const Part& expected, const Part& found) {
  return refuse({
      .headline = {"The axes of ", layout.holder, " are no fragment of the instruction"},
      .node = {describe(tv)},
      .expected = expected,
      .found = found,
      .fix = {"split the axes into tiles, and call apply_mma_swizzle on the innermost ones"},
  });
}

/// The axis that `parts`, outer part first, are split from; nullptr: none.
IterDomain* whole_of(const std::vector<IterDomain*>& parts) {
  IterDomain* whole = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto* split = whole->definition() == nullptr ? nullptr : whole->definition()->as<Split>();
    if (split == nullptr || split->outer != whole || split->inner != parts[i]) {
      return nullptr;
    }
    whole = split->in;
  }
  return whole;
}

/// The axes that `axis` was merged from, outermost first; empty: it was not merged from `count`.
std::vector<IterDomain*> merged_axes(IterDomain* axis, size_t count) {
  std::vector<IterDomain*> axes;
  while (axes.size() + 1 < count) {
    const auto* merge = axis->definition() == nullptr ? nullptr : axis->definition()->as<Merge>();
    if (merge == nullptr) {
      return {};
    }
    axes.insert(axes.begin(), merge->inner);
    axis = merge->outer;
  }
  axes.insert(axes.begin(), axis);
  return axes;
}

} // namespace

const MmaInstruction* find_mma_instruction(MmaMacro macro) {
  for (const auto& find :
       {find_mma_sync_instruction, find_wgmma_instruction, find_tcgen05_instruction}) {
    if (const MmaInstruction* found = find(macro)) {
      return found;
    }
  }
  return nullptr;
}

std::optional<Refusal> find_wrong_macro(const TensorView* tv, MmaMacro macro) {
  if (find_mma_instruction(macro) != nullptr) {
    return std::nullopt;
  }
  return refuse(
      {
          .headline = {"Kernels have no instruction ", macro.to_string()},
          .node = tv == nullptr ? Part::none() : Part(describe(tv)),
          .expected = {kMacros},
          .found = {macro.to_string()},
          .fix = {"MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro()"},
      },
      ErrorKind::NotImplemented);
}

std::optional<Refusal> find_missing_fragment(
    const TensorView* tv, const MmaInstruction& instruction, std::optional<MmaOperand> operand) {
  const FragmentLayout& layout = layout_of(instruction, operand);
  if (layout.num_lane_parts > 0) {
    return std::nullopt;
  }
  return refuse({
      .headline = {instruction.macro.to_string(), " has no fragments of ", layout.holder},
      .node = tv == nullptr ? Part::none() : Part(describe(tv)),
      .expected = {"a factor in shared memory, as a bulk copy with a swizzle brings it"},
      .found = {"the layout of ", layout.holder, " in registers"},
      .fix = {"split the rows of the box by 8 and its columns by 16 bytes, and swizzle both; "
              "apply_mma_swizzle is for the sum and what is computed from it"},
  });
}

bool is_matrix_copy(const Expr* expr) {
  const auto* copy = expr == nullptr ? nullptr : expr->as<LoadStoreOp>();
  return copy != nullptr &&
         (copy->op == LoadStoreOpType::LdMatrix || copy->op == LoadStoreOpType::StMatrix);
}

bool is_tensor_memory_load(const Expr* expr) {
  const auto* copy = expr == nullptr ? nullptr : expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::LdTMem;
}

bool is_tensor_memory_copy(const Expr* expr) {
  const auto* copy = expr == nullptr ? nullptr : expr->as<LoadStoreOp>();
  return is_tensor_memory_load(expr) || (copy != nullptr && copy->op == LoadStoreOpType::StTMem);
}

std::optional<Refusal> find_fragment(
    const TensorView* tv, const FragmentLayout& layout, FragmentAxes& found) {
  const auto num_registers = static_cast<int64_t>(layout.num_register_parts);
  const int64_t num_summed = is_sum_of_instruction(tv) ? 1 : 0;
  found.first = tv->ndims() - num_summed - num_registers - 1;
  if (found.first < 0) {
    return no_fragment(
        tv, layout, {"lanes and registers of a tile ", tile_text(layout)}, {tv->ndims(), " axes"});
  }
  found.lanes = tv->axis(found.first);
  const std::vector<IterDomain*> lanes = merged_axes(found.lanes, layout.num_lane_parts);
  if (lanes.empty() || found.lanes->parallel_type() != ParallelType::TIDx) {
    return no_fragment(
        tv, layout,
        {"the lanes of ", layout.holder, ", merged and bound to block_x, at position ",
         found.first},
        {found.lanes->to_string()});
  }
  std::array<std::vector<IterDomain*>, 2> parts;
  const auto set = [&](const TilePart& part, IterDomain* axis) {
    parts[part.axis].resize(layout.tile[part.axis].count, nullptr);
    parts[part.axis][part.part] = axis;
    return axis->extent()->is_const_int(layout.extent_of(part));
  };
  bool is_right = true;
  for (size_t i = 0; i < lanes.size(); ++i) {
    is_right = set(layout.lanes[i], lanes[i]) && is_right;
  }
  for (int64_t i = 0; i < num_registers; ++i) {
    is_right =
        set(layout.registers[static_cast<size_t>(i)], tv->axis(found.first + 1 + i)) && is_right;
  }
  for (size_t i = 0; i < parts.size() && is_right; ++i) {
    found.tile[i] = whole_of(parts[i]);
    is_right =
        found.tile[i] != nullptr && found.tile[i]->extent()->is_const_int(layout.tile[i].extent());
  }
  if (!is_right) {
    std::string axes;
    for (int64_t i = found.first; i < tv->ndims() - num_summed; ++i) {
      axes += (axes.empty() ? "" : ", ") + tv->axis(i)->to_string();
    }
    return no_fragment(tv, layout, {"lanes and registers of a tile ", tile_text(layout)}, {axes});
  }
  return std::nullopt;
}

std::string to_string(const FragmentLayout& layout) {
  const auto& [rows, columns] = layout.tile;
  const auto index_in = [&](const TilePart& part, int64_t row, int64_t column) {
    const TileAxis& axis = layout.tile[part.axis];
    int64_t index = part.axis == 0 ? row : column;
    for (size_t i = axis.count; i-- > part.part + 1;) {
      index /= axis.parts[i];
    }
    return index % axis.parts[part.part];
  };
  const auto position = [&](std::span<const TilePart> parts, int64_t row, int64_t column) {
    int64_t value = 0;
    for (const TilePart& part : parts) {
      value = value * layout.extent_of(part) + index_in(part, row, column);
    }
    return value;
  };
  int64_t num_lanes = 1;
  for (const TilePart& part : layout.lane_parts()) {
    num_lanes *= layout.extent_of(part);
  }
  const size_t width = std::to_string(num_lanes - 1).size();
  std::string text;
  for (int64_t row = 0; row < rows.extent(); ++row) {
    for (int64_t column = 0; column < columns.extent(); ++column) {
      const std::string lane = std::to_string(position(layout.lane_parts(), row, column));
      const std::string held = std::to_string(position(layout.register_parts(), row, column));
      text += (column == 0 ? "" : " ") + std::string(width - lane.size(), ' ') + lane + "." + held;
    }
    text += '\n';
  }
  return text;
}

namespace transform {

std::optional<Refusal> find_wrong_mma_swizzle(
    const TensorView* tv, MmaMacro macro, std::optional<MmaOperand> operand) {
  NVF_RETURN_REFUSAL(find_wrong_macro(tv, macro));
  const MmaInstruction& instruction = *find_mma_instruction(macro);
  NVF_RETURN_REFUSAL(find_missing_fragment(tv, instruction, operand));
  const FragmentLayout& layout = layout_of(instruction, operand);
  std::vector<TileAxis> tile(layout.tile.begin(), layout.tile.end());
  if (is_sum_of_instruction(tv)) {
    if (operand) {
      return no_fragment(
          tv, layout, {"a tensor that an MmaOp reads"}, {"the result of one: leave operand out"});
    }
    tile.push_back(instruction.a.tile[1]);
  }
  const auto count = static_cast<int64_t>(tile.size());
  if (tv->ndims() < count) {
    return no_fragment(tv, layout, {tile_text(layout), " innermost"}, {tv->ndims(), " axes"});
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = tv->ndims() - count + i;
    NVF_RETURN_REFUSAL(find_shared_axis(tv, position, "apply_mma_swizzle"));
    const IterDomain* axis = tv->axis(position);
    const TileAxis& expected = tile[static_cast<size_t>(i)];
    if (!axis->extent()->is_const_int(expected.extent()) || axis->is_broadcast()) {
      return no_fragment(
          tv, layout,
          {"axis ", expected.name, " of ", expected.extent(), " elements at position ", position},
          {axis->to_string()});
    }
  }
  return std::nullopt;
}

void apply_mma_swizzle(TensorView* tv, MmaMacro macro, std::optional<MmaOperand> operand) {
  check(find_wrong_mma_swizzle(tv, macro, operand));
  const FragmentLayout& layout = layout_of(*find_mma_instruction(macro), operand);
  const bool is_sum = is_sum_of_instruction(tv);
  const int64_t first = tv->ndims() - (is_sum ? 3 : 2);
  // Axes of the tile, the last one first, so that positions before it stay.
  for (int64_t i = 2; i-- > 0;) {
    const TileAxis& axis = layout.tile[static_cast<size_t>(i)];
    for (size_t part = axis.count; part-- > 1;) {
      tv->split(first + i, axis.parts[part]);
    }
  }
  const auto position_of = [&](const TilePart& part) {
    const size_t before = part.axis == 0 ? 0 : layout.tile[0].count;
    return first + static_cast<int64_t>(before + part.part);
  };
  std::unordered_map<int64_t, int64_t> order;
  int64_t next = first;
  for (const auto& parts : {layout.lane_parts(), layout.register_parts()}) {
    for (const TilePart& part : parts) {
      order[position_of(part)] = next++;
    }
  }
  tv->reorder(order);
  for (size_t i = 1; i < layout.num_lane_parts; ++i) {
    tv->merge(first, first + 1);
  }
  tv->axis(first)->parallelize(ParallelType::TIDx);
  const bool is_instruction =
      is_sum || is_matrix_copy(tv->definition()) || is_tensor_memory_copy(tv->definition());
  for (int64_t i = first + 1; is_instruction && i < tv->ndims(); ++i) {
    tv->axis(i)->parallelize(ParallelType::Mma);
  }
}

} // namespace transform
} // namespace nvfuser
