#include "transform/mma_macro.h"

#include <utility>

#include "ir/fusion.h"
#include "ir/matmul_exprs.h"
#include "ir/pointwise.h"
#include "ir/reduce.h"
#include "transform/fragments.h"

namespace nvfuser::transform {
namespace {

struct Factors {
  TensorView* a = nullptr;
  TensorView* b = nullptr;
};

/// The tensor that `factor`, a Float, was converted from; nullptr: none.
TensorView* narrow_tensor(const Val* factor) {
  const auto* cast =
      factor->definition() == nullptr ? nullptr : factor->definition()->as<UnaryOp>();
  const bool is_cast = cast != nullptr && cast->op == UnaryOpType::Cast && cast->arg->is_tensor();
  return is_cast ? static_cast<TensorView*>(cast->arg) : nullptr;
}

/// The tensors whose products `tv` sums, in Float; no value: it sums something else.
std::optional<Factors> factors_of(const TensorView* tv) {
  const Expr* definition = tv->definition();
  if (const auto* mma = definition == nullptr ? nullptr : definition->as<MmaOp>()) {
    return Factors{static_cast<TensorView*>(mma->a), static_cast<TensorView*>(mma->b)};
  }
  const auto* sum = definition == nullptr ? nullptr : definition->as<ReductionOp>();
  const Expr* summed = sum == nullptr ? nullptr : sum->arg->definition();
  const auto* product = summed == nullptr ? nullptr : summed->as<BinaryOp>();
  if (product == nullptr || sum->op != BinaryOpType::Add || !sum->init->is_zero() ||
      product->op != BinaryOpType::Mul) {
    return std::nullopt;
  }
  const Factors factors{narrow_tensor(product->lhs), narrow_tensor(product->rhs)};
  return factors.a == nullptr || factors.b == nullptr ? std::nullopt : std::optional(factors);
}

constexpr int64_t kBitsOfRow = 256; // of k, that an instruction multiplies

/// Whether the instruction has factors of these types.
bool are_multiplied(const MmaMacro& macro, DataType a, DataType b) {
  const auto is_fp8 = [](DataType type) {
    return type == DataType::Float8_e4m3fn || type == DataType::Float8_e5m2;
  };
  if (macro.k * 8 == kBitsOfRow) {
    return is_fp8(a) && is_fp8(b);
  }
  return a == b && (a == DataType::BFloat16 || a == DataType::Half);
}

} // namespace

std::optional<Refusal> find_wrong_mma_macro(const TensorView* tv, MmaMacro macro) {
  const std::optional<Factors> factors = factors_of(tv);
  if (!factors) {
    return refuse({
        .headline = {"Only a sum of products is computed by tensor cores"},
        .node = {describe(tv)},
        .expected = {"the result of fused_multiply_sum(a, b), or of sum(mul(a, b)) of tensors of "
                     "16 bits, or of fp8, that are converted to Float"},
        .found =
            {tv->definition() == nullptr ? "an input" : tv->definition()->op_name(),
             " without these operands"},
        .fix = {"fd.ops.broadcast both factors to [.., m, n, k], multiply, and sum over k"},
    });
  }
  if (macro.as_int() == 0) {
    return std::nullopt;
  }
  NVF_RETURN_REFUSAL(find_wrong_macro(tv, macro));
  const DataType type = factors->a->dtype();
  if (!are_multiplied(macro, type, factors->b->dtype()) || tv->dtype() != DataType::Float) {
    return refuse(
        {
            .headline = {macro.to_string(), " does not multiply tensors of these types"},
            .node = {describe(tv)},
            .expected =
                {macro.k * 16 == kBitsOfRow
                     ? "two factors in BFloat16, or two in Half, and a sum in Float"
                     : "factors in Float8_e4m3fn or Float8_e5m2, and a sum in Float"},
            .found =
                {text(type), " times ", text(factors->b->dtype()), ", summed in ",
                 text(tv->dtype())},
            .fix =
                {"convert the factors with fd.ops.cast; Hopper_64_N_32 and Blackwell1CTA_128_N_32 "
                 "multiply fp8, and other "
                 "types (int8, tf32) have no instruction in kernels yet"},
        },
        ErrorKind::NotImplemented);
  }
  return std::nullopt;
}

void set_mma_macro(TensorView* tv, MmaMacro macro) {
  check(find_wrong_mma_macro(tv, macro));
  const Factors factors = *factors_of(tv);
  Fusion& fusion = *tv->fusion();
  Val* init = tv->definition()->is_a<MmaOp>() ? tv->definition()->as<MmaOp>()->init
                                              : fusion.new_constant(int64_t{0}, tv->dtype());
  fusion.make<MmaOp>(
      {.out = tv, .a = factors.a, .b = factors.b, .init = init, .macro = macro.as_int()});
}

} // namespace nvfuser::transform
