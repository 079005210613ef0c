#include "transform/translate_product.h"

#include "ir/fusion.h"
#include "ir/matmul_exprs.h"
#include "ir/pointwise.h"
#include "ir/rules.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/matmul.h"
#include "ops/shape.h"

namespace nvfuser::transform {
namespace {

/// The operands of a product, whichever node it is.
struct Product {
  TensorView* a = nullptr;
  TensorView* b = nullptr;
  TensorView* bias = nullptr;
  bool is_linear = false;
};

std::optional<Product> product_of(const TensorView* tv) {
  const Expr* definition = tv->definition();
  if (const auto* matmul = definition == nullptr ? nullptr : definition->as<MatmulOp>()) {
    return Product{.a = matmul->a, .b = matmul->b};
  }
  if (const auto* linear = definition == nullptr ? nullptr : definition->as<LinearOp>()) {
    return Product{.a = linear->a, .b = linear->b, .bias = linear->bias, .is_linear = true};
  }
  return std::nullopt;
}

/// `tensor` with as many leading dimensions of size one as it lacks, and one more at `position` of
/// the result, which has `rank` dimensions.
TensorView* with_dimension(TensorView* tensor, int64_t position, int64_t rank) {
  std::vector<bool> flags(static_cast<size_t>(rank), false);
  for (int64_t i = 0; i < rank - 1 - tensor->rank(); ++i) {
    flags[static_cast<size_t>(i)] = true;
  }
  flags[static_cast<size_t>(position)] = true;
  return ops::broadcast(tensor, flags);
}

/// [*, M, r K, N], or [*, M, N, r K] of a linear.
TensorView* sum_of(const Product& product) {
  const auto& [a, b, bias, is_linear] = product;
  if (is_linear) {
    const int64_t rank = a->rank() + 1;
    std::vector<bool> flags(static_cast<size_t>(rank), true);
    flags[static_cast<size_t>(rank - 2)] = flags[static_cast<size_t>(rank - 1)] = false;
    TensorView* rows = with_dimension(a, rank - 2, rank);
    return ops::fused_multiply_sum(rows, ops::broadcast(b, flags), {rank - 1});
  }
  const int64_t rank = std::max(a->rank(), b->rank()) + 1;
  TensorView* rows = with_dimension(a, rank - 1, rank); // named first, whatever the compiler
  return ops::fused_multiply_sum(rows, with_dimension(b, rank - 3, rank), {rank - 2});
}

TensorView* with_bias(TensorView* sum, TensorView* bias) {
  if (bias == nullptr) {
    return sum;
  }
  std::vector<bool> flags(static_cast<size_t>(sum->rank()), true);
  flags.back() = false;
  return ops::add(sum, ops::cast(ops::broadcast(bias, flags), DataType::Float));
}

/// The axes of a product without the summed one.
TensorDomain* kept_axes(const TensorView* tv) {
  TensorDomainSpec spec{
      .root = {},
      .logical = TensorDomain::no_reductions(tv->logical()),
      .allocation = TensorDomain::no_reductions(tv->domain()->allocation()),
      .loop = {},
      .contiguity = {}};
  for (size_t i = 0; i < tv->maybe_allocation().size(); ++i) {
    if (!tv->maybe_allocation()[i]->is_reduction()) {
      spec.contiguity.push_back(tv->domain()->contiguity()[i]);
    }
  }
  return tv->fusion()->new_tensor_domain(std::move(spec));
}

std::optional<Refusal> find_wrong_ranks(const TensorView* tv, const Product& product) {
  if (product.a->rank() < 2 || product.b->rank() < 2) {
    return refuse_node(
        tv, {"Tensor cores multiply matrices"}, {"operands of two dimensions or more"},
        {"ranks ", product.a->rank(), " and ", product.b->rank()},
        {"give a vector a dimension of size one with fd.ops.broadcast"});
  }
  if (product.is_linear && product.b->rank() > 2) {
    return refuse_node(
        tv, {"A linear for tensor cores has one matrix of weights"}, {"weights [N, K]"},
        {product.b->rank(), " dimensions"},
        {"multiply with fd.ops.matmul, which has leading dimensions on both sides"});
  }
  if (!tv->logical().back()->is_reduction()) {
    return refuse_node(
        tv, {"A product that sums over one element is no sum"},
        {"operands that share an axis of more than one element"}, {"an axis of size one"},
        {"multiply the operands with fd.ops.mul"});
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_translation(const TensorView* tv) {
  const std::optional<Product> product = product_of(tv);
  if (!product) {
    return refuse_node(
        tv, {"Only a product of matrices is translated for tensor cores"},
        {"the result of fd.ops.matmul or fd.ops.linear"},
        {tv->definition() == nullptr ? "an input" : tv->definition()->op_name()},
        {"set_mma_macro takes sums of products as they are"});
  }
  const DataType dtype = product->a->dtype();
  if (dtype != DataType::BFloat16 && dtype != DataType::Half) {
    return refuse(
        {.headline = "Tensor cores do not multiply matrices of this type",
         .node = describe(tv),
         .expected = "operands in BFloat16, or in Half",
         .found = text(dtype),
         .fix = "convert the operands with fd.ops.cast, or leave the product to a library"},
        ErrorKind::NotImplemented);
  }
  NVF_RETURN_REFUSAL(find_wrong_ranks(tv, *product));
  if (tv->is_inlined() || tv->loop() != tv->domain()->initial_loop()) {
    return refuse_node(
        tv, {"A product is translated before it is scheduled"},
        {"loops that run over the axes of the product"}, {"a tensor with a schedule"},
        {"call translate_to_mma first"});
  }
  return std::nullopt;
}

TensorView* translate_to_mma(TensorView* tv) {
  check(find_wrong_translation(tv));
  const Product product = *product_of(tv);
  Fusion& fusion = *tv->fusion();
  const FusionGuard guard(&fusion);
  TensorView* sum = sum_of(product);
  TensorView* value = with_bias(sum, product.bias);
  tv->assign_domain(kept_axes(tv));
  fusion.make<UnaryOp>({.out = tv, .arg = value, .op = UnaryOpType::Cast});
  return sum;
}

} // namespace nvfuser::transform
