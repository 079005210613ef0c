// Tensor cores by hand: their instructions, and the layout of their fragments.
#include "tensor_cores.h"

#include "transform/fragments.h"
#include "transform/mma_macro.h"
#include "transform/translate_product.h"

namespace nvfuser::python {
namespace {

MmaMacro macro_or_default(const MmaMacro* macro) {
  constexpr MmaMacro kDefault{.arch = MmaMacroArch::Ampere, .m = 16, .n = 8, .k = 16};
  return macro == nullptr ? kDefault : *macro;
}

} // namespace

void bind_tensor_cores(nb::module_& m) {
  nb::borrow<nb::class_<TensorView>>(m.attr("TensorView"))
      .def(
          "translate_to_mma", [](TensorView* self) { return transform::translate_to_mma(self); },
          nb::rv_policy::reference_internal,
          R"(Let this result of `matmul` or `linear` be computed from a sum of products.

The operands are broadcast against each other, the products are summed in Float, a bias is added, and
this tensor becomes that value, rounded to its type. ``set_mma_macro`` then names the instruction of
tensor cores that computes the sum. Call it before other scheduling calls on the tensor.

    matmul  [.., M, K] x [.., K, N]     the sum is [.., M, K, N], reduced over K
    linear  [.., M, K] x [N, K]         the sum is [.., M, N, K], reduced over K

Returns
-------
TensorView
    The sum.

Raises
------
UserError
    If this is no product of matrices, or one that tensor cores do not compute: types other than
    BFloat16 and Half, vectors, weights with leading dimensions.
)")
      .def(
          "set_mma_macro",
          [](TensorView* self, const MmaMacro& macro) { transform::set_mma_macro(self, macro); },
          "macro"_a,
          R"(Let an instruction of tensor cores compute this sum of products.

The definition becomes an `MmaOp` with this macro: ``sum(mul(a, b))`` of tensors of 16 bits, which
``mul`` converts to Float, reads a and b themselves. Where the kernel has no tensor cores, on the CPU
target, the sum is a loop nest that adds the products up in the order of k.

Parameters
----------
macro : MmaMacro
    The instruction: ``MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro()``.

Raises
------
UserError
    If this is no sum of products, or the instruction does not take these types.
)")
      .def(
          "apply_mma_swizzle",
          [](TensorView* self, std::optional<MmaOperand> operand, const MmaMacro* macro) {
            transform::apply_mma_swizzle(self, macro_or_default(macro), operand);
          },
          "operand"_a = nb::none(), "macro"_a = nb::none(),
          R"(Give a tile, the innermost loop axes, the layout of an instruction's fragments.

The parts of the axes that tell the lanes of a warp apart are merged and bound to ``block_x``; those
behind count the registers of a lane. `schedule.fragment_layout` shows where elements are.

Parameters
----------
operand : MmaOperand, optional
    Which factor this tensor is: ``A``, with ``[.., m, k]`` innermost, or ``B``, with ``[.., n, k]``.
    None: the result, ``[.., m, n]``, or what is computed from it. The sum itself ends in
    ``[.., m, n, k]``; what follows its lanes is bound to ``mma``.
macro : MmaMacro, optional
    The instruction; None is ``Ampere_16_8_16``.

Raises
------
UserError
    If the innermost axes are no tile of the instruction.
)");
  nb::module_ schedule = nb::borrow<nb::module_>(m.attr("schedule"));
  schedule.def(
      "find_wrong_mma_macro",
      [](const TensorView* tv, const MmaMacro& macro) {
        return transform::find_wrong_mma_macro(tv, macro);
      },
      "tv"_a, "macro"_a, "The refusal of ``TensorView.set_mma_macro``; None: it can be called.");
  schedule.def(
      "find_wrong_translation",
      [](const TensorView* tv) { return transform::find_wrong_translation(tv); }, "tv"_a,
      "The refusal of ``TensorView.translate_to_mma``; None: it can be called.");
  schedule.def(
      "find_wrong_mma_swizzle",
      [](const TensorView* tv, std::optional<MmaOperand> operand, const MmaMacro* macro) {
        return transform::find_wrong_mma_swizzle(tv, macro_or_default(macro), operand);
      },
      "tv"_a, "operand"_a = nb::none(), "macro"_a = nb::none(),
      "The refusal of ``TensorView.apply_mma_swizzle``; None: it can be called.");
  schedule.def(
      "fragment_layout",
      [](std::optional<MmaOperand> operand, const MmaMacro* macro) {
        const MmaMacro chosen = macro_or_default(macro);
        const MmaInstruction* instruction = find_mma_instruction(chosen);
        if (instruction == nullptr) {
          check(find_wrong_macro(nullptr, chosen));
        }
        check(find_missing_fragment(nullptr, *instruction, operand));
        return to_string(
            !operand                    ? instruction->result
            : *operand == MmaOperand::A ? instruction->a
                                        : instruction->b);
      },
      "operand"_a = nb::none(), "macro"_a = nb::none(),
      R"(Where the elements of a tile are, as text: ``lane.register`` for each.

Parameters
----------
operand : MmaOperand, optional
    ``A``: a line for each row of the first factor. ``B``: one for each column of the second factor.
    None: one for each row of the result.
macro : MmaMacro, optional
    The instruction; None is ``Ampere_16_8_16``.

Returns
-------
str
)");
}

} // namespace nvfuser::python
