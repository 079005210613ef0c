"""`translate_to_mma`: a matmul or linear as the sum of products that tensor cores compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOp,
    MmaOperand,
    ParallelType,
    UserError,
    evaluate,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

pytestmark = pytest.mark.sanitize

BF16, HALF = DataType.BFloat16, DataType.Half
TORCH = {BF16: torch.bfloat16, HALF: torch.float16}


def integers(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """Small ones: sums of their products are exact in any order."""
    return torch.randint(-4, 5, shape).to(dtype)


def product(
    ranks: tuple[int, ...], is_linear: bool, dtype: DataType = BF16
) -> tuple[FusionDefinition, TensorView]:
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype) for rank in ranks]
        out = fd.ops.linear(*tensors) if is_linear else fd.ops.matmul(*tensors)
        fd.add_output(fd.ops.relu(out))
    return fd, out


SHAPES = [
    (False, [(5, 7), (7, 3)]),
    (False, [(2, 5, 7), (2, 7, 3)]),
    (False, [(4, 2, 5, 7), (2, 7, 3)]),
    (False, [(5, 7), (2, 7, 3)]),
    (True, [(5, 7), (3, 7)]),
    (True, [(5, 7), (3, 7), (3,)]),
    (True, [(2, 5, 7), (3, 7), (3,)]),
]


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize(("is_linear", "shapes"), SHAPES)
def test_a_translated_product_is_the_same(is_linear, shapes, dtype):
    fd, out = product(tuple(map(len, shapes)), is_linear, dtype)
    inputs = [integers(*shape, dtype=TORCH[dtype]) for shape in shapes]
    expected = evaluate(fd.fusion, inputs)
    with fd:
        total = out.translate_to_mma()
    assert isinstance(total.definition(), MmaOp)
    assert total.dtype() == DataType.Float
    assert not any(axis.is_reduction() for axis in out.logical())
    for found, same in zip(evaluate(fd.fusion, inputs), expected, strict=True):
        assert torch.equal(found, same)


def test_a_bias_is_added_before_the_result_is_rounded():
    fd, out = product((2, 2, 1), is_linear=True)
    with fd:
        out.translate_to_mma()
    x, w = torch.full((1, 3), 64.0), torch.full((1, 3), 64.0)
    bias = torch.tensor([-12288.0 + 16])  # 3 * 64 * 64 = 12288
    (found,) = evaluate(fd.fusion, [tensor.bfloat16() for tensor in (x, w, bias)])
    bias = bias.bfloat16().float()
    assert found.item() == (12288 + bias).bfloat16().item()


def schedule_fragments(fd: FusionDefinition, out: TensorView) -> None:
    """docs/tensor_cores.md: a linear, by one warp for each tile of 16 x 8."""
    (y,) = fd.fusion.outputs()
    total = out.translate_to_mma()
    mma = total.definition()
    total.set_mma_macro(MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro())
    for tensor, operand, axes in (
        (mma.a, MmaOperand.A, {2: 1, 1: 2}),
        (mma.b, MmaOperand.B, {1: 0, 2: 1, 0: 2}),
    ):
        tensor.reorder(axes)
        tensor.split(1, 16)
        tensor.split(0, 16 if operand == MmaOperand.A else 8)
        tensor.reorder({2: 0, 0: 1, 4: 2, 1: 3, 3: 4})
        tensor.apply_mma_swizzle(operand)
    total.split(2, 16)
    for tensor in (total, y):
        tensor.split(1, 8)
        tensor.split(0, 16)
    total.reorder({4: 0, 0: 1, 2: 2, 1: 3, 3: 4})
    y.reorder({1: 2, 2: 1})
    for tensor in (total, y):
        tensor.apply_mma_swizzle()
    for tensor, m, n in ((mma.a, 1, None), (mma.b, None, 1), (total, 1, 2), (y, 0, 1)):
        if m is not None:
            tensor.axis(m).parallelize(ParallelType.grid_y)
        if n is not None:
            tensor.axis(n).parallelize(ParallelType.grid_x)
    fd.sched.inline_at(total, 1, selected_tensors=[mma.a, mma.b])
    others = {*fd.fusion.inputs(), mma.a, mma.b, total}
    epilogue = [tensor for tensor in fd.fusion.tensors() if tensor not in others]
    fd.sched.transform_like(y, epilogue)
    fd.sched.parallelize_like(y, -1, epilogue)
    fd.sched.inline_most([tensor for tensor in epilogue if tensor != y])


@pytest.mark.parametrize("sizes", [(16, 8, 16), (33, 13, 40)])
def test_an_instruction_computes_a_translated_linear(target, sizes):
    m, n, k = sizes
    fd, out = product((2, 2, 1), is_linear=True)
    inputs = [tensor.to(target) for tensor in (integers(m, k), integers(n, k), integers(n))]
    (expected,) = evaluate(fd.fusion, inputs)
    with fd:
        schedule_fragments(fd, out)
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    (found,) = executor.run(inputs)
    assert torch.equal(found, expected)


# -- refusals --


def refused_product(ranks: tuple[int, ...], is_linear: bool, dtype: DataType) -> Callable:
    def make() -> TensorView:
        return product(ranks, is_linear, dtype)[1]

    return make


def scheduled_product() -> TensorView:
    fd, out = product((2, 2), is_linear=False)
    with fd:
        out.split(0, 4)
    return out


def other_tensor() -> TensorView:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], dtype=BF16)
        out = fd.ops.neg(x)
        fd.add_output(out)
    return out


def product_over_one_element() -> TensorView:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None], dtype=BF16)
        y = fd.define_tensor([1, -1], contiguity=[None, True], dtype=BF16)
        out = fd.ops.matmul(x, y)
        fd.add_output(out)
    return out


REFUSALS = [
    (other_tensor, "Only a product of matrices is translated for tensor cores", "UnaryOp"),
    (
        refused_product((2, 2), False, DataType.Float),
        "Tensor cores do not multiply matrices of this type",
        "float",
    ),
    (refused_product((1, 2), False, BF16), "Tensor cores multiply matrices", "ranks 1 and 2"),
    (
        refused_product((2, 3), True, BF16),
        "A linear for tensor cores has one matrix of weights",
        "3 dimensions",
    ),
    (
        product_over_one_element,
        "A product that sums over one element is no sum",
        "an axis of size one",
    ),
    (
        scheduled_product,
        "A product is translated before it is scheduled",
        "a tensor with a schedule",
    ),
]


@pytest.mark.parametrize(("make", "headline", "found"), REFUSALS, ids=[row[1] for row in REFUSALS])
def test_products_that_are_not_translated(make, headline, found):
    out = make()
    refusal = schedule.find_wrong_translation(out)
    assert headline in str(refusal)
    with pytest.raises(UserError) as error:
        out.translate_to_mma()
    text = str(error.value)
    for part in (headline, "node:", "expected:", "fix:", "made at"):
        assert part in text
    assert found in text.split("found:")[1]
