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

/// The tensors whose products are summed, and the scales of each; nullptr: there are none.
struct Factors {
  TensorView* a = nullptr;
  TensorView* b = nullptr;
  TensorView* a_scale = nullptr;
  TensorView* b_scale = nullptr;
};

/// A factor as a tensor, and its scales.
struct Factor {
  TensorView* tensor = nullptr;
  TensorView* scale = nullptr;
};

constexpr int64_t kBitsOfRow = 256; // of k, that an instruction multiplies

/// Bits of the elements that an instruction multiplies.
int64_t bits_of_element(const MmaMacro& macro) {
  return macro.k == 0 ? 0 : kBitsOfRow / macro.k;
}

/// Whether an instruction may multiply its factors by scales: those of fp8, and of fp4.
bool may_have_scales(const MmaMacro& macro) {
  return macro.arch == MmaMacroArch::Blackwell1CTA &&
         (bits_of_element(macro) == 8 || bits_of_element(macro) == 4);
}

bool is_fp4(const TensorView* tensor) {
  return tensor->dtype() == DataType::Float4_e2m1fn;
}

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

/// Whether a factor may be multiplied by `scale`: powers of two, or, of fp4, e4m3.
bool is_scale_of(const TensorView* factor, const TensorView* scale) {
  return factor != nullptr && scale != nullptr &&
         (scale->dtype() == DataType::Float8_e8m0fnu ||
          (is_fp4(factor) && scale->dtype() == DataType::Float8_e4m3fn));
}

/// The tensor that `factor` was converted from, or those whose product it is, one of them scales.
Factor factor_of(Val* factor, const MmaMacro& macro) {
  const auto* product =
      factor->definition() == nullptr ? nullptr : factor->definition()->as<BinaryOp>();
  if (may_have_scales(macro) && product != nullptr && product->op == BinaryOpType::Mul) {
    TensorView* lhs = narrow_tensor(product->lhs);
    TensorView* rhs = narrow_tensor(product->rhs);
    if (is_scale_of(lhs, rhs)) {
      return {lhs, rhs};
    }
    if (is_scale_of(rhs, lhs)) {
      return {rhs, lhs};
    }
  }
  return {narrow_tensor(factor)};
}

/// The tensors whose products `tv` sums; no value: it sums something else.
std::optional<Factors> factors_of(const TensorView* tv, const MmaMacro& macro) {
  const Expr* definition = tv->definition();
  if (const auto* mma = definition == nullptr ? nullptr : definition->as<MmaOp>()) {
    return Factors{
        static_cast<TensorView*>(mma->a), static_cast<TensorView*>(mma->b),
        static_cast<TensorView*>(mma->a_scale), static_cast<TensorView*>(mma->b_scale)};
  }
  const auto* sum = definition == nullptr ? nullptr : definition->as<ReductionOp>();
  const Expr* summed = sum == nullptr ? nullptr : sum->arg->definition();
  const auto* product = summed == nullptr ? nullptr : summed->as<BinaryOp>();
  if (product == nullptr || sum->op != BinaryOpType::Add || !sum->init->is_zero() ||
      product->op != BinaryOpType::Mul) {
    return std::nullopt;
  }
  const Factor a = factor_of(product->lhs, macro);
  const Factor b = factor_of(product->rhs, macro);
  return a.tensor == nullptr || b.tensor == nullptr
             ? std::nullopt
             : std::optional(Factors{a.tensor, b.tensor, a.scale, b.scale});
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
  switch (bits_of_element(macro)) {
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

/// Whether scales have the shape of their factor, with one scale for the innermost axis.
bool are_of_blocks(const TensorView* factor, const TensorView* scale) {
  const auto axes = std::span(factor->logical());
  const auto of_scale = std::span(scale->logical());
  return of_scale.back()->is_broadcast() &&
         std::ranges::equal(
             axes.first(axes.size() - 1), of_scale.first(of_scale.size() - 1), {},
             &IterDomain::is_broadcast, &IterDomain::is_broadcast);
}

/// Each block of elements that an instruction sums has one scale.
std::optional<Refusal> find_wrong_blocks(
    const TensorView* tv,
    const MmaMacro& macro,
    const TensorView* factor,
    const TensorView* scale) {
  const bool sums_block = tv->maybe_root().back()->is_reduction() &&
                          factor->logical().back()->extent()->is_const_int(macro.k);
  if (sums_block && are_of_blocks(factor, scale)) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"A factor has no scale for each block that an instruction sums"},
      .node = {describe(scale), "\nscales ", describe(factor)},
      .expected =
          {"factors [.., k / ", macro.k, ", ", macro.k,
           "], of which both axes are summed, and "
           "scales [.., k / ",
           macro.k, ", 1]"},
      .found = {factor->domain()->to_string(), " and ", scale->domain()->to_string()},
      .fix = {"define the factor with its blocks as the last dimension"},
  });
}

