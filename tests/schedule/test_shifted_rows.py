"""Rows that vectors do not divide, in loops that are shifted to where the vectors begin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import TOLERANCES, check_prints_as_python, define

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    SchedulerType,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion, ReductionParams, TensorView

INNER = SchedulerType.inner_persistent
FLOAT = DataType.Float
KEPT = [False, True]


def moments(fd: FusionDefinition, wide: TensorView) -> tuple[TensorView, TensorView]:
    """The centered elements of each row, and one by their deviation."""
    ops = fd.ops
    columns = wide.size(1)
    mean = ops.broadcast(ops.div(ops.sum(wide, [1]), columns), KEPT)
    centered = ops.sub(wide, mean)
    variance = ops.div(ops.sum(ops.mul(centered, centered), [1]), columns)
    return centered, ops.broadcast(ops.rsqrt(ops.add(variance, 1e-5)), KEPT)


def layer_norm(fd: FusionDefinition, x: TensorView, w: TensorView, b: TensorView) -> TensorView:
    ops = fd.ops
    centered, scale = moments(fd, ops.cast(x, FLOAT))
    weight, bias = (ops.broadcast(ops.cast(t, FLOAT), [True, False]) for t in (w, b))
    y = ops.add(ops.mul(ops.mul(centered, scale), weight), bias)
    return ops.cast(y, x.dtype())


def softmax_backward(fd: FusionDefinition, y: TensorView, dy: TensorView) -> TensorView:
    ops = fd.ops
    wide_y, wide_dy = ops.cast(y, FLOAT), ops.cast(dy, FLOAT)
    dot = ops.broadcast(ops.sum(ops.mul(wide_y, wide_dy), [1]), KEPT)
    return ops.cast(ops.mul(wide_y, ops.sub(wide_dy, dot)), y.dtype())


def inputs_of(*shapes: tuple[int, ...], dtype: torch.dtype, **options: Any) -> list[torch.Tensor]:
    return [torch.empty(shape, dtype=dtype, **options) for shape in shapes]


def random_like(tensors: list[torch.Tensor], rng: torch.Generator, target: str) -> list[Any]:
    return [
        torch.randn(t.shape, generator=rng, dtype=torch.float64).to(t.dtype).to(target)
        for t in tensors
    ]


def shifted(
    build: Callable[..., Any], inputs: list[torch.Tensor], lanes: int, batches: int = 2
) -> tuple[Fusion, ReductionParams]:
    """With all accesses to rows and columns in vectors of so many elements, whatever is chosen."""
    fusion = define(build, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    params.shifts_rows = True
    params.unroll_factor_inner_reduction = lanes
    params.vector_widths = [lanes] * (len(inputs) + 1)
    params.batches_per_block_inner_reduction = batches
    params.static_bdimx = params.keeps_rows_in_shared_memory = False
    params.multiple_reds_per_blk = False
    params.pad_inner_reduction_to_warp = True
    params.cparams.maxrregcount = 255
    params.lparams = LaunchParams()  # threads follow from the batches
    schedule.schedule(fusion, INNER, params)
    return fusion, params


def check(
    fusion: Fusion,
    params: ReductionParams,
    inputs: list[torch.Tensor],
    expected: torch.Tensor,
) -> None:
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    (found,) = executor.run(inputs, params.lparams, params.cparams)
    rtol, _ = TOLERANCES[found.dtype]
    least = 4 * rtol * expected.abs().max().item()  # what is left where large terms cancel
    torch.testing.assert_close(found.double(), expected, rtol=rtol, atol=least)


def test_loads_and_stores_are_vectors() -> None:
    rows = inputs_of((4096, 5003), (5003,), (5003,), dtype=torch.float16)
    fusion, _ = shifted(layer_norm, rows, 8)
    text = cuda_text(fusion)
    assert "load_vector<8, " in text
    assert len(re.findall(r"load_unaligned<8, ", text)) == 2  # weight and bias
    assert "store_vector<8, " in text
    check_prints_as_python(fusion)


@pytest.mark.parametrize("columns", [519, 1283, 5003])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_layer_norm(target: str, columns: int, dtype: torch.dtype, rng: torch.Generator) -> None:
    empty = inputs_of((13, columns), (columns,), (columns,), dtype=dtype)
    x, w, b = random_like(empty, rng, target)
    expected = torch.nn.functional.layer_norm(
        x.double(), (columns,), w.double(), b.double(), eps=1e-5
    )
    check(*shifted(layer_norm, [x, w, b], 16 // dtype.itemsize), [x, w, b], expected)


@pytest.mark.parametrize("columns", [519, 5003])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_softmax_backward(
    target: str, columns: int, dtype: torch.dtype, rng: torch.Generator
) -> None:
    y, dy = random_like(inputs_of((13, columns), (13, columns), dtype=dtype), rng, target)
    wide_y, wide_dy = y.double(), dy.double()
    expected = wide_y * (wide_dy - (wide_y * wide_dy).sum(1, keepdim=True))
    check(*shifted(softmax_backward, [y, dy], 16 // dtype.itemsize), [y, dy], expected)
