#include "lower/analysis/tcgen05.h"

#include <algorithm>

#include "base/mma_macro.h"
#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/pointwise.h"
#include "ir/rules.h"
#include "ir/scopes.h"
#include "lower/analysis/block_scales.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/product_groups.h"
#include "lower/analysis/shared_loads.h"
#include "lower/analysis/tensor_maps.h"
#include "lower/analysis/wgmma.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kFamily = 10;        // major compute capability
constexpr int64_t kWithIntegers = 100; // the only one of the family
constexpr int64_t kMostColumns = 512;  // of a multiprocessor's tensor memory

bool is_in_tensor_memory(const TensorView* tensor) {
  return tensor->memory_type() == MemoryType::Tensor;
}

bool is_tensor_memory_store(const Expr* expr) {
  return is_tensor_memory_copy(expr) && !is_tensor_memory_load(expr);
}

/// The instruction whose sum lies as a tensor in tensor memory does; nullptr: there is none.
const MmaInstruction* instruction_of(const TensorView* tensor) {
  if (is_tcgen05(tensor->definition())) {
    return find_mma_instruction(MmaMacro::from_int(tensor->definition()->as<MmaOp>()->macro));
  }
  int64_t columns = 1;
  for (const IterDomain* axis : tensor->loop()) {
    const bool is_constant = axis->extent()->is_const_int();
    columns *= !axis->is_mma() ? 1 : is_constant ? as_int(axis->extent()->value()) : 0;
  }
  return is_tensor_memory_store(tensor->definition()) && columns <= kMostColumns
             ? find_tcgen05_instruction(
                   {.arch = MmaMacroArch::Blackwell1CTA,
                    .m = 128,
                    .n = static_cast<uint16_t>(columns),
                    .k = 16})
             : nullptr;
}

std::optional<Refusal> find_wrong_reader(const TensorView* tensor) {
  const auto& uses = tensor->all_uses();
  const auto other = std::ranges::find_if_not(uses, is_tensor_memory_load);
  if (other == uses.end() && !tensor->is_fusion_output()) {
    return std::nullopt;
  }
  return refuse_node(
      tensor, {"Tensor memory is read by something that is no copy from there"},
      {"copies with LoadStoreOpType.LdTMem, and nothing else"},
      {other == uses.end() ? "an output" : (*other)->op_name()},
      {"cache_after(LoadStoreOpType.LdTMem); compute with the copy"});
}

std::optional<Refusal> find_wrong_sum_memory(const TensorView* sum) {
  if (is_in_tensor_memory(sum)) {
    return find_wrong_reader(sum);
  }
  return refuse_node(
      sum, {"The sum of tcgen05 does not lie in tensor memory"}, {"MemoryType.tensor"},
      {enum_name(sum->memory_type())},
      {"set_memory_type(MemoryType.tensor), and cache_after(LoadStoreOpType.LdTMem) for what reads "
       "it"});
}

