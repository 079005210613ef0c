"""Rows of which a maximum and a sum are kept for each chunk: sums of exponentials in one pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_prints_as_python, define

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    SchedulerType,
    UserError,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import Fusion, ReductionParams, TensorView

INNER = SchedulerType.inner_persistent
FLOAT = DataType.Float


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def log_sum_exp(fd: FusionDefinition, x: TensorView, dims: Sequence[int] = (1,)) -> TensorView:
    ops = fd.ops
    wide = ops.cast(x, FLOAT)
    over = [i in dims for i in range(len(x.shape()))]
    largest = ops.max(wide, list(dims))
    powers = ops.exp(ops.sub(wide, ops.broadcast(largest, over)))
    return ops.add(ops.log(ops.sum(powers, list(dims))), largest)


def in_chunks(
    build: Callable, inputs: Sequence[torch.Tensor], chunk: int, threads: int, unroll: int = 2
) -> tuple[Fusion, ReductionParams]:
    """Scheduled with chunks, whatever the scheduler would choose for these sizes."""
    fusion = define(build, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    chunks = math.prod(inputs[0].shape[1:]) // chunk
    params.persistent_kernel, params.project_persistent_buffers = True, False
    params.elements_per_chunk = chunk
    params.unroll_factor_top_of_vectorization = unroll
    params.batches_per_block_inner_reduction = math.ceil(chunks / (threads * unroll)) * unroll
    params.multiple_reds_per_blk = False
    params.lparams = LaunchParams(inputs[0].shape[0], -1, -1, threads, -1, -1)
    schedule.schedule(fusion, INNER, params)
    return fusion, params


def run(fusion: Fusion, params: ReductionParams, inputs: Sequence[torch.Tensor]) -> list:
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    return executor.run(inputs, params.lparams, params.cparams)


def check(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(
        found.cpu().double(), expected.cpu(), rtol=2e-6, atol=2e-6, equal_nan=True
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("columns", [100000, 100008])
def test_long_rows_are_read_once(target: str, dtype: torch.dtype, columns: int) -> None:
    x = random(132, columns, dtype=dtype).to(target)
    fusion = define(log_sum_exp, [x]).fusion
    params = schedule.schedule(fusion, INNER, [x], "cuda")
    assert params.elements_per_chunk > 1
    text = cuda_text(fusion)
    assert text.count("block_reduce") == 2
    assert text.split("block_reduce")[1].count("load_vector") == 0
    check(run(fusion, params, [x])[0], x.double().logsumexp(1))


def test_the_schedule_prints_as_python() -> None:
    """Sizes are constant: a program with other ones is a reshape that a run resolves."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([132, 100000], contiguity=True, dtype=DataType.BFloat16)
        fd.add_output(log_sum_exp(fd, x))
    inputs = [torch.empty(132, 100000, dtype=torch.bfloat16)]
    assert schedule.schedule(fd.fusion, INNER, inputs, "cuda").elements_per_chunk > 1
    check_prints_as_python(fd.fusion)


@pytest.mark.parametrize("chunk", [4, 8, 16])
@pytest.mark.parametrize("shape", [(3, 1008), (1, 16), (5, 48), (2, 32 * 33)], ids=str)
def test_chunks_of_any_row(target: str, chunk: int, shape: tuple[int, int]) -> None:
    x = random(*shape, dtype=torch.bfloat16).to(target)
    fusion, params = in_chunks(log_sum_exp, [x], chunk, threads=32)
    check(run(fusion, params, [x])[0], x.double().logsumexp(1))


def test_values_that_are_not_finite(target: str) -> None:
    """A chunk of -inf alone adds nothing; a row of it has no sum, as without chunks."""
    x = random(8, 256).to(target)
    inf = math.inf
    x[1, :40] = -inf
    x[2] = -inf
    x[3, 77] = inf
    x[4, 200] = math.nan
    x[5] = -inf
    x[5, 255] = -1000.0
    x[6] = 1e30
    x[7] = torch.linspace(-300, 300, 256)
    fusion, params = in_chunks(log_sum_exp, [x], 8, threads=32)
    largest = x.double().amax(1)
    expected = (x.double() - largest[:, None]).exp().sum(1).log() + largest
    assert torch.isnan(expected[2:5]).all()
    check(run(fusion, params, [x])[0], expected)


def test_several_reductions_of_a_row(target: str) -> None:
    """Smoothed losses add up the row, and a temperature of each column scales it."""

    def build(fd: FusionDefinition, x: TensorView, t: TensorView) -> tuple[TensorView, ...]:
        ops = fd.ops
        scaled = ops.mul(x, ops.broadcast(t, [True, False]))
        largest = ops.max(scaled, [1])
        powers = ops.exp(ops.sub(scaled, ops.broadcast(largest, [False, True])))
        total = ops.sum(powers, [1])
        return ops.add(ops.log(total), largest), ops.sum(scaled, [1]), ops.max(x, [1])

    x, t = random(6, 480).to(target), random(480, seed=1).abs().to(target)
    fusion, params = in_chunks(build, [x, t], 8, threads=32)
    found = run(fusion, params, [x, t])
    scaled = x.double() * t.double()
    check(found[0], scaled.logsumexp(1))
    torch.testing.assert_close(found[1].double(), scaled.sum(1), rtol=2e-5, atol=2e-5)
    check(found[2], x.double().amax(1))


def test_rows_of_several_dimensions(target: str) -> None:
    x = random(4, 7, 64).to(target)
    fusion, params = in_chunks(lambda fd, x: log_sum_exp(fd, x, (1, 2)), [x], 8, threads=32)
    check(run(fusion, params, [x])[0], x.double().flatten(1).logsumexp(1))


@pytest.mark.parametrize("build", ["softmax", "norm"])
def test_rows_that_are_needed_behind_are_refused(build: str) -> None:
    def softmax(fd: FusionDefinition, x: TensorView) -> TensorView:
        return fd.ops.softmax(x, 1)

    def norm(fd: FusionDefinition, x: TensorView) -> TensorView:
        centred = fd.ops.sub(x, fd.ops.mean(x, [1], True))
        return fd.ops.sum(fd.ops.mul(centred, centred), [1])

    with pytest.raises(UserError, match="the row cannot be reduced in chunks"):
        in_chunks(softmax if build == "softmax" else norm, [random(4, 64)], 8, threads=32)


def test_an_odd_row_is_read_again() -> None:
    x = torch.empty((132, 2_000_001), dtype=torch.bfloat16)  # more than a cluster holds
    params = schedule.compute_heuristics(define(log_sum_exp, [x]).fusion, INNER, [x], "cuda")
    assert params.elements_per_chunk == 1
    assert not params.persistent_kernel
