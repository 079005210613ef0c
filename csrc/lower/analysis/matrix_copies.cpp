#include "lower/analysis/matrix_copies.h"

#include <algorithm>

#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/all_nodes.h"
#include "ir/rules.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/memory_layout.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kElementBytes = 2;
constexpr int64_t kMostMatrices = 4;
constexpr int64_t kFirstLoading = 75; // architecture
constexpr int64_t kFirstStoring = 90;

bool is_store(const TensorView* copy) {
  return copy->definition()->as<LoadStoreOp>()->op == LoadStoreOpType::StMatrix;
}

const TensorView* source_of(const TensorView* copy) {
  return static_cast<const TensorView*>(copy->definition()->as<LoadStoreOp>()->arg);
}

std::optional<Refusal> find_wrong_memory(const TensorView* copy) {
  const MemoryType from = is_store(copy) ? MemoryType::Local : MemoryType::Shared;
  const MemoryType to = is_store(copy) ? MemoryType::Shared : MemoryType::Local;
  const TensorView* source = source_of(copy);
  if (source->memory_type() == from && !source->is_fusion_input() && copy->memory_type() == to) {
    return std::nullopt;
  }
  return refuse_node(
      copy, {"A copy of matrices is between shared memory and registers"},
      {"from ", enum_name(from), " to ", enum_name(to), " memory"},
      {"from ", source->is_fusion_input() ? "an input" : enum_name(source->memory_type()), " to ",
       enum_name(copy->memory_type())},
      {"load_matrix copies a tile that an earlier copy put into shared memory; else copy with "
       "LoadStoreOpType.set"});
}

/// All rows are read, so that holes of the tile have to hold zeros.
std::optional<Refusal> find_unfilled_holes(const TensorView* copy) {
  if (is_store(copy)) {
    return std::nullopt;
  }
  const TensorView* tile = source_of(copy);
  const auto* load = tile->definition()->as<LoadStoreOp>();
  const bool fills = load != nullptr && (load->op == LoadStoreOpType::CpAsync ||
                                         load->op == LoadStoreOpType::CpAsyncBulkTensorTile);
  if (fills && (!tile->has_allocation() || load->op == LoadStoreOpType::CpAsyncBulkTensorTile)) {
    return std::nullopt;
  }
  return refuse_node(
      copy, {"load_matrix copies whole tiles, whose holes are not filled with zeros"},
      {"a tile loaded with LoadStoreOpType.cp_async or LoadStoreOpType.tma, in the order of its "
       "loops"},
      {tile->has_allocation() ? "an allocation domain of its own, in " : "", describe(tile)},
      {"load the tile with cp_async, or copy the fragment with LoadStoreOpType.set"});
}

/// The instruction of warpgroups whose sum has as many columns as `copy` has if it is a fragment of
/// that; any of them, if it is none.
const MmaInstruction& instruction_of_warpgroup(const TensorView* copy) {
  constexpr int64_t kUnit = 8;     // columns
  constexpr int64_t kPosition = 3; // of the axis that counts units, from the end
  MmaMacro macro{.arch = MmaMacroArch::Hopper, .m = 64, .n = kUnit, .k = 16};
  if (copy->ndims() >= kPosition && copy->axis(-kPosition)->extent()->is_const_int()) {
    const int64_t units = as_int(copy->axis(-kPosition)->extent()->value());
    MmaMacro found = macro;
    found.n = static_cast<uint16_t>(units * kUnit);
    macro = find_mma_instruction(found) == nullptr ? macro : found;
  }
  return *find_mma_instruction(macro);
}

/// The position of the lanes of a fragment; a refusal, if the axes are none.
std::variant<int64_t, Refusal> find_lanes(const TensorView* copy) {
  constexpr MmaMacro kMacro{.arch = MmaMacroArch::Ampere, .m = 16, .n = 8, .k = 16};
  const MmaInstruction& of_warp = *find_mma_instruction(kMacro);
  const MmaInstruction& of_warpgroup = instruction_of_warpgroup(copy);
  std::optional<Refusal> refusal;
  for (const FragmentLayout* layout :
       {&of_warpgroup.a, &of_warpgroup.result, &of_warp.a, &of_warp.b, &of_warp.result}) {
    FragmentAxes axes;
    refusal = find_fragment(copy, *layout, axes);
    if (!refusal) {
      return axes.first;
    }
  }
  return *refusal;
}

