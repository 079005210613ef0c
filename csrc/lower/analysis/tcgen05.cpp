#include "lower/analysis/tcgen05.h"

#include <algorithm>

#include "base/mma_macro.h"
#include "ir/pointwise.h"
#include "ir/rules.h"
#include "ir/scopes.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/product_groups.h"
#include "lower/analysis/wgmma.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kFamily = 10;       // major compute capability
constexpr int64_t kMostColumns = 512; // of a multiprocessor's tensor memory

bool is_in_tensor_memory(const TensorView* tensor) {
  return tensor->memory_type() == MemoryType::Tensor;
}

std::optional<Refusal> find_wrong_sum_memory(const TensorView* sum) {
  if (is_in_tensor_memory(sum)) {
    const auto& uses = sum->all_uses();
    const auto other = std::ranges::find_if_not(uses, is_tensor_memory_load);
    if (other == uses.end() && !sum->is_fusion_output()) {
      return std::nullopt;
    }
    return refuse_node(
        sum, {"Tensor memory is read by something that is no copy from there"},
        {"copies with LoadStoreOpType.LdTMem, and nothing else"},
        {other == uses.end() ? "an output" : (*other)->op_name()},
        {"cache_after(LoadStoreOpType.LdTMem) on the sum; compute with the copy"});
  }
  return refuse_node(
      sum, {"The sum of tcgen05 does not lie in tensor memory"}, {"MemoryType.tensor"},
      {enum_name(sum->memory_type())},
      {"set_memory_type(MemoryType.tensor), and cache_after(LoadStoreOpType.LdTMem) for what reads "
       "it"});
}

std::optional<Refusal> find_wrong_load(const TensorView* copy) {
  const auto& load = *copy->definition()->as<LoadStoreOp>();
  const auto* sum = static_cast<const TensorView*>(load.arg);
  if (!is_tcgen05(sum->definition()) || !is_in_tensor_memory(sum) ||
      copy->memory_type() != MemoryType::Local) {
    return refuse_node(
        copy, {"LoadStoreOpType.LdTMem copies from tensor memory to registers"},
        {"the sum of a tcgen05 product, in tensor memory, to registers"},
        {"from ", enum_name(sum->memory_type()), " to ", enum_name(copy->memory_type())},
        {"copy with LoadStoreOpType.set"});
  }
  const MmaMacro macro = MmaMacro::from_int(sum->definition()->as<MmaOp>()->macro);
  FragmentAxes axes;
  NVF_RETURN_REFUSAL(find_fragment(copy, find_mma_instruction(macro)->result, axes));
  for (int64_t i = 0; i < copy->ndims(); ++i) {
    if (copy->axis(i)->is_mma() != (i > axes.first)) {
      return refuse_node(
          copy, {"Columns that are copied from tensor memory are not bound to mma"},
          {"the axis behind the lanes, at position ", axes.first, ", and no other"},
          {copy->axis(i)->to_string(), " at position ", i}, {"apply_mma_swizzle() binds it"});
    }
  }
  return std::nullopt;
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
  return op != nullptr && MmaMacro::from_int(op->macro).arch == MmaMacroArch::Blackwell1CTA;
}

bool is_tensor_memory_instruction(const Kernel& kernel, const Expr* expr) {
  return kernel.target().has_hardware_threads && is_tensor_memory_load(expr);
}

std::optional<Refusal> find_wrong_tensor_memory(const TensorView* tensor) {
  if (is_tensor_memory_load(tensor->definition())) {
    return find_wrong_load(tensor);
  }
  if (is_tcgen05(tensor->definition())) {
    return find_wrong_sum_memory(tensor);
  }
  if (!is_in_tensor_memory(tensor)) {
    return std::nullopt;
  }
  return refuse_node(
      tensor, {"Only sums of tcgen05 products lie in tensor memory"},
      {"a sum with set_mma_macro(MmaMacroEncode(MmaMacroArch.blackwell_1cta, 128, n, 16)"
       ".mma_macro()), or 32 for fp8"},
      {tensor->definition() == nullptr ? "an input" : tensor->definition()->op_name()},
      {"set_memory_type(MemoryType.shared), or keep it in registers"});
}

std::optional<Refusal> find_wrong_tcgen05(Kernel& kernel, const MmaOp& product) {
  const auto* sum = static_cast<const TensorView*>(product.out);
  const Target& target = kernel.target();
  if (target.is_cuda() && (target.architecture / 10 != kFamily || !target.has_bulk_copies)) {
    return refuse_node(
        sum, {"The GPU has no instruction ", MmaMacro::from_int(product.macro).to_string()},
        {"compute capability 10.0, and a driver that describes tensors"},
        {target.architecture / 10, ".", target.architecture % 10,
         target.has_bulk_copies ? "" : ", without bulk copies"},
        {"MmaMacroEncode(MmaMacroArch.hopper, 64, n, 16).mma_macro() for compute capability 9.0; "
         "target=\"sm_100a\" shows the kernel without such a GPU"});
  }
  NVF_RETURN_REFUSAL(find_other_threads(kernel, sum));
  return find_wrong_boxes(kernel, product);
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
    columns += as_int(size->value());
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
  return as_int(stored_elements(kernel, tensor)->value());
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