/// Tensor cores of Blackwell multiply fp4 with two elements in a byte of shared memory, where this
/// library has one (docs/decisions.md).
std::optional<Refusal> find_pairs(
    const TensorView* tv, const MmaMacro& macro, const Factors& factors) {
  if (!may_have_scales(macro) || (!is_fp4(factors.a) && !is_fp4(factors.b))) {
    return std::nullopt;
  }
  return refuse(
      {
          .headline = {"Products of fp4 are not there: shared memory has an element in a byte"},
          .node = {describe(tv)},
          .expected = {"factors in Float8_e4m3fn or Float8_e5m2, which bulk copies bring there"},
          .found = {text(factors.a->dtype()), " times ", text(factors.b->dtype())},
          .fix = {"convert the factors to Float8_e4m3fn, which has all numbers of fp4, in a kernel "
                  "before, and use Blackwell1CTA_128_N_32 with a scale in Float8_e8m0fnu for each "
                  "32 elements; fd.ops.scaled_mm multiplies NVFP4, with scales in Float8_e4m3fn"},
      },
      ErrorKind::NotImplemented);
}

/// Both factors have scales, or none has.
std::optional<Refusal> find_wrong_scales(
    const TensorView* tv, const MmaMacro& macro, const Factors& factors) {
  if (factors.a_scale == nullptr && factors.b_scale == nullptr) {
    return std::nullopt;
  }
  if (!may_have_scales(macro) || factors.a_scale == nullptr || factors.b_scale == nullptr) {
    return refuse_node(
        tv, {macro.to_string(), " does not multiply these factors by scales"},
        {"Blackwell1CTA_128_N_32, and scales of both factors"},
        {factors.a_scale == nullptr || factors.b_scale == nullptr ? "scales of one factor"
                                                                  : "scales of both"},
        {"multiply the other factor by scales of one, or multiply by scales what was summed"});
  }
  NVF_RETURN_REFUSAL(find_wrong_blocks(tv, macro, factors.a, factors.a_scale));
  return find_wrong_blocks(tv, macro, factors.b, factors.b_scale);
}

} // namespace

std::optional<Refusal> find_wrong_mma_macro(const TensorView* tv, MmaMacro macro) {
  const std::optional<Factors> factors = factors_of(tv, macro);
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
  NVF_RETURN_REFUSAL(find_pairs(tv, macro, *factors));
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
  NVF_RETURN_REFUSAL(find_wrong_columns(tv, macro, type));
  return find_wrong_scales(tv, macro, *factors);
}

void set_mma_macro(TensorView* tv, MmaMacro macro) {
  check(find_wrong_mma_macro(tv, macro));
  const Factors factors = *factors_of(tv, macro);
  Fusion& fusion = *tv->fusion();
  Val* init = tv->definition()->is_a<MmaOp>() ? tv->definition()->as<MmaOp>()->init
                                              : fusion.new_constant(int64_t{0}, tv->dtype());
  fusion.make<MmaOp>(
      {.out = tv,
       .a = factors.a,
       .b = factors.b,
       .a_scale = factors.a_scale,
       .b_scale = factors.b_scale,
       .init = init,
       .macro = macro.as_int()});
}

} // namespace nvfuser::transform
