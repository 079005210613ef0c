#include "lower/analysis/mma.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/rules.h"
#include "lower/analysis/block_scales.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/matrix_copies.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/wgmma.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kFirstArchitecture = 80; // with operands of BFloat16, Float and Char
constexpr int64_t kFirstWithFp8 = 89;

/// An MmaOp with an instruction, and what it computes with.
struct Product {
  const MmaInstruction* instruction = nullptr;
  TensorView* sum = nullptr;
  TensorView* a = nullptr;
  TensorView* b = nullptr;
};

Product product_of(const Expr* expr) {
  const auto& op = *expr->as<MmaOp>();
  return {
      find_mma_instruction(MmaMacro::from_int(op.macro)), static_cast<TensorView*>(op.out),
      static_cast<TensorView*>(op.a), static_cast<TensorView*>(op.b)};
}

/// A tensor that tensor cores do not compute has no axis bound to mma.
std::optional<Refusal> find_binding_of_other_tensor(const TensorView* tensor) {
  for (const IterDomain* axis : tensor->loop()) {
    if (axis->is_mma()) {
      return refuse_node(
          tensor, {"An axis is bound to mma, but no instruction computes its tensor"},
          {"a sum of products, after set_mma_macro"}, {axis->to_string()},
          {"set_mma_macro(MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro()) on the sum; "
           "bind axes of other tensors to threads, or leave them loops"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_factor(
    const TensorView* factor, const TensorView* sum, const FragmentLayout& layout) {
  if (factor->memory_type() != MemoryType::Local || factor->definition() == nullptr) {
    return refuse({
        .headline = {"A factor of an instruction of tensor cores does not lie in registers"},
        .node = {describe(factor), "\nmultiplied in ", describe(sum)},
        .expected = {"a tensor in registers, whose axes are a fragment"},
        .found = {factor->is_fusion_input() ? "an input" : enum_name(factor->memory_type())},
        .fix = {"copy it with cache_after; the copy may read shared memory"},
    });
  }
  FragmentAxes axes;
  NVF_RETURN_REFUSAL(find_fragment(factor, layout, axes));
  for (int64_t i = axes.first + 1; i < factor->ndims(); ++i) {
    const ParallelType type = factor->axis(i)->parallel_type();
    const bool is_copied_at_once =
        type == ParallelType::Mma && is_matrix_copy(factor->definition());
    if (!is_loop(type) && type != ParallelType::Vectorize && !is_copied_at_once) {
      return refuse_node(
          factor, {"Registers of a fragment are bound to ", type}, {"serial, unroll or vectorize"},
          {factor->axis(i)->to_string()},
          {"leave these axes loops, or vectorize the innermost one"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_sum(const TensorView* sum, const MmaInstruction& instruction) {
  FragmentAxes axes;
  NVF_RETURN_REFUSAL(find_fragment(sum, instruction.result, axes));
  const int64_t depth = instruction.macro.k;
  const IterDomain* summed = sum->axis(-1);
  if (!summed->is_reduction() || !summed->extent()->is_const_int(depth)) {
    return refuse_node(
        sum, {"The innermost axis is not what the instruction sums"},
        {"a reduction of ", depth, " elements, innermost"}, {summed->to_string()},
        {"split the summed axis by ", depth,
         ", move it behind m and n, and call "
         "apply_mma_swizzle()"});
  }
  for (int64_t i = 0; i < sum->ndims(); ++i) {
    const IterDomain* axis = sum->axis(i);
    if (axis->is_mma() != (i > axes.first)) {
      return refuse_node(
          sum, {"The axes bound to mma are not those of the instruction"},
          {"all axes behind the lanes, at position ", axes.first, ", and no other"},
          {axis->to_string(), " at position ", i}, {"apply_mma_swizzle() binds them"});
    }
    if (axis->is_broadcast() && !axis->extent()->is_one()) {
      return refuse_node(
          sum, {"An instruction of tensor cores would add its products several times"},
          {"no loop over a broadcast"}, {axis->to_string()}, {"leave the axis whole"});
    }
    if (axis->is_reduction() && is_hardware_index(axis->parallel_type())) {
      return refuse_node(
          sum, {"An instruction of tensor cores sums in the warp"}, {"summed axes that are loops"},
          {axis->to_string()},
          {"leave the axis a loop, or sum the parts of the blocks by a second kernel"});
    }
  }
  return std::nullopt;
}

/// All threads of a block, along each dimension that the warps of `tensor` use, are such warps.
std::optional<Refusal> find_wrong_threads(const Kernel& kernel, const TensorView* tensor) {
  for (const Loop* loop : kernel.loop_model->nest(tensor)) {
    if (!is_block_dim(loop->parallel_type) || loop->is_broadcast()) {
      continue;
    }
    const Val* launched = kernel.launch.extents[loop->parallel_type];
    if (launched == nullptr || !launched->same_as(loop->extent())) {
      return refuse_node(
          tensor, {"The threads of a block are not the warps that multiply"},
          {"every axis that is bound to ", loop->parallel_type, " to have ", loop->extent(),
           " elements"},
          {launched == nullptr ? "none" : launched->to_inline_string(), " threads"},
          {"split axes of other tensors by ", loop->extent(), " before binding them to ",
           loop->parallel_type});
    }
  }
  return std::nullopt;
}

/// An axis of a tile, of a factor and of the sum.
struct SharedAxis {
  const char* name;
  const TensorView* factor;
  const IterDomain* of_factor;
  const IterDomain* of_sum;
};

std::optional<Refusal> find_other_tile(
    const Kernel& kernel, const TensorView* sum, std::span<const SharedAxis> axes) {
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  for (const auto& [name, factor, axis, other] : axes) {
    if (!exact.are_mapped(axis, other)) {
      return refuse({
          .headline = {"A fragment is of another tile than the instruction multiplies"},
          .node = {describe(factor), "\nmultiplied in ", describe(sum)},
          .expected = {"an axis ", name, " that is split as ", other->to_string(), " of the sum"},
          .found = {axis->to_string()},
          .fix = {"give the factor and the sum the same splits of ", name},
      });
    }
  }
  return std::nullopt;
}

/// Products of warps, whose factors are fragments.
std::optional<Refusal> find_wrong_product(const Kernel& kernel, const Product& product) {
  const auto& [instruction, sum, a, b] = product;
  FragmentAxes of_sum;
  FragmentAxes of_a;
  FragmentAxes of_b;
  NVF_RETURN_REFUSAL(find_fragment(sum, instruction->result, of_sum));
  NVF_RETURN_REFUSAL(find_fragment(a, instruction->a, of_a));
  NVF_RETURN_REFUSAL(find_fragment(b, instruction->b, of_b));
  NVF_RETURN_REFUSAL(find_other_tile(
      kernel, sum,
      std::to_array<SharedAxis>(
          {{"m", a, of_a.tile[0], of_sum.tile[0]},
           {"n", b, of_b.tile[0], of_sum.tile[1]},
           {"k", a, of_a.tile[1], sum->axis(-1)},
           {"k", b, of_b.tile[1], sum->axis(-1)}})));
  for (const TensorView* tensor : {sum, a, b}) {
    NVF_RETURN_REFUSAL(find_wrong_threads(kernel, tensor));
  }
  return std::nullopt;
}

/// Products of warpgroups, whose first factor may be a fragment.
std::optional<Refusal> find_wrong_product_of_warpgroup(Kernel& kernel, const Product& product) {
  const auto& [instruction, sum, a, b] = product;
  const auto& op = *sum->definition()->as<MmaOp>();
  NVF_RETURN_REFUSAL(find_wrong_wgmma(kernel, op));
  NVF_RETURN_REFUSAL(find_wrong_threads(kernel, sum));
  if (!holds_first_factor(op)) {
    return std::nullopt;
  }
  FragmentAxes of_sum;
  FragmentAxes of_a;
  NVF_RETURN_REFUSAL(find_fragment(sum, instruction->result, of_sum));
  NVF_RETURN_REFUSAL(find_fragment(a, instruction->a, of_a));
  NVF_RETURN_REFUSAL(find_other_tile(
      kernel, sum,
      std::to_array<SharedAxis>(
          {{"m", a, of_a.tile[0], of_sum.tile[0]}, {"k", a, of_a.tile[1], sum->axis(-1)}})));
  return find_wrong_threads(kernel, a);
}

/// The first architecture with an instruction of warps.
int64_t first_architecture(const Product& product) {
  const DataType type = product.a->dtype();
  const bool is_fp8 = type == DataType::Float8_e4m3fn || type == DataType::Float8_e5m2;
  return is_fp8 ? kFirstWithFp8 : kFirstArchitecture;
}

} // namespace

bool is_mma(const Expr* expr) {
  const auto* op = expr == nullptr ? nullptr : expr->as<MmaOp>();
  return op != nullptr && op->macro != 0;
}

bool is_mma_instruction(const Kernel& kernel, const Expr* expr) {
  return kernel.target().has_hardware_threads && is_mma(expr);
}

bool is_mma_factor(const TensorView* tensor) {
  return std::ranges::any_of(
      tensor->all_uses(), [](const Expr* use) { return is_mma(use) || is_scale_copy(use); });
}

std::optional<Refusal> find_wrong_mma(const TensorView* tensor) {
  NVF_RETURN_REFUSAL(find_wrong_tensor_memory(tensor));
  if (is_tensor_memory_copy(tensor->definition())) {
    return std::nullopt;
  }
  if (is_matrix_copy(tensor->definition())) {
    return find_wrong_matrix_copy(tensor);
  }
  if (!is_mma(tensor->definition())) {
    return find_binding_of_other_tensor(tensor);
  }
  const Product product = product_of(tensor->definition());
  if (product.instruction == nullptr) {
    return find_wrong_macro(tensor, MmaMacro::from_int(tensor->definition()->as<MmaOp>()->macro));
  }
  NVF_RETURN_REFUSAL(find_wrong_sum(tensor, *product.instruction));
  NVF_RETURN_REFUSAL(find_wrong_scales(*tensor->definition()->as<MmaOp>()));
  if (product.instruction->reads_shared_memory()) {
    NVF_RETURN_REFUSAL(find_wrong_shared_factor(product.b, tensor));
    const bool may_be_held = product.instruction->a.num_lane_parts > 0;
    return may_be_held && product.a->memory_type() == MemoryType::Local
               ? find_wrong_factor(product.a, tensor, product.instruction->a)
               : find_wrong_shared_factor(product.a, tensor);
  }
  NVF_RETURN_REFUSAL(find_wrong_factor(product.a, tensor, product.instruction->a));
  return find_wrong_factor(product.b, tensor, product.instruction->b);
}

void place_factors(Kernel& kernel) {
  place_tensor_memory(kernel);
  if (kernel.target().has_hardware_threads) {
    return;
  }
  for (TensorView* tensor : kernel.tensors()) {
    if (!is_mma_factor(tensor)) {
      continue;
    }
    if (tensor->memory_type() == MemoryType::Local) { // whose allocation domain has no meaning
      TensorDomain* domain = tensor->domain();
      domain->assign_allocation(
          {}, TensorDomain::contiguity_filled_with(domain->logical(), /*flag=*/true));
    }
    tensor->assign_memory_type(MemoryType::Shared);
  }
}

std::optional<Refusal> check_mma(Kernel& kernel) {
  for (const Expr* expr : tensor_exprs(kernel)) {
    if (is_matrix_copy(expr)) {
      const auto* copy = static_cast<const TensorView*>(expr->as<LoadStoreOp>()->out);
      NVF_RETURN_REFUSAL(find_missing_instruction(kernel, copy));
      NVF_RETURN_REFUSAL(find_wrong_threads(kernel, copy));
    }
    if (is_tensor_memory_copy(expr)) {
      NVF_RETURN_REFUSAL(find_missing_tensor_memory(kernel, first_output(expr)));
      NVF_RETURN_REFUSAL(find_wrong_threads(kernel, first_output(expr)));
    }
    if (!is_mma(expr)) {
      continue;
    }
    const Product product = product_of(expr);
    if (is_tcgen05(expr)) {
      NVF_RETURN_REFUSAL(find_wrong_tcgen05(kernel, *expr->as<MmaOp>()));
      NVF_RETURN_REFUSAL(find_wrong_threads(kernel, product.sum));
      continue;
    }
    if (is_wgmma(expr)) {
      NVF_RETURN_REFUSAL(find_wrong_product_of_warpgroup(kernel, product));
      continue;
    }
    const Target& target = kernel.target();
    const int64_t first = first_architecture(product);
    if (target.is_cuda() && target.architecture < first) {
      return refuse_node(
          product.sum,
          {"The GPU has no instruction ", product.instruction->macro.to_string(), " for ",
           text(product.a->dtype())},
          {"compute capability ", first / 10, ".", first % 10, " or above"},
          {target.architecture / 10, ".", target.architecture % 10},
          {"sum the products without set_mma_macro"});
    }
    NVF_RETURN_REFUSAL(find_wrong_product(kernel, product));
  }
  return find_wrong_columns(kernel);
}

} // namespace nvfuser
