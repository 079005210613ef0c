"""Rows that the blocks of a cluster share: softmax and norms of what one multiprocessor cannot
hold."""

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


def layer_norm(fd: FusionDefinition, x: TensorView) -> TensorView:
    ops = fd.ops
    wide = ops.cast(x, FLOAT)
    var, mean = ops.var_mean(wide, [1], correction=0)
    scale = ops.broadcast(ops.rsqrt(ops.add(var, 1e-5)), [False, True])
    centered = ops.sub(wide, ops.broadcast(mean, [False, True]))
    return ops.cast(ops.mul(centered, scale), x.dtype())


REFERENCES = {
    softmax: lambda x: torch.softmax(x.double(), 1),
    layer_norm: lambda x: torch.nn.functional.layer_norm(x.double(), x.shape[1:]),
}


def shared(
    build: Callable[..., TensorView], inputs: Sequence[torch.Tensor], blocks: int, threads: int
) -> tuple[Fusion, ReductionParams]:
    """Scheduled with clusters, whatever the scheduler would choose for these sizes."""
    fusion = define(build, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    rows, columns = inputs[0].shape
    part = math.ceil(math.ceil(columns / params.unroll_factor_inner_reduction) / blocks)
    params.blocks_per_cluster = blocks
    params.batches_per_block_inner_reduction = math.ceil(part / threads)
    params.multiple_reds_per_blk = params.pad_inner_reduction_to_warp = False
    threads = math.ceil(part / params.batches_per_block_inner_reduction)
    params.lparams = LaunchParams(blocks, rows, -1, threads, -1, -1)
    schedule.schedule(fusion, INNER, params)
    return fusion, params


def run(fusion: Fusion, params: ReductionParams, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    (out,) = executor.run(inputs, params.lparams, params.cparams)
    return out


def check(found: torch.Tensor, expected: torch.Tensor) -> None:
    rtol = 1.6e-2 if found.dtype == BF16 else 1e-5
    torch.testing.assert_close(found.cpu().double(), expected.cpu(), rtol=rtol, atol=1e-6)


def norm_gradient(fd: FusionDefinition, x: TensorView, dy: TensorView) -> TensorView:
    """The gradient of a layer norm without weights."""
    ops = fd.ops
    wide, gradient = ops.cast(x, FLOAT), ops.cast(dy, FLOAT)

    def mean(t: TensorView) -> TensorView:
        return ops.broadcast(ops.div(ops.sum(t, [1]), x.size(1)), [False, True])

    centered = ops.sub(wide, mean(wide))
    scale = ops.rsqrt(ops.add(mean(ops.mul(centered, centered)), 1e-5))
    normal = ops.mul(centered, scale)
    inner = ops.add(mean(gradient), ops.mul(normal, mean(ops.mul(gradient, normal))))
    return ops.cast(ops.mul(scale, ops.sub(gradient, inner)), x.dtype())


@pytest.mark.parametrize("dtype", [BF16, torch.float32], ids=str)
@pytest.mark.parametrize("shape", [(3, 1008), (5, 37), (4, 5003)], ids=str)
def test_sums_of_a_cluster_wait_once_for_a_mean(
    target: str, dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    """The deviation is multiplied behind the last sum: three exchanges are two."""
    inputs = [random(*shape, dtype=dtype, seed=seed).to(target) for seed in range(2)]
    x, dy = (t.double().requires_grad_() for t in inputs)
    y = torch.nn.functional.layer_norm(x, shape[1:])
    (expected,) = torch.autograd.grad(y, [x], dy.detach())
    for blocks, threads in ((2, 32), (8, 24)):
        fusion, params = shared(norm_gradient, inputs, blocks, threads)
        assert len(re.findall(r"cluster_reduce\w*<", cuda_text(fusion))) == 2
        found = run(fusion, params, inputs).double()
        rtol = 1.6e-2 if dtype == BF16 else 2e-5
        torch.testing.assert_close(
            found, expected.to(target), rtol=rtol, atol=rtol * expected.abs().max().item()
        )


@pytest.mark.parametrize("build", REFERENCES)
@pytest.mark.parametrize("dtype", [BF16, torch.float32], ids=str)
@pytest.mark.parametrize("shape", [(3, 1008), (1, 16), (5, 37), (2, 4096), (4, 5003)], ids=str)
def test_rows_of_any_length(
    target: str, build: Callable[..., TensorView], dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    x = random(*shape, dtype=dtype).to(target)
    for blocks, threads in ((2, 32), (8, 24)):
        fusion, params = shared(build, [x], blocks, threads)
        check(run(fusion, params, [x]), REFERENCES[build](x))


@pytest.mark.parametrize(("columns", "blocks"), [(262144, 8), (200003, 4)])
def test_long_rows_are_read_once(columns: int, blocks: int) -> None:
    """Odd rows are kept in shared memory, which has room for longer parts. A maximum and the sum
    about it are one exchange."""
    rows = torch.empty(132, columns, dtype=BF16)
    inputs = [between_vectors(rows) if columns % 2 else rows]  # else they were shifted
    fusion = define(softmax, inputs).fusion
    params = schedule.schedule(fusion, INNER, inputs, "cuda")
    assert params.blocks_per_cluster == blocks
    assert params.keeps_rows_in_shared_memory == (columns % 2 == 1)
    assert params.persistent_kernel
    assert f"Blocks per cluster: {params.blocks_per_cluster}" in repr(params)
    text = cuda_text(fusion)
    assert len(re.findall(rf"cluster_reduce\w*<{blocks}, ", text)) == 1
    assert "&T0[" not in text.split("cluster_reduce", 1)[1]
    check_prints_as_python(fusion)


def test_an_automatic_schedule_of_a_long_row(target: str) -> None:
    x = random(132, 150_001, dtype=BF16).to(target)
    fusion = define(softmax, [x]).fusion
    params = schedule.schedule(fusion, INNER, [x], "cuda")
    assert params.blocks_per_cluster > 1
    check(run(fusion, params, [x]), REFERENCES[softmax](x))


@pytest.mark.parametrize(
    ("columns", "blocks"),
    [(4096, 1), (32768, 1), (65536, 2), (131072, 4), (262144, 8), (1 << 22, 1)],
)
def test_clusters_are_for_rows_that_need_them(columns: int, blocks: int) -> None:
    """Two blocks of shorter ones fit on a multiprocessor; longer ones not even in a cluster."""
    inputs = [torch.empty(132, columns, dtype=BF16)]
    fusion = define(softmax, inputs).fusion
    assert schedule.compute_heuristics(fusion, INNER, inputs, "cuda").blocks_per_cluster == blocks


def test_processors_have_no_use_for_them() -> None:
    inputs = [torch.empty(32, 262144, dtype=BF16)]
    fusion = define(softmax, inputs).fusion
    assert schedule.compute_heuristics(fusion, INNER, inputs, "cpu").blocks_per_cluster == 1


def test_few_long_rows_are_shared() -> None:
    """One row of a million elements has no other schedule that keeps it."""
    inputs = [torch.empty(1, 1 << 18, dtype=BF16)]
    fusion = define(softmax, inputs).fusion
    assert INNER in schedule.find_compatible_schedulers(fusion, inputs, "cuda")
    assert schedule.compute_heuristics(fusion, INNER, inputs, "cuda").blocks_per_cluster == 8


@pytest.mark.parametrize(("dtype", "is_stored"), [(BF16, False), (torch.float32, False)], ids=str)
def test_single_elements_are_kept_as_floats(dtype: torch.dtype, is_stored: bool) -> None:
    """Elements of 16 bits would be packed with the one before, and wait for it."""
    inputs = [between_vectors(torch.empty(1745, 115_873, dtype=dtype))]
    fusion = define(softmax, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER, inputs, "cuda")
    assert params.unroll_factor_inner_reduction == 1
    assert params.project_persistent_buffers == is_stored
    assert params.blocks_per_cluster == 8
