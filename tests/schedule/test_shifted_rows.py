"""Rows that vectors do not divide, in loops that are shifted to where the vectors begin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import TOLERANCES, between_vectors, check_prints_as_python, define
from suite_kernels import OnlyReserved

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
INNER_OUTER = SchedulerType.inner_outer_persistent
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
    params.vector_widths = [lanes] * (len(inputs) + len(fusion.outputs()))
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
    # Weight and bias, in threads without an end of the row and in the others.
    assert len(re.findall(r"load_unaligned<8, ", text)) == 4
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


# ---- Random numbers ------------------------------------------------------------------------------


def dropped_sum(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    ops = fd.ops
    wide = ops.cast(x, FLOAT)
    noise = ops.uniform(0.0, 1.0, [x.size(0), x.size(1)], dtype=FLOAT)
    kept = ops.where(ops.lt(noise, 0.9), wide, 0.0)
    total = ops.broadcast(ops.sum(kept, [1]), KEPT)
    return [ops.cast(ops.sub(kept, total), x.dtype()), ops.cast(kept, x.dtype())]


def test_a_cipher_makes_the_numbers_of_four_lanes() -> None:
    fusion, _ = shifted(dropped_sum, inputs_of((512, 1289), dtype=torch.float16), 8)
    drawn = [line for line in cuda_text(fusion).splitlines() if "= random" in line]
    assert drawn
    for line in drawn:
        assert re.search(r"\(rng_seed, rng_offset, [^,]* \+ (i\d+) / 4, \1 % 4\)", line), line


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("columns", [519, 1289])
def test_numbers_are_those_of_their_elements(
    target: str, columns: int, dtype: torch.dtype, rng: torch.Generator
) -> None:
    (x,) = random_like(inputs_of((13, columns), dtype=dtype), rng, target)
    plain = define(dropped_sum, [x]).fusion
    params = schedule.compute_heuristics(plain, INNER, [between_vectors(x)], "cuda")
    assert not params.shifts_rows
    schedule.schedule(plain, INNER, params)
    found = []
    for fusion, lparams in (
        (plain, params.lparams),
        (shifted(dropped_sum, [x], 16 // dtype.itemsize)[0], LaunchParams()),
    ):
        executor = KernelExecutor()
        executor.compile(fusion, [x])
        torch.manual_seed(7)
        found.append(executor.run([x], lparams))
    (_, expected), (_, kept) = found
    assert torch.equal(kept, expected)
    assert 0.05 < (kept == 0).double().mean().item() < 0.15


# ---- Norms backward ------------------------------------------------------------------------------


def norm_backward(
    fd: FusionDefinition, x: TensorView, dy: TensorView, w: TensorView
) -> list[TensorView]:
    ops = fd.ops
    columns = x.size(1)
    centered, scale = moments(fd, ops.cast(x, FLOAT))
    normal, wide_dy = ops.mul(centered, scale), ops.cast(dy, FLOAT)
    gradient = ops.mul(wide_dy, ops.broadcast(ops.cast(w, FLOAT), [True, False]))

    def mean(t: TensorView) -> TensorView:
        return ops.broadcast(ops.div(ops.sum(t, [1]), columns), KEPT)

    inner = ops.add(mean(gradient), ops.mul(normal, mean(ops.mul(gradient, normal))))
    sums = [ops.sum(ops.mul(wide_dy, normal), [0]), ops.sum(wide_dy, [0])]
    return [ops.cast(t, x.dtype()) for t in (ops.mul(scale, ops.sub(gradient, inner)), *sums)]


def root_mean_square_backward(
    fd: FusionDefinition, x: TensorView, dy: TensorView, w: TensorView
) -> list[TensorView]:
    """The gradients of a norm without a mean."""
    ops = fd.ops
    wide, wide_dy = ops.cast(x, FLOAT), ops.cast(dy, FLOAT)

    def mean(t: TensorView) -> TensorView:
        return ops.broadcast(ops.div(ops.sum(t, [1]), x.size(1)), KEPT)

    scale = ops.rsqrt(ops.add(mean(ops.mul(wide, wide)), 1e-5))
    normal = ops.mul(wide, scale)
    gradient = ops.mul(wide_dy, ops.broadcast(ops.cast(w, FLOAT), [True, False]))
    inner = ops.mul(normal, mean(ops.mul(gradient, normal)))
    sums = ops.sum(ops.mul(wide_dy, normal), [0])
    return [ops.cast(t, x.dtype()) for t in (ops.mul(scale, ops.sub(gradient, inner)), sums)]


def shifted_backward(
    inputs: list[torch.Tensor],
    blocks: int,
    cluster: int,
    stages: int,
    *,
    is_shared: bool,
    lanes: int = 8,
) -> tuple[Fusion, ReductionParams]:
    """With so many blocks, or clusters, whose rows differ by a multiple of the lanes."""
    fusion = define(norm_backward, inputs).fusion
    params = schedule.compute_heuristics(fusion, INNER_OUTER, inputs, "cuda")
    batches = 2
    vectors = (inputs[0].shape[1] + 2 * lanes - 2) // lanes
    threads = -(-vectors // (cluster * batches))
    params.shifts_rows = params.vectorize_inner_reduction = True
    params.unroll_factor_inner_reduction = lanes
    params.vector_widths = [lanes] * 4 + [1, 1]  # x, dy, w, dx, and the sums over rows
    params.vectorization_factor_tmp_gmem_write = min(lanes, 4)
    params.batches_per_block_inner_reduction = batches
    params.blocks_per_reduction, params.blocks_per_cluster = blocks, cluster
    params.circular_buffer_stages = stages
    params.keeps_rows_in_shared_memory = is_shared
    params.project_persistent_buffers = stages > 1
    params.static_bdimx = params.multiple_reds_per_blk = False
    grid = (cluster, blocks) if cluster > 1 else (blocks, -1)
    params.lparams = LaunchParams(*grid, -1, 32, -(-threads // 32), -1)
    params.cparams.maxrregcount = 255
    schedule.schedule(fusion, INNER_OUTER, params)
    return fusion, params


def check_backward(fusion: Fusion, params: ReductionParams, inputs: list[torch.Tensor]) -> None:
    executor = KernelExecutor()
    executor.compile(fusion, inputs, params.lparams, params.cparams)
    found = executor.run(inputs, params.lparams, params.cparams)

    x, w = (t.double().requires_grad_() for t in (inputs[0], inputs[2]))
    b = torch.zeros_like(w, requires_grad=True)
    y = torch.nn.functional.layer_norm(x, w.shape, w, b, eps=1e-5)
    expected = torch.autograd.grad(y, (x, w, b), inputs[1].double())
    rtol, _ = TOLERANCES[inputs[0].dtype]
    for own, reference in zip(found, expected, strict=True):
        least = 4 * rtol * reference.abs().max().item()
        torch.testing.assert_close(own.double(), reference, rtol=rtol, atol=least)


LAYOUTS = {  # clusters, blocks of each, stages, whether shared memory keeps the rows
    "loaded late": (16, 1, 1, False),
    "loaded ahead": (8, 1, 2, False),
    "of clusters": (8, 2, 2, False),
    "in shared memory": (8, 2, 2, True),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("rows", "columns", "dtype"),
    [(301, 519, torch.float16), (67, 5003, torch.bfloat16), (5, 1283, torch.float16)],
    ids=str,
)
def test_norm_backward(
    target: str, layout: str, rows: int, columns: int, dtype: torch.dtype, rng: torch.Generator
) -> None:
    empty = inputs_of((rows, columns), (rows, columns), (columns,), dtype=dtype)
    inputs = random_like(empty, rng, target)
    blocks, cluster, stages, is_shared = LAYOUTS[layout]
    fusion, params = shifted_backward(inputs, blocks, cluster, stages, is_shared=is_shared)
    check_prints_as_python(fusion)
    check_backward(fusion, params, inputs)


@pytest.mark.parametrize("lanes", [2, 4])
@pytest.mark.parametrize("cluster", [1, 4])
def test_norm_backward_with_narrow_vectors(
    target: str, cluster: int, lanes: int, rng: torch.Generator
) -> None:
    """Fewer clusters have rows that begin at the same place of a vector: four, not eight."""
    empty = inputs_of((67, 1283), (67, 1283), (1283,), dtype=torch.bfloat16)
    inputs = random_like(empty, rng, target)
    fusion, params = shifted_backward(inputs, 4, cluster, 2, is_shared=False, lanes=lanes)
    assert f"cp_async_ca<{2 * lanes}>" in fusion.print_kernel(target="cuda")
    check_prints_as_python(fusion)
    check_backward(fusion, params, inputs)


def test_loads_ahead_are_vectors() -> None:
    """The last vector of a tensor, which has fewer elements, is loaded at once."""
    rows = inputs_of((512, 5003), (512, 5003), (5003,), dtype=torch.bfloat16)
    fusion, _ = shifted_backward(rows, 8, 1, 2, is_shared=False)
    text = cuda_text(fusion)
    assert "cp_async_cg<16>" in text
    assert not re.search(r"cp_async_c\w<(?!16)", text)
    assert re.search(r"T\d+_s\[.*\] = load_readonly\(T0\[", text)


# ---- What schedulers choose ----------------------------------------------------------------------


def chosen(build: Callable[..., Any], inputs: list[torch.Tensor]) -> ReductionParams:
    fusion = define(build, inputs, static_sizes=True).fusion
    return schedule.compute_heuristics(fusion, INNER, inputs, "cuda")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_rows_that_only_clusters_hold_are_shifted(dtype: torch.dtype) -> None:
    params = chosen(softmax_backward, inputs_of((397, 141081), (397, 141081), dtype=dtype))
    assert params.shifts_rows
    assert params.vector_widths == [8, 8, 8]
    assert params.blocks_per_cluster > 1
    assert not params.keeps_rows_in_shared_memory


@pytest.mark.parametrize(
    ("dtype", "columns", "batches"),
    [(torch.bfloat16, 275665, 9), (torch.float16, 306809, 10)],
    ids=str,
)
def test_two_blocks_of_shifted_rows_have_registers(
    dtype: torch.dtype, columns: int, batches: int
) -> None:
    """Beside elements as they are stored threads need few registers."""
    rows = inputs_of((512, columns), (columns,), (columns,), dtype=dtype)
    params = chosen(layer_norm, rows)
    assert params.shifts_rows
    assert params.project_persistent_buffers
    assert (params.blocks_per_cluster, params.batches_per_block_inner_reduction) == (8, batches)
    assert (params.lparams.bdimx, params.cparams.maxrregcount) == (480, 64)


@pytest.mark.parametrize(("columns", "blocks"), [(62323, 4), (237533, 16)], ids=str)
def test_no_block_that_draws_numbers_for_shifted_rows_is_alone(columns: int, blocks: int) -> None:
    """Two fit on a multiprocessor, in clusters of sixteen if need be."""
    params = chosen(dropped_sum, inputs_of((2048, columns), dtype=torch.float16))
    assert params.shifts_rows
    assert params.blocks_per_cluster == blocks
    assert 2 * params.lparams.bdimx * params.cparams.maxrregcount <= 64 * 1024


@pytest.mark.parametrize(
    ("dtype", "shape", "blocks"),
    [
        (torch.bfloat16, (4096, 6007), 1),
        (torch.float16, (2048, 30011), 2),
        (torch.float16, (1024, 30002), 2),  # two neighbours are one load: the cipher makes four
    ],
    ids=str,
)
def test_long_rows_that_draw_numbers_are_shifted(
    dtype: torch.dtype, shape: tuple[int, int], blocks: int
) -> None:
    """A thread draws the numbers of four neighbours with one cipher."""
    params = chosen(dropped_sum, inputs_of(shape, dtype=dtype))
    assert params.shifts_rows
    assert params.blocks_per_cluster == blocks


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (torch.float16, (4096, 1289)),  # drawn together
        (torch.float16, (100, 519)),  # short
        (torch.float16, (2048, 8190)),  # a block holds them
        (torch.float32, (2048, 8191)),  # loads of words take the registers
    ],
    ids=str,
)
def test_other_rows_that_draw_numbers_are_not_shifted(
    dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    assert not chosen(dropped_sum, inputs_of(shape, dtype=dtype)).shifts_rows


@pytest.mark.parametrize(
    ("columns", "blocks"), [(20011, 1), (40259, 1), (65539, 2), (130001, 4)], ids=str
)
def test_shifted_rows_have_no_more_blocks_than_leave_room_for_others(
    columns: int, blocks: int
) -> None:
    """Two rows, or parts of them, fit on a multiprocessor: one is loaded while another waits."""
    rows = inputs_of((1024, columns), (columns,), (columns,), dtype=torch.bfloat16)
    params = chosen(layer_norm, rows)
    assert params.shifts_rows
    assert params.project_persistent_buffers
    assert params.blocks_per_cluster == blocks
    warps = -(-params.lparams.bdimx // 32)
    assert -(-2 * warps // 4) * 32 * params.cparams.maxrregcount <= 16 * 1024


@pytest.mark.parametrize("columns", [119, 547, 7001], ids=str)
def test_rows_that_a_block_holds_are_not_shifted(columns: int) -> None:
    """Many of its warps have an end."""
    rows = inputs_of((4096, columns), (4096, columns), dtype=torch.float16)
    assert not chosen(softmax_backward, rows).shifts_rows


@pytest.mark.parametrize(
    ("dtype", "columns"),
    [(torch.float16, 141088), (torch.float16, 141082), (torch.float32, 141081)],
    ids=str,
)
def test_rows_that_are_loaded_in_words_are_not_shifted(dtype: torch.dtype, columns: int) -> None:
    rows = inputs_of((397, columns), (397, columns), dtype=dtype)
    assert not chosen(softmax_backward, rows).shifts_rows


def test_rows_that_begin_between_vectors_or_have_gaps_are_not_shifted() -> None:
    whole = torch.empty(397, 141081, dtype=torch.float16)
    apart = torch.empty(397, 141082, dtype=torch.float16)[:, :-1]
    assert chosen(softmax_backward, [whole, whole.clone()]).shifts_rows
    assert not chosen(softmax_backward, [whole, between_vectors(whole)]).shifts_rows
    assert not chosen(softmax_backward, [whole, apart]).shifts_rows


@pytest.mark.parametrize(("columns", "is_shifted"), [(9439, True), (30909, True), (869, False)])
def test_norms_backward_of_clusters_are_shifted(columns: int, is_shifted: bool) -> None:
    """The rows of a block begin at the same place of a vector."""
    rows = inputs_of((4096, columns), (4096, columns), (columns,), dtype=torch.bfloat16)
    fusion = define(norm_backward, rows).fusion
    params = schedule.compute_heuristics(fusion, INNER_OUTER, rows, "cuda")
    assert params.shifts_rows == is_shifted
    if is_shifted:
        assert params.blocks_per_reduction % 8 == 0
        assert params.circular_buffer_stages == 2


@pytest.mark.parametrize(
    ("rows", "columns", "cluster", "lanes"),
    [
        (16384, 9439, 1, 8),  # many rows for each block
        (1024, 9439, 2, 8),  # few: blocks begin and end sooner
        (4096, 20001, 2, 8),
        (885, 30909, 8, 8),  # three blocks of a multiprocessor, where four leave it one
        (1024, 60001, 4, 8),  # one, of many warps
        (256, 92923, 8, 4),  # twelve clusters of fourteen are in step, and eight of whole vectors
    ],
)
def test_clusters_of_norms_backward_keep_multiprocessors_busy(
    rows: int, columns: int, cluster: int, lanes: int
) -> None:
    with OnlyReserved():
        inputs = inputs_of((rows, columns), (rows, columns), (columns,), dtype=torch.bfloat16)
    build = norm_backward if columns < 60000 else root_mean_square_backward
    fusion = define(build, inputs, static_sizes=True).fusion
    params = schedule.compute_heuristics(fusion, INNER_OUTER, inputs, "cuda")
    assert params.shifts_rows
    assert (params.blocks_per_cluster, params.unroll_factor_inner_reduction) == (cluster, lanes)
    assert params.blocks_per_reduction % lanes == 0
    assert cluster * params.blocks_per_reduction >= 96


@pytest.mark.parametrize("columns", [9439, 30909, 72001], ids=str)
def test_chosen_norm_backward(target: str, columns: int, rng: torch.Generator) -> None:
    empty = inputs_of((150, columns), (150, columns), (columns,), dtype=torch.bfloat16)
    inputs = random_like(empty, rng, target)
    fusion = define(norm_backward, inputs).fusion
    params = schedule.schedule(fusion, INNER_OUTER, inputs, "cuda")
    assert params.shifts_rows
    check_backward(fusion, params, inputs)


def test_chosen_rows_of_a_cluster(target: str, rng: torch.Generator) -> None:
    y, dy = random_like(inputs_of((133, 90001), (133, 90001), dtype=torch.float16), rng, target)
    fusion = define(softmax_backward, [y, dy]).fusion
    params = schedule.schedule(fusion, INNER, [y, dy], "cuda")
    assert params.shifts_rows
    wide_y, wide_dy = y.double(), dy.double()
    expected = wide_y * (wide_dy - (wide_y * wide_dy).sum(1, keepdim=True))
    check(fusion, params, [y, dy], expected)
