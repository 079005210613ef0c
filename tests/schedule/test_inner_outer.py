"""The scheduler of norms backward with gradients of their weights: values, schedules as text,
params, and what it refuses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch
import torch.nn.functional as F
from cuda_kernels import cuda_text
from scheduled_runs import check_prints_as_python, define
from suite_kernels import OnlyReserved

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    ParallelType,
    SchedulerType,
    schedule,
    segment,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import ReductionParams

INNER_OUTER = SchedulerType.inner_outer_persistent
FLOAT = DataType.Float
TOLERANCES = {  # of sums over some hundred rows
    torch.float64: (1e-11, 1e-11),
    torch.float32: (1e-4, 1e-4),
    torch.float16: (4e-3, 2e-2),
    torch.bfloat16: (2e-2, 1e-1),
}


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def check(
    build: Callable,
    inputs: Sequence[torch.Tensor],
    target: str,
    expected: Sequence[torch.Tensor],
) -> ReductionParams:
    """The schedule for a GPU computes the same on a processor."""
    here = [x.to(target) for x in inputs]
    fusion = define(build, here).fusion
    params = schedule.schedule(fusion, INNER_OUTER, here, "cuda")
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here, params.lparams, params.cparams)
    found = executor.run(here, params.lparams, params.cparams)
    for own, reference in zip(found, expected, strict=True):
        rtol, atol = TOLERANCES[own.dtype]
        torch.testing.assert_close(own.cpu().double(), reference.double(), rtol=rtol, atol=atol)
    return params


def backward(has_mean: bool) -> Callable:
    """The backward pass of a layer norm with a bias, or of an RMS norm, with its parameters."""

    def build(fd, x, dy, w):
        ops = fd.ops
        is_wide = x.dtype() in (FLOAT, DataType.Double)

        def wide(t):
            return t if is_wide else ops.cast(t, FLOAT)

        def narrow(t):
            return t if is_wide else ops.cast(t, x.dtype())

        def mean(t):
            return ops.mean(t, [1], True)

        g, c = wide(dy), wide(x)
        if has_mean:
            c = ops.sub(c, mean(c))
        rstd = ops.rsqrt(ops.add(mean(ops.mul(c, c)), 1e-5))
        xhat = ops.mul(c, rstd)
        a = ops.mul(g, ops.broadcast(wide(w), [True, False]))
        inner = ops.mul(xhat, mean(ops.mul(a, xhat)))
        if has_mean:
            inner = ops.add(inner, mean(a))
        outs = [ops.mul(rstd, ops.sub(a, inner)), ops.sum(ops.mul(g, xhat), [0])]
        if has_mean:
            outs.append(ops.sum(g, [0]))
        return [narrow(t) for t in outs]

    return build


def gradients(
    has_mean: bool, x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor
) -> list[torch.Tensor]:
    leaf, weight = x.double().requires_grad_(), w.double().requires_grad_()
    bias = torch.zeros_like(weight).requires_grad_()
    size = (x.shape[1],)
    if has_mean:
        F.layer_norm(leaf, size, weight, bias, 1e-5).backward(dy.double())
        return [leaf.grad, weight.grad, bias.grad]
    (leaf * torch.rsqrt(leaf.square().mean(1, True) + 1e-5) * weight).backward(dy.double())
    return [leaf.grad, weight.grad]


@pytest.mark.parametrize("has_mean", [True, False], ids=["layernorm", "rmsnorm"])
@pytest.mark.parametrize(
    "shape", [(33, 1000), (64, 264), (5, 7), (300, 64), (700, 33), (9, 5001)], ids=str
)
def test_shapes(target: str, has_mean: bool, shape: tuple[int, int]) -> None:
    inputs = [random(*shape), random(*shape, seed=1), random(shape[1], seed=2)]
    check(backward(has_mean), inputs, target, gradients(has_mean, *inputs))


def of_length(columns: int, dtype: torch.dtype, has_mean: bool = True) -> FusionDefinition:
    """The definition says how long rows are, and not how many."""
    stored = DataType.Float if dtype == torch.float32 else DataType.BFloat16
    with FusionDefinition() as fd:
        x, dy = (fd.define_tensor([-1, columns], contiguity=True, dtype=stored) for _ in range(2))
        w = fd.define_tensor([columns], contiguity=True, dtype=stored)
        for out in backward(has_mean)(fd, x, dy, w):
            fd.add_output(out)
    return fd


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("columns", [1237, 4287, 6263])
def test_threads_of_a_known_length_are_a_constant(columns: int, dtype: torch.dtype) -> None:
    """So all batches but the last one are whole: compilers know the range of a thread's place."""
    inputs = [torch.empty(8192, columns, dtype=dtype)] * 2 + [torch.empty(columns, dtype=dtype)]
    fusion = of_length(columns, dtype).fusion
    params = schedule.schedule(fusion, INNER_OUTER, inputs, "cuda")
    assert params.static_bdimx
    threads = params.lparams.bdimx * params.lparams.bdimy
    batches = params.batches_per_block_inner_reduction
    assert (batches - 1) * threads < columns <= batches * threads
    text = cuda_text(fusion)
    assert f"* {threads} < {columns}" in text
    assert re.search(rf"__builtin_assume\(i\d+ < {threads}\);", text)
    check_prints_as_python(fusion)


