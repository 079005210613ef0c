"""A product of matrices that an instruction of tensor cores computes, with a schedule by hand."""

from __future__ import annotations

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOperand,
    TensorView,
)

MACRO = MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro()


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def product() -> tuple[FusionDefinition, TensorView, TensorView, TensorView]:
    """[32, 32] times [16, 32], tile by tile: the definition, both factors and the sum."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True, dtype=DataType.BFloat16)
        w = fd.define_tensor([16, 32], contiguity=True, dtype=DataType.BFloat16)
        a = fd.ops.broadcast(x, [False, True, False])
        b = fd.ops.broadcast(w, [True, False, False])
        total = fd.ops.sum(fd.ops.mul(a, b), [2])
        y = fd.ops.neg(total)
        fd.add_output(y)
        total.set_mma_macro(MACRO)
        for factor, operand, axes in ((a, MmaOperand.A, (0, 2, 1)), (b, MmaOperand.B, (1, 2, 0))):
            order(factor, *axes)
            factor.split(1, 16)
            factor.split(0, 16 if operand == MmaOperand.A else 8)
            order(factor, 2, 0, 4, 1, 3)
            factor.apply_mma_swizzle(operand)
        total.split(2, 16)
        for tensor in (total, y):
            tensor.split(1, 8)
            tensor.split(0, 16)
        order(total, 4, 0, 2, 1, 3, 5)
        order(y, 0, 2, 1, 3)
        for tensor in (total, y):
            tensor.apply_mma_swizzle()
        fd.sched.inline_at(total, 1, selected_tensors=[a, b])
    return fd, a, b, total
