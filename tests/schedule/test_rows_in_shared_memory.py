"""Rows that stay in shared memory: each pass loads them from there, and registers are free."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import between_vectors, check_prints_as_python, define

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    SchedulerType,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import Fusion, ReductionParams, TensorView

INNER = SchedulerType.inner_persistent
FLOAT = DataType.Float
BF16 = torch.bfloat16


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def softmax(fd: FusionDefinition, x: TensorView) -> TensorView:
    ops = fd.ops
    wide = ops.cast(x, FLOAT)
    powers = ops.exp(ops.sub(wide, ops.broadcast(ops.max(wide, [1]), [False, True])))
    total = ops.broadcast(ops.sum(powers, [1]), [False, True])
    return ops.cast(ops.div(powers, total), x.dtype())


def layer_norm(fd: FusionDefinition, x: TensorView, weight: TensorView) -> TensorView:
    ops = fd.ops
    wide = ops.cast(x, FLOAT)
    var, mean = ops.var_mean(wide, [1], correction=0)
    scale = ops.broadcast(ops.rsqrt(ops.add(var, 1e-5)), [False, True])
    centered = ops.sub(wide, ops.broadcast(mean, [False, True]))
    factor = ops.broadcast(ops.cast(weight, FLOAT), [True, False])
    return ops.cast(ops.mul(ops.mul(centered, scale), factor), x.dtype())


def softmax_of_sum(fd: FusionDefinition, x: TensorView, y: TensorView) -> TensorView:
    return softmax(fd, fd.ops.add(x, y))


def softmax_of_draws(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    """Random numbers cannot be drawn again: what is computed of them is kept."""
    draws = fd.ops.rand_like(fd.ops.cast(x, FLOAT))
    scaled = fd.ops.mul(fd.ops.cast(x, FLOAT), draws)
    return [draws, fd.ops.cast(softmax(fd, scaled), x.dtype())]


def inputs_of(build: Callable[..., TensorView], shape: tuple[int, int], dtype: torch.dtype):
    x = random(*shape, dtype=dtype)
    if build is softmax:
        return [x]
    other = shape if build is softmax_of_sum else shape[1:]
    return [x, random(*other, dtype=dtype, seed=1)]


def expected_of(build: Callable[..., TensorView], inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    x, *others = [each.double() for each in inputs]
    if build is layer_norm:
        return torch.nn.functional.layer_norm(x, x.shape[1:], others[0])
    total = (inputs[0] + inputs[1]).double() if others else x
    return torch.softmax(total, 1)


def in_shared_memory(
    build: Callable[..., TensorView],
    inputs: Sequence[torch.Tensor],
    blocks: int,
    threads: int,
    *,
    is_stored: bool | None = None,
) -> tuple[Fusion, ReductionParams]:
    """Scheduled so, whatever the scheduler would choose for these sizes. `is_stored`: inputs are
    kept, and not what is computed of them."""
    fusion = define(build, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    rows, columns = inputs[0].shape
    part = math.ceil(math.ceil(columns / params.unroll_factor_inner_reduction) / blocks)
    params.keeps_rows_in_shared_memory = True
    if is_stored is not None:
        params.project_persistent_buffers = is_stored
    params.blocks_per_cluster = blocks
    params.batches_per_block_inner_reduction = math.ceil(part / threads)
    params.multiple_reds_per_blk = params.pad_inner_reduction_to_warp = False
    threads = math.ceil(part / params.batches_per_block_inner_reduction)
    grid = (blocks, rows) if blocks > 1 else (rows, -1)
    params.lparams = LaunchParams(*grid, -1, threads, -1, -1)
    schedule.schedule(fusion, INNER, params)
    return fusion, params


def run(fusion: Fusion, params: ReductionParams, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    (out,) = executor.run(inputs, params.lparams, params.cparams)
    return out


@pytest.mark.parametrize("build", [softmax, layer_norm, softmax_of_sum])
@pytest.mark.parametrize("dtype", [BF16, torch.float32], ids=str)
@pytest.mark.parametrize("shape", [(3, 1008), (1, 16), (5, 37), (2, 4096), (4, 5003)], ids=str)
def test_rows_of_any_length(
    target: str, build: Callable[..., TensorView], dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    inputs = [x.to(target) for x in inputs_of(build, shape, dtype)]
    for blocks, threads in ((1, 32), (1, 96), (8, 24)):
        fusion, params = in_shared_memory(build, inputs, blocks, threads)
        found = run(fusion, params, inputs).cpu().double()
        rtol = 1.6e-2 if dtype == BF16 else 1e-5
        expected = expected_of(build, inputs).cpu()
        torch.testing.assert_close(found, expected, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("build", [softmax, layer_norm, softmax_of_sum])
@pytest.mark.parametrize("shape", [(3, 1008), (5, 37), (4, 5003)], ids=str)
def test_what_the_first_pass_computes_is_kept(
    target: str, build: Callable[..., TensorView], shape: tuple[int, int]
) -> None:
    inputs = [x.to(target) for x in inputs_of(build, shape, torch.float32)]
    for blocks, threads in ((1, 96), (8, 24)):
        fusion, params = in_shared_memory(build, inputs, blocks, threads, is_stored=False)
        found = run(fusion, params, inputs).cpu().double()
        torch.testing.assert_close(found, expected_of(build, inputs).cpu(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("blocks", [1, 4])
def test_random_numbers_are_drawn_once(target: str, blocks: int) -> None:
    x = random(5, 1003, dtype=torch.half).to(target)
    fusion, params = in_shared_memory(softmax_of_draws, [x], blocks, 64, is_stored=False)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    draws, found = executor.run([x], params.lparams, params.cparams)
    expected = torch.softmax((x.double() * draws.double()).cpu(), 1)
    torch.testing.assert_close(found.cpu().double(), expected, rtol=2e-3, atol=1e-5)


def test_sums_of_inputs_are_kept_where_they_are_as_small() -> None:
    """Passes over two inputs in 16 bits, or one input and random numbers, begin with the result."""
    for build, inputs in (
        (softmax_of_sum, [torch.empty(600, 237_533)] * 2),
        (softmax_of_draws, [between_vectors(torch.empty(600, 237_533, dtype=torch.half))]),
    ):
        fusion = define(build, inputs).fusion
        params = schedule.schedule(fusion, INNER, inputs, "cuda")
        assert params.keeps_rows_in_shared_memory
        assert not params.project_persistent_buffers
        text = cuda_text(fusion)
        assert len(re.findall(r"float\* T\d+_s = ", text)) == 1
        assert text.count("&T0[") + text.count("(T0[") == 1  # it is loaded once


@pytest.mark.parametrize(("rows", "columns", "blocks"), [(47, 403_369, 16), (600, 200_001, 8)])
def test_two_blocks_share_a_multiprocessor(rows: int, columns: int, blocks: int) -> None:
    """Where eight blocks have one each, sixteen have room for two."""
    inputs = [torch.empty(rows, columns)] * 2
    fusion = define(softmax_of_sum, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    assert params.keeps_rows_in_shared_memory
    assert params.blocks_per_cluster == blocks
    assert params.lparams.bdimx * params.cparams.maxrregcount <= 32768


@pytest.mark.parametrize(("build", "blocks"), [(softmax, 4), (layer_norm, 8), (softmax, 1)])
def test_no_pass_keeps_an_array(build: Callable[..., TensorView], blocks: int) -> None:
    """Each pass is inlined into its reduction: nothing but sums and addresses is in registers."""
    inputs = inputs_of(build, (4, 5003), torch.half)
    fusion, _ = in_shared_memory(build, inputs, blocks, 128, is_stored=True)
    assert not re.search(r"^\s*\w+ T\d+\[\d+\];", cuda_text(fusion), re.M)


def test_rows_are_copied_once_and_read_in_each_pass() -> None:
    fusion, params = in_shared_memory(softmax, [torch.empty(132, 65536, dtype=BF16)], 2, 512)
    assert "Rows in shared memory" in repr(params)
    text = cuda_text(fusion)
    assert text.count("cp_async") == text.count("cp_async_") > 0
    (copy,) = [line for line in text.splitlines() if "&T0[" in line]
    assert "cp_async" in copy
    check_prints_as_python(fusion)


def test_what_no_asynchronous_copy_takes_passes_through_registers() -> None:
    """Rows of an odd length in 16 bits: single elements, of two bytes."""
    fusion, _ = in_shared_memory(softmax, [torch.empty(4, 5003, dtype=BF16)], 1, 128)
    assert "cp_async" not in cuda_text(fusion)
