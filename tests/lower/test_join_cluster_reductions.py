"""One exchange over a cluster for a maximum and the sum of exponentials about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    SchedulerType,
    schedule,
)

if TYPE_CHECKING:
    from nvfuser_direct import Fusion, ReductionParams

INNER = SchedulerType.inner_persistent
BF16, HALF, FLOAT = torch.bfloat16, torch.half, torch.float32
DTYPES = {BF16: DataType.BFloat16, HALF: DataType.Half, FLOAT: DataType.Float}
JOINED = "cluster_reduce_about_maximum<"


def define(kind: str, dtype: torch.dtype) -> FusionDefinition:
    with FusionDefinition() as fd:
        ops = fd.ops
        along = [False, True]
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DTYPES[dtype])
        wide = ops.cast(x, DataType.Float)
        most = ops.max(wide, [1])
        shifted = ops.sub(wide, ops.broadcast(most, along))
        total = ops.sum(ops.exp(shifted), [1])
        if kind == "softmax":
            out = ops.div(ops.exp(shifted), ops.broadcast(total, along))
        elif kind == "log softmax":
            out = ops.sub(shifted, ops.broadcast(ops.log(total), along))
        elif kind == "softmax, and the logarithm of its sum":
            out = ops.div(ops.exp(shifted), ops.broadcast(total, along))
            fd.add_output(ops.add(most, ops.log(total)))
        elif kind == "of other elements":
            twice = ops.sub(ops.mul(wide, 2.0), ops.broadcast(most, along))
            out = ops.div(shifted, ops.broadcast(ops.sum(ops.exp(twice), [1]), along))
        fd.add_output(ops.cast(out, x.dtype()))
    return fd


def scheduled(
    kind: str, inputs: list[torch.Tensor], blocks: int, threads: int, *, keeps_inputs: bool = True
) -> tuple[Fusion, ReductionParams]:
    """In clusters, whatever the scheduler would choose for these sizes."""
    fusion = define(kind, inputs[0].dtype).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    rows, columns = inputs[0].shape
    part = math.ceil(math.ceil(columns / params.unroll_factor_inner_reduction) / blocks)
    params.project_persistent_buffers = keeps_inputs
    params.blocks_per_cluster = blocks
    params.elements_per_chunk = 1
    params.batches_per_block_inner_reduction = math.ceil(part / threads)
    params.multiple_reds_per_blk = params.pad_inner_reduction_to_warp = False
    threads = math.ceil(part / params.batches_per_block_inner_reduction)
    params.lparams = LaunchParams(blocks, rows, -1, threads, -1, -1)
    schedule.schedule(fusion, INNER, params)
    return fusion, params


def run(fusion: Fusion, params: ReductionParams, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    return [out.cpu().double() for out in executor.run(inputs, params.lparams, params.cparams)]


def references(kind: str, x: torch.Tensor) -> list[torch.Tensor]:
    x = x.cpu().double()
    if kind == "log softmax":
        return [torch.log_softmax(x, 1)]
    if kind == "softmax":
        return [torch.softmax(x, 1)]
    most = x.amax(1, keepdim=True)
    total = torch.exp(x - most).sum(1)
    return [most.flatten() + torch.log(total), torch.softmax(x, 1)]


KINDS = ["softmax", "log softmax", "softmax, and the logarithm of its sum"]
SHAPES = [(3, 1008), (1, 16), (5, 37), (4, 5003)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values(target: str, kind: str, dtype: torch.dtype, shape: tuple[int, int]) -> None:
    x = torch.randn(shape, dtype=torch.float64)
    x[0] *= 100
    x = x.to(dtype).to(target)
    for blocks, threads in ((2, 32), (8, 24)):
        fusion, params = scheduled(kind, [x], blocks, threads)
        assert JOINED in cuda_text(fusion)
        rtol = {BF16: 1.6e-2, HALF: 2e-3, FLOAT: 2e-5}[dtype]
        for found, expected in zip(run(fusion, params, [x]), references(kind, x), strict=True):
            torch.testing.assert_close(found, expected, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_is_not_finite(target: str, kind: str, dtype: torch.dtype) -> None:
    """As PyTorch computes it: NaN where all are -inf, and where one is +inf or NaN."""
    x = torch.randn(9, 4096).to(dtype)
    x[0] = -math.inf
    x[1, 5] = math.inf
    x[2, 700] = math.nan
    x[3, 100:] = -math.inf  # all but one warp of one block has nothing else
    x[4, ::2] = -math.inf
    x[5, 9] = torch.finfo(dtype).max
    x[6] = torch.finfo(dtype).min
    x[7] *= 1e3
    x[8, :4000] = math.inf
    fusion, params = scheduled(kind, [x.to(target)], 4, 64)
    assert JOINED in cuda_text(fusion)
    found = run(fusion, params, [x.to(target)])
    rtol = {BF16: 1.6e-2, HALF: 2e-3, FLOAT: 2e-5}[dtype]
    for out, expected in zip(found, references(kind, x), strict=True):
        torch.testing.assert_close(out, expected, rtol=rtol, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("edge", [65536.0, -65536.0, 65280.0])
def test_maxima_around_the_end_of_the_factor(target: str, edge: float) -> None:
    """Threads have the product with log2(e) or, from 2^16 on, none: those of a row differ."""
    x = torch.full((4, 4096), edge).bfloat16()
    below = torch.nextafter(x[0, 0], torch.tensor(-math.inf).bfloat16())
    x[1, 100:] = below
    x[2, ::3] = below
    x[3, :4000] = below
    fusion, params = scheduled("softmax", [x.to(target)], 4, 64)
    assert "PowersWithFactor" in cuda_text(fusion)
    (found,) = run(fusion, params, [x.to(target)])
    torch.testing.assert_close(found, references("softmax", x)[0], rtol=1.6e-2, atol=1e-9)


def test_there_is_one_exchange() -> None:
    fusion, _ = scheduled("softmax", [torch.empty(4, 4096, dtype=BF16)], 8, 64)
    text = cuda_text(fusion)
    assert text.count("cluster_reduce") == text.count(JOINED) == 1


def test_exact_exponentials_have_exact_factors(target: str) -> None:
    x = torch.randn(4, 4096).to(target)
    fusion, params = scheduled("softmax", [x], 4, 64)
    assert "ExactPowers" in cuda_text(fusion)
    (found,) = run(fusion, params, [x])
    torch.testing.assert_close(found, references("softmax", x)[0], rtol=2e-5, atol=1e-9)


def test_exponentials_that_are_kept_are_about_the_maximum_of_all() -> None:
    """Not joined: what is written reads them as well."""
    fusion, _ = scheduled("softmax", [torch.empty(4, 4096, dtype=BF16)], 8, 64, keeps_inputs=False)
    text = cuda_text(fusion)
    assert text.count("cluster_reduce<") == 2
    assert JOINED not in text


def test_a_sum_about_the_maximum_of_other_elements() -> None:
    """Its exponentials have no bound, whatever the thread's own maximum is."""
    x = torch.empty(4, 4096, dtype=BF16)
    fusion, _ = scheduled("of other elements", [x], 8, 64)
    assert JOINED not in cuda_text(fusion)
