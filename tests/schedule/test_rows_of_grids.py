"""Rows that blocks of the whole grid share: what no cluster can hold is read once, and blocks take
such rows in turns."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text, has_nvrtc
from machine_code import entry_body, instructions, resources
from scheduled_runs import check_close, check_prints_as_python, define
from suite_kernels import OnlyReserved

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    ParallelType,
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
    """The mean is ten times the deviation: squares have to be summed about it."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) + 10).to(dtype)


def softmax(fd: FusionDefinition, x: TensorView) -> TensorView:
    ops = fd.ops
    wide = ops.cast(x, FLOAT)
    powers = ops.exp(ops.sub(wide, ops.broadcast(ops.max(wide, [1]), [False, True])))
    total = ops.broadcast(ops.sum(powers, [1]), [False, True])
    return ops.cast(ops.div(powers, total), x.dtype())


def batch_norm(fd: FusionDefinition, x: TensorView, weight: TensorView) -> list[TensorView]:
    """The mean of each channel is an output as well."""
    ops = fd.ops
    over = [True, False, True]
    wide = ops.cast(x, FLOAT)
    mean = ops.mean(wide, [0, 2])
    centred = ops.sub(wide, ops.broadcast(mean, over))
    var = ops.mean(ops.mul(centred, centred), [0, 2])
    scale = ops.mul(ops.rsqrt(ops.add(var, 1e-5)), weight)
    y = ops.mul(centred, ops.broadcast(scale, over))
    return [ops.cast(y, x.dtype()), mean]