/// One statement copies all columns of a tile: those of a sum of `instruction`.
std::optional<Refusal> find_wrong_tile(const TensorView* copy, const MmaInstruction& instruction) {
  FragmentAxes axes;
  NVF_RETURN_REFUSAL(find_fragment(copy, instruction.result, axes));
  for (int64_t i = 0; i < copy->ndims(); ++i) {
    if (copy->axis(i)->is_mma() != (i > axes.first)) {
      return refuse_node(
          copy, {"Columns that are copied from or to tensor memory are not bound to mma"},
          {"the axis behind the lanes, at position ", axes.first, ", and no other"},
          {copy->axis(i)->to_string(), " at position ", i}, {"apply_mma_swizzle() binds it"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_load(const TensorView* copy) {
  const auto* source = static_cast<const TensorView*>(copy->definition()->as<LoadStoreOp>()->arg);
  const MmaInstruction* instruction = instruction_of(source);
  if (instruction == nullptr || !is_in_tensor_memory(source) ||
      copy->memory_type() != MemoryType::Local) {
    return refuse_node(
        copy, {"LoadStoreOpType.LdTMem copies from tensor memory to registers"},
        {"the sum of a tcgen05 product, or a copy with StTMem, in tensor memory, to registers"},
        {"from ", enum_name(source->memory_type()), " to ", enum_name(copy->memory_type())},
        {"copy with LoadStoreOpType.set"});
  }
  return find_wrong_tile(copy, *instruction);
}

std::optional<Refusal> find_wrong_store(const TensorView* copy) {
  if (is_scale_copy(copy->definition())) {
    return find_wrong_scale_copy(copy);
  }
  const auto* source = static_cast<const TensorView*>(copy->definition()->as<LoadStoreOp>()->arg);
  if (source->memory_type() != MemoryType::Local || !is_in_tensor_memory(copy) ||
      copy->dtype() != DataType::Float) {
    return refuse_node(
        copy, {"LoadStoreOpType.StTMem copies from registers to tensor memory"},
        {"a tensor of Float in registers, and a copy with MemoryType.tensor"},
        {text(copy->dtype()), " from ", enum_name(source->memory_type()), " to ",
         enum_name(copy->memory_type())},
        {"copy what is computed in registers, and set_memory_type(MemoryType.tensor) on the copy"});
  }
  NVF_RETURN_REFUSAL(find_wrong_reader(copy));
  if (const MmaInstruction* instruction = instruction_of(copy)) {
    return find_wrong_tile(copy, *instruction);
  }
  return refuse_node(
      copy, {"A copy to tensor memory has no such columns"},
      {"128 rows that are bound to block_x, and behind them a multiple of 16 columns, at most 256, "
       "bound to mma"},
      {copy->domain()->to_string()},
      {"tile the copy, and apply_mma_swizzle(macro=MmaMacroEncode(MmaMacroArch.blackwell_1cta, "
       "128, n, 16).mma_macro())"});
}

/// A block of a pair has half of the box of the second factor: that has to be half of a tile.
std::optional<Refusal> find_other_box_of_pair(Kernel& kernel, const MmaOp& product) {
  const auto* sum = static_cast<const TensorView*>(product.out);
  auto* factor = static_cast<TensorView*>(product.b);
  FragmentAxes axes;
  NVF_RETURN_REFUSAL(
      find_fragment(sum, find_mma_instruction(MmaMacro::from_int(product.macro))->result, axes));
  const auto map = std::get<TensorMap>(find_tensor_map(kernel, factor)); // check_bulk_copies has it
  const IterDomain* tile = axes.tile[1];
  const IterDomain* box = map.dims.at(1).tile; // find_wrong_boxes has found it
  if (kernel.id_model->maybe_build_graph(IdMappingMode::exact).are_mapped(box, tile)) {
    return std::nullopt;
  }
  return refuse_node(
      {describe(factor), "\nmultiplied in ", describe(sum)},
      {"A box of the second factor of a pair of blocks is not one tile"},
      {tile->to_string(), " of the sum"}, {box->to_string()},
      {"split n of the factor by the columns of the instruction"});
}

/// Both blocks of a pair have rows of their own, and the same columns, of which each loads a half.
std::optional<Refusal> find_wrong_pair(Kernel& kernel, const MmaOp& product) {
  const auto* sum = static_cast<const TensorView*>(product.out);
  if (!is_product_of_pair(&product)) {
    if (blocks_of_products(kernel) == 1) {
      return std::nullopt;
    }
    return refuse_node(
        sum, {"Products of one block and of pairs of blocks are in one kernel"},
        {"macros of MmaMacroArch.blackwell_1cta, or of MmaMacroArch.blackwell_2cta"}, {"both"},
        {"use macros of one kind for all products"});
  }
  const bool has_own_rows = !is_same_in_cluster(static_cast<TensorView*>(product.a));
  const bool has_same_columns = is_same_in_cluster(static_cast<TensorView*>(product.b));
  if (cluster_size(kernel) == 2 && has_own_rows && has_same_columns) {
    return find_other_box_of_pair(kernel, product);
  }
  return refuse_node(
      sum, {"Two blocks that multiply together do not share the second factor alone"},
      {"a cluster of 2 blocks along m, for which the box of the second factor is the same"},
      {"a cluster of ", cluster_size(kernel), ", the first factor ",
       has_own_rows ? "of a block's own" : "the same", ", the second one ",
       has_same_columns ? "the same" : "of a block's own"},
      {"split m by 128, and by 2 again; bind the axis of 2 to grid_x with "
       "set_clustered_blocks(), of the box of the second factor that of its broadcast"});
}

/// Whether a GPU multiplies elements of these types.
bool has_instruction(const Target& target, const MmaOp& product) {
  const bool has_type =
      product.a->dtype() != DataType::Char || target.architecture == kWithIntegers;
  return target.architecture / 10 == kFamily && has_type && target.has_bulk_copies;
}

/// The four warps along x are all threads that compute: there are as many lanes.
std::optional<Refusal> find_other_threads(const Kernel& kernel, const TensorView* sum) {
  for (const ParallelType type : {ParallelType::TIDy, ParallelType::TIDz}) {
    const Val* launched = kernel.launch.extents[type];
    if (launched != nullptr && !launched->is_one()) {
      return refuse_node(
          sum, {"A block has more threads than tensor memory has lanes"},
          {"128 threads along x, and one along y and z"},
          {launched->to_inline_string(), " threads along ", type},
          {"leave these axes loops, or bind them to blocks"});
    }
  }
  return std::nullopt;
}

} // namespace

bool is_tcgen05(const Expr* expr) {
  const auto* op = expr == nullptr ? nullptr : expr->as<MmaOp>();
  return is_product_of_pair(expr) ||
         (op != nullptr && MmaMacro::from_int(op->macro).arch == MmaMacroArch::Blackwell1CTA);
}

bool is_product_of_pair(const Expr* expr) {
  const auto* op = expr == nullptr ? nullptr : expr->as<MmaOp>();
  return op != nullptr && MmaMacro::from_int(op->macro).arch == MmaMacroArch::Blackwell2CTA;
}

int64_t blocks_of_products(const Kernel& kernel) {
  return std::ranges::any_of(tensor_exprs(kernel), is_product_of_pair) ? 2 : 1;
}

bool is_tensor_memory_instruction(const Kernel& kernel, const Expr* expr) {
  return kernel.target().has_hardware_threads && is_tensor_memory_copy(expr);
}

std::optional<Refusal> find_wrong_tensor_memory(const TensorView* tensor) {
  if (is_tensor_memory_load(tensor->definition())) {
    return find_wrong_load(tensor);
  }
  if (is_tensor_memory_store(tensor->definition())) {
    return find_wrong_store(tensor);
  }
  if (is_tcgen05(tensor->definition())) {
    return find_wrong_sum_memory(tensor);
  }
  if (!is_in_tensor_memory(tensor)) {
    return std::nullopt;
  }
  return refuse_node(
      tensor, {"Only sums of tcgen05 products, and copies with StTMem, lie in tensor memory"},
      {"a sum with set_mma_macro(MmaMacroEncode(MmaMacroArch.blackwell_1cta, 128, n, 16)"
       ".mma_macro()), or 32 for fp8"},
      {tensor->definition() == nullptr ? "an input" : tensor->definition()->op_name()},
      {"set_memory_type(MemoryType.shared), or keep it in registers"});
}

std::optional<Refusal> find_wrong_tcgen05(Kernel& kernel, const MmaOp& product) {
  const auto* sum = static_cast<const TensorView*>(product.out);
  const Target& target = kernel.target();
  if (target.is_cuda() && !has_instruction(target, product)) {
    return refuse_node(
        sum,
        {"The GPU has no instruction ", MmaMacro::from_int(product.macro).to_string(), " for ",
         text(product.a->dtype())},
        {"compute capability 10.0, and a driver that describes tensors"},
        {target.architecture / 10, ".", target.architecture % 10,
         target.has_bulk_copies ? "" : ", without bulk copies"},
        {"MmaMacroEncode(MmaMacroArch.hopper, 64, n, 16).mma_macro() for compute capability 9.0; "
         "target=\"sm_100a\" shows the kernel without such a GPU"});
  }
  NVF_RETURN_REFUSAL(find_other_threads(kernel, sum));
  NVF_RETURN_REFUSAL(find_wrong_boxes(kernel, product));
  NVF_RETURN_REFUSAL(find_wrong_chunks(kernel, product));
  return find_wrong_pair(kernel, product);
}

std::optional<Refusal> find_missing_tensor_memory(Kernel& kernel, const TensorView* copy) {
  const Target& target = kernel.target();
  if (target.is_cuda() && target.architecture / 10 != kFamily) {
    return refuse_node(
        copy, {"The GPU has no tensor memory"}, {"compute capability 10.0"},
        {target.architecture / 10, ".", target.architecture % 10},
        {"keep the tensor in registers or shared memory; target=\"sm_100a\" shows the kernel "
         "without such a GPU"});
  }
  return find_other_threads(kernel, copy);
}

std::optional<Refusal> find_wrong_columns(Kernel& kernel) {
  int64_t columns = 0;
  for (TensorView* tensor : kernel.tensors()) {
    if (!is_in_tensor_memory(tensor)) {
      continue;
    }
    const Val* size = stored_elements(kernel, tensor);
    if (!size->is_const_int()) {
      return refuse_node(
          tensor, {"A tensor in tensor memory needs a constant size"}, {"a number of columns"},
          {size->to_inline_string()}, {"bind the outer axes to blocks, or inline the tensor"});
    }
    columns += columns_of(tensor, kernel);
    if (columns > kMostColumns) {
      return refuse_node(
          tensor, {"Tensor memory has not so many columns"}, {"at most ", kMostColumns},
          {columns, ", with those of other tensors"},
          {"use smaller tiles, or bind outer axes to blocks"});
    }
  }
  return std::nullopt;
}

int64_t columns_of(const TensorView* tensor, Kernel& kernel) {
  const int64_t elements = as_int(stored_elements(kernel, tensor)->value());
  return is_block_scale(tensor) ? columns_of_scales(elements) : elements;
}

void place_tensor_memory(Kernel& kernel) {
  if (kernel.target().has_hardware_threads) {
    return;
  }
  for (TensorView* tensor : kernel.tensors()) {
    if (is_in_tensor_memory(tensor)) {
      tensor->assign_memory_type(MemoryType::Local);
    }
  }
}

const AsyncMechanism& products_of_blocks() {
  static const ProductGroups products(
      kProductsOfBlock, kStoresToTensorMemory, /*is_seen_by_block=*/true);
  return products;
}

} // namespace nvfuser