std::optional<Refusal> find_wrong_axes(const TensorView* copy) {
  const std::variant<int64_t, Refusal> lanes = find_lanes(copy);
  if (const auto* refusal = std::get_if<Refusal>(&lanes)) {
    return *refusal;
  }
  int64_t count = 1;
  for (int64_t i = 0; i < copy->ndims(); ++i) {
    const IterDomain* axis = copy->axis(i);
    const bool is_last = i + 1 == copy->ndims();
    const bool follows_matrix = i > std::get<int64_t>(lanes) + 1 && copy->axis(i - 1)->is_mma();
    if (!axis->is_mma() && (is_last || follows_matrix)) {
      return refuse_node(
          copy, {"Registers of a copy of matrices are not bound to mma"},
          {"the innermost axis, or several of them, behind the lanes at position ",
           std::get<int64_t>(lanes)},
          {axis->to_string(), " at position ", i}, {"apply_mma_swizzle binds all of them"});
    }
    if (axis->is_mma() && !is_last) {
      count *= axis->extent()->is_const_int() ? as_int(axis->extent()->value()) : kMostMatrices + 1;
    }
  }
  if (count == 1 || count == 2 || count == kMostMatrices) {
    return std::nullopt;
  }
  return refuse_node(
      copy, {"One instruction does not copy so many matrices"}, {"1, 2 or 4 matrices of 8 x 8"},
      {count, ", the product of all axes bound to mma but the innermost"},
      {"leave axes in front of the lanes loops"});
}

/// The axis that `axis` is the innermost part of.
const IterDomain* innermost_of(const IterDomain* axis) {
  for (const Expr* definition = axis->definition(); definition != nullptr;
       definition = axis->definition()) {
    if (const auto* split = definition->as<Split>(); split != nullptr && split->inner == axis) {
      axis = split->in;
    } else if (const auto* merge = definition->as<Merge>()) {
      axis = merge->inner;
    } else {
      break;
    }
  }
  return axis;
}

} // namespace

bool is_matrix_instruction(const Kernel& kernel, const Expr* expr) {
  return kernel.target().has_hardware_threads && is_matrix_copy(expr);
}

MatrixCopy matrix_copy_of(const TensorView* copy) {
  MatrixCopy found;
  found.copy = const_cast<TensorView*>(copy);
  auto* source = const_cast<TensorView*>(source_of(copy));
  found.tile = is_store(copy) ? found.copy : source;
  found.registers = is_store(copy) ? source : found.copy;
  found.lanes = copy->axis(std::get<int64_t>(find_lanes(copy)));
  found.pair = copy->axis(-1);
  for (IterDomain* axis : copy->loop()) {
    if (axis->is_mma() && axis != found.pair) {
      found.matrices.push_back(axis);
      found.count *= as_int(axis->extent()->value());
    }
  }
  return found;
}

bool is_transposed(const Kernel& kernel, const MatrixCopy& copy) {
  const IterDomains stored = stored_axes(kernel, copy.tile);
  if (stored.empty()) {
    return false;
  }
  const auto& merge = *copy.lanes->definition()->as<Merge>();
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  return exact.are_mapped(innermost_of(stored.back()), innermost_of(merge.outer));
}

std::optional<Refusal> find_wrong_matrix_copy(const TensorView* tensor) {
  if (!is_matrix_copy(tensor->definition())) {
    return std::nullopt;
  }
  NVF_RETURN_REFUSAL(find_wrong_memory(tensor));
  if (size_bytes(tensor->dtype()) != kElementBytes) {
    return refuse_node(
        tensor, {"A copy of matrices has elements of 16 bits"}, {"BFloat16 or Half"},
        {text(tensor->dtype())}, {"copy with LoadStoreOpType.set"});
  }
  NVF_RETURN_REFUSAL(find_unfilled_holes(tensor));
  return find_wrong_axes(tensor);
}

std::optional<Refusal> find_missing_instruction(const Kernel& kernel, const TensorView* copy) {
  const Target& target = kernel.target();
  const int64_t first = is_store(copy) ? kFirstStoring : kFirstLoading;
  if (!target.is_cuda() || target.architecture >= first) {
    return std::nullopt;
  }
  return refuse_node(
      copy,
      {"The GPU has no instruction for LoadStoreOpType.",
       is_store(copy) ? "StMatrix" : "load_matrix"},
      {"compute capability ", first / 10, ".", first % 10, " or above"},
      {target.architecture / 10, ".", target.architecture % 10}, {"copy with LoadStoreOpType.set"});
}

} // namespace nvfuser