def references(build: Callable[..., object], inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    x = inputs[0].double()
    if build is softmax:
        return [torch.softmax(x, 1)]
    mean = x.mean([0, 2], keepdim=True)
    var = (x - mean).square().mean([0, 2], keepdim=True)
    y = (x - mean) * torch.rsqrt(var + 1e-5) * inputs[1].double()[:, None]
    return [y, mean.flatten()]


def in_turns(
    build: Callable[..., object],
    inputs: Sequence[torch.Tensor],
    blocks: int,
    rows: int,
    threads: int,
) -> tuple[Fusion, ReductionParams]:
    """Scheduled so, whatever the scheduler would choose for these sizes."""
    fusion = define(build, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    rows = min(rows, inputs[0].shape[0 if build is softmax else 1])
    reduced = inputs[0].numel() // inputs[0].shape[0 if build is softmax else 1]
    vectors = math.ceil(reduced / params.unroll_factor_inner_reduction)
    params.persistent_kernel = params.cross_grid_inner_reduction = True
    params.project_persistent_buffers = params.keeps_rows_in_shared_memory = True
    params.grid_dim_inner_reduction = ParallelType.grid_x
    params.grid_dim_iter_dom = ParallelType.grid_y
    params.blocks_per_reduction = blocks
    params.blocks_per_cluster = params.elements_per_chunk = 1
    part = math.ceil(vectors / blocks)
    params.batches_per_block_inner_reduction = math.ceil(part / threads)
    threads = math.ceil(part / params.batches_per_block_inner_reduction)
    params.multiple_reds_per_blk = params.pad_inner_reduction_to_warp = False
    params.lparams = LaunchParams(blocks, rows, -1, threads, -1, -1)
    schedule.schedule(fusion, INNER, params)
    return fusion, params


def run(
    fusion: Fusion, params: ReductionParams, inputs: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    return executor.run(inputs, params.lparams, params.cparams)


@pytest.mark.parametrize("dtype", [BF16, torch.float32], ids=str)
@pytest.mark.parametrize("shape", [(4, 4096), (3, 1000), (1, 64), (5, 5004)], ids=str)
def test_rows_of_any_length(target: str, dtype: torch.dtype, shape: tuple[int, int]) -> None:
    inputs = [random(*shape, dtype=dtype).to(target)]
    for blocks, rows in ((3, 2), (4, 1)):
        fusion, params = in_turns(softmax, inputs, blocks, rows, 32)
        for found, expected in zip(
            run(fusion, params, inputs), references(softmax, inputs), strict=True
        ):
            check_close(found, expected)


@pytest.mark.parametrize("dtype", [BF16, torch.float32], ids=str)
@pytest.mark.parametrize("shape", [(8, 6, 64), (3, 5, 40), (16, 1, 8)], ids=str)
def test_statistics_over_outer_and_inner_axes(
    target: str, dtype: torch.dtype, shape: tuple[int, int, int]
) -> None:
    inputs = [random(*shape, dtype=dtype).to(target), random(shape[1], seed=1).to(target)]
    for blocks, rows in ((4, 2), (2, 3)):
        fusion, params = in_turns(batch_norm, inputs, blocks, rows, 32)
        found = run(fusion, params, inputs)
        expected = references(batch_norm, inputs)
        scale = expected[0].abs().max().item()
        tolerance = 1.6e-2 if dtype == BF16 else 2e-5
        torch.testing.assert_close(
            found[0].double(), expected[0], rtol=tolerance, atol=tolerance * scale
        )
        check_close(found[1], expected[1])


def rms_norm(fd: FusionDefinition, x: TensorView) -> TensorView:
    ops = fd.ops
    wide = ops.cast(x, FLOAT)
    scale = ops.rsqrt(ops.add(ops.mean(ops.mul(wide, wide), [1]), 1e-5))
    return ops.cast(ops.mul(wide, ops.broadcast(scale, [False, True])), x.dtype())


def test_few_long_rows_are_read_once() -> None:
    """64 blocks share one of eight rows at a time: four blocks of a multiprocessor have parts of
    different rows, and registers and shared memory for them."""
    with OnlyReserved():
        inputs = [torch.empty(64, 1 << 20, dtype=BF16)]
    fusion = define(rms_norm, inputs).fusion
    params = schedule.schedule(fusion, INNER, inputs, "cuda")
    assert params.keeps_rows_in_shared_memory
    assert params.cross_grid_inner_reduction
    assert f"Blocks per reduction: {params.blocks_per_reduction}" in repr(params)
    grid = (params.lparams.gdimx, params.lparams.gdimy)
    assert (grid, params.lparams.bdimx) == ((64, 8), 256)
    assert params.batches_per_block_inner_reduction == 8
    assert params.cparams.maxrregcount == 64
    text = cuda_text(fusion)
    (copy,) = [line for line in text.splitlines() if "&T0[" in line]
    assert "cp_async" in copy
    assert text.count("grid_allreduce<") == 1
    check_prints_as_python(fusion)


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_four_blocks_fit_on_a_multiprocessor() -> None:
    """In machine code: registers for all of them, nothing in local memory, 16 bytes a copy."""
    with OnlyReserved():
        inputs = [torch.empty(64, 1 << 20, dtype=BF16)]
    fusion = define(rms_norm, inputs).fusion
    params = schedule.schedule(fusion, INNER, inputs, "cuda")
    texts = fusion.compile_cuda(DataType.Int32, maxrregcount=params.cparams.maxrregcount)
    found = resources(texts.cubin)[texts.name]
    assert 4 * params.lparams.bdimx * found.registers <= 64 * 1024
    assert found.stack_bytes == 0
    copies = [text for text in instructions(entry_body(texts.ptx)) if "cp.async.cg" in text]
    assert copies
    assert all(re.search(r"\], 16[,;]", text) for text in copies), copies[0]


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (rms_norm, (64, 1 << 20)),
        (batch_norm, (256, 64, 12544)),
        (batch_norm, (64, 48, 64 * 1024)),
        (batch_norm, (1, 16, 1 << 23)),
    ],
)
def test_shared_memory_has_room_for_four_blocks(
    build: Callable[..., object], shape: tuple[int, ...]
) -> None:
    """Blocks have room for their rows, and for scratch of sums: or a launch would be refused."""
    with OnlyReserved():
        inputs = [torch.empty(shape, dtype=BF16)]
        if build is batch_norm:
            inputs.append(torch.empty(shape[1]))
    fusion = define(build, inputs, static_sizes=True).fusion
    params = schedule.schedule(fusion, INNER, inputs, "cuda")
    assert params.cross_grid_inner_reduction
    assert params.lparams.gdimx * params.lparams.gdimy <= 4 * 132
    reserved, room = 1024, 228 * 1024  # of a block, and of a multiprocessor
    bytes_of_block = fusion.lower(target="cuda").shared_bytes().value()
    assert 4 * (bytes_of_block + reserved) <= room
    assert 4 * params.lparams.bdimx * params.cparams.maxrregcount <= 64 * 1024


def test_a_mean_and_squares_about_it_are_one_barrier() -> None:
    inputs = [random(4, 3, 64), random(3, seed=1)]
    fusion, _ = in_turns(batch_norm, inputs, 2, 2, 32)
    text = cuda_text(fusion)
    assert text.count("grid_allreduce_welford<") == text.count("grid_allreduce") == 1
    check_prints_as_python(fusion)


def test_each_turn_exchanges_anew() -> None:
    """Softmax needs a maximum and a sum of each row: two barriers."""
    fusion, _ = in_turns(softmax, [random(8, 4096)], 4, 2, 32)
    text = cuda_text(fusion)
    assert text.count("grid_allreduce<") == 2
    assert "cluster" not in text


@pytest.mark.parametrize(
    ("build", "shape", "takes_turns"),
    [
        (rms_norm, (64, 1 << 20), True),
        (rms_norm, (1, 1 << 22), True),
        (softmax, (8, 1 << 21), True),
        (rms_norm, (64, (1 << 20) + 1), False),  # odd: no asynchronous copies
        (rms_norm, (64, 4096), False),  # rows of one block
        (rms_norm, (64, 1 << 26), False),  # larger than all shared memory
        (rms_norm, (132, 1 << 20), False),  # a row for each multiprocessor: read again
        (batch_norm, (256, 64, 12544), True),
        (batch_norm, (2, 64, 8 * 200_003), False),  # a Welford, and no equal shares
    ],
)
def test_which_rows_take_turns(
    build: Callable[..., object], shape: tuple[int, ...], takes_turns: bool
) -> None:
    with OnlyReserved():
        inputs = [torch.empty(shape, dtype=BF16)]
        if build is batch_norm:
            inputs.append(torch.empty(shape[1]))
    fusion = define(build, inputs, static_sizes=build is batch_norm).fusion
    if INNER not in schedule.find_compatible_schedulers(fusion, inputs, "cuda"):
        assert not takes_turns
        return
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    assert (params.persistent_kernel and params.cross_grid_inner_reduction) == takes_turns