@pytest.mark.parametrize(
    ("rows", "columns"), [(8192, 4096), (1289, 10_515), (80_107, 233)], ids=str
)
def test_where_all_batches_are_tested_or_none(rows: int, columns: int) -> None:
    """Batches that divide a row need no tests; the last block of a cluster has fewer elements; and
    rows of one warp are as fast so."""
    inputs = [torch.empty(rows, columns)] * 2 + [torch.empty(columns)]
    fusion = of_length(columns, torch.float32).fusion
    params = schedule.compute_heuristics(fusion, INNER_OUTER, inputs, "cuda")
    assert not params.static_bdimx


@pytest.mark.parametrize("has_mean", [True, False], ids=["layernorm", "rmsnorm"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("columns", [31, 1237])
def test_rows_of_a_known_length(
    target: str, has_mean: bool, dtype: torch.dtype, columns: int
) -> None:
    inputs = [
        random(*shape, dtype=dtype, seed=seed)
        for seed, shape in enumerate([(301, columns), (301, columns), (columns,)])
    ]
    fusion = of_length(columns, dtype, has_mean).fusion
    here = [x.to(target) for x in inputs]
    params = schedule.schedule(fusion, INNER_OUTER, here, "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, here, params.lparams, params.cparams)
    found = executor.run(here, params.lparams, params.cparams)
    for own, reference in zip(found, gradients(has_mean, *inputs), strict=True):
        rtol, atol = TOLERANCES[dtype]
        torch.testing.assert_close(own.cpu().double(), reference.double(), rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", list(TOLERANCES), ids=str)
def test_dtypes(target: str, dtype: torch.dtype) -> None:
    shapes = [(130, 256), (130, 256), (256,)]
    inputs = [random(*shape, dtype=dtype, seed=seed) for seed, shape in enumerate(shapes)]
    params = check(backward(True), inputs, target, gradients(True, *inputs))
    assert params.combined_inner_outer


def test_misaligned_rows(target: str) -> None:
    wide = [random(40, 257, dtype=torch.bfloat16, seed=seed) for seed in range(2)]
    inputs = [*(x[:, 1:] for x in wide), random(256, dtype=torch.bfloat16, seed=2)]
    check(backward(True), inputs, target, gradients(True, *inputs))


def test_rows_of_several_dimensions(target: str) -> None:
    def build(fd, x):
        ops = fd.ops
        y = ops.div(x, ops.add(ops.sum(ops.mul(x, x), [2], True), 1.0))
        return y, ops.sum(y, [0, 1])

    x = random(6, 10, 200)
    y = x.double() / (x.double().square().sum(2, keepdim=True) + 1)
    check(build, [x], target, [y, y.sum((0, 1))])


def test_the_kernel_compiles_for_a_gpu() -> None:
    inputs = [torch.empty(16384, 4096, dtype=torch.bfloat16)] * 2
    inputs.append(torch.empty(4096, dtype=torch.bfloat16))
    fd = define(backward(True), inputs)
    params = schedule.schedule(fd.fusion, INNER_OUTER, inputs, "cuda")
    assert (params.lparams.bdimx, params.lparams.bdimy) == (32, 8)
    assert params.lparams.gdimx * params.cparams.maxrregcount * 256 <= 132 * 64 * 1024
    text = cuda_text(fd.fusion)
    assert "grid_sync" in text
    rows = text.index("Main of 2 stages")
    assert "load_vector<8, Cache::ReadOnly>(" not in text[rows:]  # weights stay in registers
    assert "< i0" not in text[rows:].partition("cp_async_commit")[2]  # nor are rows tested


@pytest.mark.parametrize(
    ("shape", "lanes"), [((4000, 64), 2), ((4000, 139), 1), ((9, 32), 1), ((2000, 512), 4)], ids=str
)
def test_each_warp_of_a_block_has_a_short_row(
    target: str, shape: tuple[int, int], lanes: int
) -> None:
    inputs = [random(*shape), random(*shape, seed=1), random(shape[1], seed=2)]
    params = check(backward(True), inputs, target, gradients(True, *inputs))
    assert params.multiple_reds_per_blk
    assert (params.lparams.bdimx, params.lparams.bdimy) == (32, 8)
    assert params.unroll_factor_inner_reduction == lanes


@pytest.mark.parametrize(("rows", "columns"), [(7, 16127), (40, 12344)])
def test_clusters_share_rows_that_fill_a_multiprocessor(
    target: str, rows: int, columns: int
) -> None:
    shapes = [(rows, columns), (rows, columns), (columns,)]
    inputs = [random(*s, dtype=torch.bfloat16, seed=seed) for seed, s in enumerate(shapes)]
    params = check(backward(True), inputs, target, gradients(True, *inputs))
    assert params.blocks_per_cluster > 1
    assert params.lparams.gdimx == params.blocks_per_cluster
    assert params.lparams.gdimy == params.blocks_per_reduction


@pytest.mark.parametrize(
    ("rows", "columns", "shares_parts"), [(885, 30909, False), (1289, 10515, True)], ids=str
)
def test_a_kernel_of_clusters_sums_the_parts_of_all_of_them(
    rows: int, columns: int, shares_parts: bool
) -> None:
    """Threads share the many parts of a column; of few parts, each adds up those of a column."""
    dtype = torch.float32 if shares_parts else torch.bfloat16
    inputs = [torch.empty(rows, columns, dtype=dtype)] * 2 + [torch.empty(columns, dtype=dtype)]
    fusion = define(backward(True), inputs).fusion
    schedule.schedule(fusion, INNER_OUTER, inputs, "cuda")
    text = cuda_text(fusion)
    of_rows, of_parts = text.split("grid_sync<true, true, false>")
    assert "cluster_reduce" in of_rows
    assert "cluster_reduce" not in of_parts
    assert ("block_reduce" in of_parts) == shares_parts


@pytest.mark.parametrize("shares_parts", [True, False], ids=["shared", "own"])
@pytest.mark.parametrize("shape", [(70, 999), (517, 47)], ids=str)
def test_parts_of_sums_are_added_up_in_both_ways(
    target: str, shares_parts: bool, shape: tuple[int, int]
) -> None:
    inputs = [random(*shape), random(*shape, seed=1), random(shape[1], seed=2)]
    here = [x.to(target) for x in inputs]
    fusion = define(backward(True), here).fusion
    params = schedule.compute_heuristics(fusion, INNER_OUTER, here, "cuda")
    params.block_dim_outer_reduction = ParallelType.block_y if shares_parts else ParallelType.serial
    schedule.schedule(fusion, INNER_OUTER, params)
    executor = KernelExecutor()
    executor.compile(fusion, here, params.lparams, params.cparams)
    found = executor.run(here, params.lparams, params.cparams)
    for own, reference in zip(found, gradients(True, *inputs), strict=True):
        torch.testing.assert_close(own.cpu().double(), reference, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("has_mean", "dtype", "rows", "columns", "cluster", "stages"),
    [
        (False, torch.float16, 521, 189187, 16, 1),  # two blocks of each multiprocessor
        (True, torch.bfloat16, 191, 131072, 16, 2),
        (True, torch.float16, 128, 262144, 16, 2),
        (True, torch.float32, 83, 225427, 16, 1),
    ],
    ids=str,
)
def test_registers_have_the_sums_of_long_rows_alone(
    has_mean: bool, dtype: torch.dtype, rows: int, columns: int, cluster: int, stages: int
) -> None:
    """Clusters keep the rows in shared memory; one kernel reads them once."""
    with OnlyReserved():
        x, w = torch.empty(rows, columns, dtype=dtype), torch.empty(columns, dtype=dtype)
    fusion = define(backward(has_mean), [x, x, w], static_sizes=True).fusion
    (group,) = segment(fusion, [x, x, w], "cuda").groups
    assert group.scheduler == INNER_OUTER
    params = group.params
    assert params.keeps_rows_in_shared_memory
    assert (params.blocks_per_cluster, params.circular_buffer_stages) == (cluster, stages)
    of_thread = params.batches_per_block_inner_reduction * params.unroll_factor_inner_reduction
    assert 0 <= of_thread * 32 * params.lparams.bdimy * cluster - columns < columns // 10


def test_threads_have_many_elements_where_two_blocks_have_a_multiprocessor() -> None:
    with OnlyReserved():
        x, w = torch.empty(191, 131072, dtype=torch.bfloat16), torch.empty(131072).bfloat16()
    fusion = define(backward(True), [x, x, w], static_sizes=True).fusion
    params = schedule.compute_heuristics(fusion, INNER_OUTER, [x, x, w], "cuda")
    assert (params.lparams.bdimx, params.lparams.bdimy) == (32, 8)
    assert params.batches_per_block_inner_reduction * params.unroll_factor_inner_reduction == 32
    assert params.cparams.maxrregcount == 128


@pytest.mark.parametrize("columns", [190001, 150001, 196607], ids=str)
def test_rows_leave_shared_memory_for_what_threads_send(columns: int) -> None:
    with OnlyReserved():
        x, w = torch.empty(500, columns), torch.empty(columns)
    fusion = define(backward(True), [x, x, w], static_sizes=True).fusion
    params = schedule.schedule(fusion, INNER_OUTER, [x, x, w], "cuda")
    assert params.keeps_rows_in_shared_memory
    text = cuda_text(fusion)
    begins = [int(offset) for offset in re.findall(r"smem \+ (\d+)", text)]
    of_a_reduction = 2 * 4 * (32 * params.lparams.bdimy) + 2 * 8 * params.blocks_per_cluster
    blocks_of_sm = 1024 // (32 * params.lparams.bdimy)
    assert max(begins) + of_a_reduction <= 228 * 1024 // blocks_of_sm - 1024


@pytest.mark.parametrize(
    ("dtype", "rows", "columns"),
    [(torch.float32, 3, 250001), (torch.float32, 128, 196608)],
    ids=["few-rows", "whole-vectors"],
)
def test_rows_of_the_largest_clusters_are_cut_off_columns(
    dtype: torch.dtype, rows: int, columns: int
) -> None:
    """Where rows are fewer than clusters, or whole vectors are read quickly enough twice."""
    with OnlyReserved():
        x, w = torch.empty(rows, columns, dtype=dtype), torch.empty(columns, dtype=dtype)
    fusion = define(backward(True), [x, x, w], static_sizes=True).fusion
    schedulers = [group.scheduler for group in segment(fusion, [x, x, w], "cuda").groups]
    assert len(schedulers) > 1
    assert INNER_OUTER not in schedulers


@pytest.mark.parametrize("has_mean", [True, False], ids=["layernorm", "rmsnorm"])
@pytest.mark.parametrize(
    ("dtype", "shape", "cluster", "stages", "lanes"),
    [
        (torch.bfloat16, (9, 501), 1, 1, 1),
        (torch.float16, (7, 1021), 2, 1, 1),
        (torch.float32, (11, 515), 2, 2, 1),
        (torch.bfloat16, (13, 1024), 2, 2, 8),
        (torch.bfloat16, (5, 1000), 1, 1, 8),
    ],
    ids=str,
)
def test_rows_in_shared_memory(
    target: str,
    has_mean: bool,
    dtype: torch.dtype,
    shape: tuple[int, int],
    cluster: int,
    stages: int,
    lanes: int,
) -> None:
    shapes = [shape, shape, (shape[1],)]
    inputs = [random(*s, dtype=dtype, seed=seed) for seed, s in enumerate(shapes)]
    here = [x.to(target) for x in inputs]
    fusion = define(backward(has_mean), here).fusion
    params = schedule.compute_heuristics(fusion, INNER_OUTER, here, "cuda")
    vectors, warps, blocks = -(-shape[1] // (cluster * lanes)), 2, 4
    params.multiple_reds_per_blk = False
    params.project_persistent_buffers = False
    params.keeps_rows_in_shared_memory = True
    params.circular_buffer_stages = stages
    params.blocks_per_cluster = cluster
    params.blocks_per_reduction = blocks
    params.unroll_factor_inner_reduction = lanes
    params.batches_per_block_inner_reduction = -(-vectors // (32 * warps))
    params.vector_widths = [lanes] * len(params.vector_widths)
    params.vectorization_factor_tmp_gmem_write = min(lanes, 4)
    grid = (cluster, blocks) if cluster > 1 else (blocks, -1)
    params.lparams = LaunchParams(*grid, -1, 32, warps, -1)
    schedule.schedule(fusion, INNER_OUTER, params)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here, params.lparams, params.cparams)
    found = executor.run(here, params.lparams, params.cparams)
    for own, reference in zip(found, gradients(has_mean, *inputs), strict=True):
        rtol, atol = TOLERANCES[dtype]
        torch.testing.assert_close(own.cpu().double(), reference, rtol=rtol, atol=atol)


@pytest.mark.parametrize(("columns", "threads"), [(53, 8), (209, 16), (255, 32)])
def test_short_rows_that_no_copy_stages_share_a_warp(
    target: str, columns: int, threads: int
) -> None:
    shapes = [(4000, columns), (4000, columns), (columns,)]
    inputs = [random(*s, dtype=torch.float16, seed=seed) for seed, s in enumerate(shapes)]
    here = [x.to(target) for x in inputs]
    fusion = define(backward(False), here, static_sizes=True).fusion
    params = schedule.schedule(fusion, INNER_OUTER, here, "cuda")
    assert (params.lparams.bdimx, params.lparams.bdimy) == (threads, 256 // threads)
    executor = KernelExecutor()
    executor.compile(fusion, here, params.lparams, params.cparams)
    found = executor.run(here, params.lparams, params.cparams)
    for own, reference in zip(found, gradients(False, *inputs), strict=True):
        torch.testing.assert_close(own.cpu().double(), reference, rtol=4e-3, atol=5e-2)


def test_rows_of_some_vectors_have_one_warp_each() -> None:
    inputs = [torch.empty(16384, 1024, dtype=torch.bfloat16)] * 2
    inputs.append(torch.empty(1024, dtype=torch.bfloat16))
    fusion = define(backward(False), inputs).fusion
    params = schedule.schedule(fusion, INNER_OUTER, inputs, "cuda")
    assert (params.lparams.bdimx, params.lparams.bdimy) == (32, 8)
    assert params.batches_per_block_inner_reduction == 4
    assert "Main of 4 stages" in cuda_text(fusion)  # enough loads ahead


def test_short_rows_wait_for_no_other_warp() -> None:
    x = torch.empty(524288, 64)
    fusion = define(backward(True), [x, x, torch.empty(64)]).fusion
    schedule.schedule(fusion, INNER_OUTER, [x, x, torch.empty(64)], "cuda")
    text = cuda_text(fusion)
    rows = text[text.index("Main of 4 stages") : text.index("grid_sync<")]  # enough loads ahead
    assert rows.count("block_reduce_group<true, false, ") == 2  # along x: one warp
    # Sums over rows are those of a block before they are stored.
    assert "block_reduce" in rows.rpartition("cp_async_wait<0>")[2]


@pytest.mark.parametrize(("has_mean", "rounds"), [(True, 2), (False, 1)], ids=["layer", "rms"])
def test_sums_do_not_wait_for_a_common_factor(has_mean: bool, rounds: int) -> None:
    """sum(a * xhat) is sum(a * (x - mean)) times what xhat was divided by: with the sum of squares
    it is one reduction, as sum(a) is with that of the mean."""
    x = torch.empty(4096, 2048, dtype=torch.bfloat16)
    inputs = [x, torch.empty_like(x), torch.empty(2048, dtype=torch.bfloat16)]
    fusion = define(backward(has_mean), inputs).fusion
    schedule.schedule(fusion, INNER_OUTER, inputs, "cuda")
    text = cuda_text(fusion)
    of_a_row = text[text.index("block_reduce") : text.index("grid_sync<")]
    assert re.findall(r"block_reduce(\w*)<", of_a_row) == ["_group"] * rounds
    assert of_a_row.count("ReduceAdd") == 2 * rounds


def test_a_factor_that_differs_within_a_sum_stays(target: str) -> None:
    """exp(mean) is alike in a row, the mask is not; and a sum of the factor alone has no other."""

    def build(fd, x, w):
        ops = fd.ops
        scale = ops.broadcast(ops.exp(ops.mul(ops.sum(x, [1]), 1e-3)), [False, True])
        mask = ops.cast(ops.gt(x, scale), FLOAT)
        first = ops.sum(ops.mul(ops.mul(scale, mask), x), [1])
        second = ops.sum(ops.mul(ops.mul(x, scale), ops.broadcast(w, [True, False])), [1])
        rows = ops.broadcast(ops.add(first, second), [False, True])
        return [ops.mul(x, rows), ops.sum(ops.mul(x, rows), [0])]

    x, w = random(40, 300), random(300, seed=1)
    wide, weights = x.double(), w.double()
    scale = (wide.sum(1, True) * 1e-3).exp()
    first = (scale * (wide > scale) * wide).sum(1, True)
    rows = first + (wide * scale * weights).sum(1, True)
    check(build, [x, w], target, [wide * rows, (wide * rows).sum(0)])


def test_rows_are_kept_as_what_has_fewest_bytes(target: str) -> None:
    def normalized(fd, *parts):
        ops = fd.ops
        x = parts[0] if len(parts) == 1 else ops.add(*parts)
        y = ops.div(x, ops.add(ops.sum(ops.mul(x, x), [1], True), 1.0))
        return y, ops.sum(y, [0])

    for count in (1, 2):  # the input, or the sum of two
        parts = [random(9000, 100, seed=seed) for seed in range(count)]
        x = sum(part.double() for part in parts)
        y = x / (x.square().sum(1, keepdim=True) + 1)
        params = check(normalized, parts, target, [y, y.sum(0)])
        assert params.project_persistent_buffers == (count == 1)
        assert params.circular_buffer_stages > 1


def reason(build: Callable, *inputs: torch.Tensor, target: str = "cuda") -> str:
    fd = define(build, inputs)
    accepted, text = schedule.can_schedule(fd.fusion, INNER_OUTER, inputs, target)
    assert not accepted
    return text.partition("because : ")[2]


def test_what_it_refuses() -> None:
    x = random(20, 30)

    def meets(fd, x):
        columns = fd.ops.broadcast(fd.ops.sum(x, [0]), [True, False])
        return fd.ops.sum(x, [1]), fd.ops.mul(x, columns)

    begin = "to use combined reduction, "
    assert reason(lambda fd, x: fd.ops.sum(x, [0]), x) == begin + "inner reductions are required"
    assert reason(lambda fd, x: fd.ops.sum(x, [1]), x) == begin + "outer reductions are required"
    assert reason(meets, x) == begin + "results of inner and outer reductions must not meet"
    assert (
        reason(lambda fd, x: (fd.ops.sum(x, [1]), fd.ops.sum(x, [0, 1])), x)
        == begin + "inner and outer reductions must have mirrored axes"
    )
    wide = [torch.empty(20, 300000)] * 2 + [torch.empty(300000)]
    assert reason(backward(True), *wide) == begin + "rows must fit on chip"
    small = [x, x, random(30)]
    text = reason(backward(True), *small, target="cpu")
    assert text == begin + "sums over rows must stay in registers"
