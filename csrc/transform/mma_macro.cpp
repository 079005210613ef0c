#include "transform/mma_macro.h"

#include <utility>

#include "ir/fusion.h"
#include "ir/matmul_exprs.h"
#include "ir/pointwise.h"
#include "ir/reduce.h"
#include "ir/rules.h"
#include "transform/fragments.h"

namespace nvfuser::transform {
namespace {

struct Factors {
  TensorView* a = nullptr;
  TensorView* b = nullptr;
};

/// The tensor that `factor` was converted from, or a Float that is none; nullptr: neither.
TensorView* narrow_tensor(Val* factor) {
  const auto* cast =
      factor->definition() == nullptr ? nullptr : factor->definition()->as<UnaryOp>();
  if (cast != nullptr && cast->op == UnaryOpType::Cast && cast->arg->is_tensor()) {
    return static_cast<TensorView*>(cast->arg);
  }
  return factor->is_tensor() && factor->dtype() == DataType::Float
             ? static_cast<TensorView*>(factor)
             : nullptr;
}

/// The tensors whose products `tv` sums; no value: it sums something else.
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

bool is_fp8(DataType type) {
  return type == DataType::Float8_e4m3fn || type == DataType::Float8_e5m2;
}

/// Types that the tensor cores of a macro multiply, and the type of their sum.
struct Types {
  const char* expected;
  bool are_multiplied;
  DataType sum;
};
Types types_of(const MmaMacro& macro, DataType a, DataType b) {
  constexpr int64_t kBitsOfRow = 256; // of k, that an instruction multiplies
  switch (kBitsOfRow / macro.k) {
    case 32:
      return {
          "two factors in Float, of which tf32 is read, and a sum in Float",
          a == b && a == DataType::Float, DataType::Float};
    case 16:
      return {
          "two factors in BFloat16, or two in Half, and a sum in Float",
          a == b && (a == DataType::BFloat16 || a == DataType::Half), DataType::Float};
    default: break;
  }
  const bool is_integer = a == DataType::Char && b == DataType::Char;
  return {
      "factors in Float8_e4m3fn or Float8_e5m2 and a sum in Float, or both factors in Char (int8) "
      "and a sum in Int32",
      is_integer || (is_fp8(a) && is_fp8(b)), is_integer ? DataType::Int32 : DataType::Float};
}

/// Products of integers have fewer shapes.
std::optional<Refusal> find_wrong_columns(
    const TensorView* tv, const MmaMacro& macro, DataType type) {
  constexpr int64_t kAnyUpTo = 32;
  constexpr int64_t kUnit = 16;
  if (type != DataType::Char || macro.n % kUnit == 0 || macro.n <= kAnyUpTo) {
    return std::nullopt;
  }
  return refuse_node(
      tv, {macro.to_string(), " does not multiply integers"},
      {"n of 8 or 24, or a multiple of ", kUnit}, {"n = ", macro.n}, {"use another n"});
}

} // namespace

std::optional<Refusal> find_wrong_mma_macro(const TensorView* tv, MmaMacro macro) {
  const std::optional<Factors> factors = factors_of(tv);
  if (!factors) {
    return refuse({
        .headline = {"Only a sum of products is computed by tensor cores"},
        .node = {describe(tv)},
        .expected =
            {"the result of fused_multiply_sum(a, b), or of sum(mul(a, b)) of tensors of "
             "16 bits, or of fp8, that are converted to Float, of Char that are converted to "
             "Int32, or of Float"},
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
  const Types types = types_of(macro, type, factors->b->dtype());
  if (!types.are_multiplied || tv->dtype() != types.sum) {
    return refuse(
        {
            .headline = {macro.to_string(), " does not multiply tensors of these types"},
            .node = {describe(tv)},
            .expected = {types.expected},
            .found =
                {text(type), " times ", text(factors->b->dtype()), ", summed in ",
                 text(tv->dtype())},
            .fix = {"convert the factors with fd.ops.cast; Ampere_16_8_16 and Hopper_64_N_16 "
                    "multiply 16 bits, Ampere_16_8_32, Hopper_64_N_32 and Blackwell1CTA_128_N_32 "
                    "fp8 and int8, Ampere_16_8_8, Hopper_64_N_8 and Blackwell1CTA_128_N_8 Float"},
        },
        ErrorKind::NotImplemented);
  }
  return find_wrong_columns(tv, macro, type);
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
