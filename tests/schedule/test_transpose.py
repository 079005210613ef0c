"""The scheduler of maps whose operands are contiguous along another dimension than the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_close, check_prints_as_python, check_runs, define, scheduled

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    TransposeParams,
    evaluate,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TRANSPOSE = SchedulerType.transpose


def randoms(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(-100, 100, shape, generator=generator).to(dtype)


def transposed(fd, a):
    return fd.ops.permute(a, [1, 0])


def transposed_add(fd, a, b):
    """Computed in float, and rounded."""
    return fd.ops.cast(fd.ops.add(fd.ops.permute(a, [1, 0]), b), a.dtype())


# -- values --


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.float16],
    ids=str,
)
@pytest.mark.parametrize("shape", [(512, 512), (1000, 300), (257, 1023), (16, 20000)], ids=str)
def test_dtypes_and_sizes(target: str, dtype: torch.dtype, shape: tuple[int, int]) -> None:
    a = randoms(shape, dtype)
    check_runs(define(transposed, [a]), TRANSPOSE, [a], target)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_an_operand_in_the_order_of_the_result(target: str, dtype: torch.dtype) -> None:
    a, b = randoms((640, 384), dtype), randoms((384, 640), dtype, 1)
    check_runs(define(transposed_add, [a, b]), TRANSPOSE, [a, b], target)


def test_operands_of_both_orders_and_types(target: str) -> None:
    a, b = randoms((384, 640), torch.bfloat16), randoms((384, 640), torch.float32, 1)
    c = randoms((640, 384), torch.float32, 2)

    def build(fd, a, b, c):
        ops = fd.ops
        left = ops.permute(ops.mul(ops.cast(a, DataType.Float), b), [1, 0])
        return ops.add(left, c), ops.cast(ops.sub(left, c), DataType.BFloat16)

    check_runs(define(build, [a, b, c]), TRANSPOSE, [a, b, c], target)


@pytest.mark.parametrize("dims", [[0, 2, 1], [2, 1, 0], [2, 0, 1]], ids=str)
def test_three_dimensions(target: str, dims: list[int]) -> None:
    a = randoms((64, 48, 160), torch.float32)
    check_runs(define(lambda fd, a: fd.ops.permute(a, dims), [a]), TRANSPOSE, [a], target)


def times_rows(fd, a, b):
    return fd.ops.mul(fd.ops.permute(a, [1, 0]), fd.ops.broadcast(b, [True, False]))


def times_columns(fd, a, b):
    return fd.ops.mul(fd.ops.permute(a, [1, 0]), fd.ops.broadcast(b, [False, True]))


VECTORS = [(times_rows, (640,)), (times_columns, (400,))]


@pytest.mark.parametrize(("build", "size"), VECTORS, ids=["rows", "columns"])
def test_a_vector_beside_a_transposed_matrix(target: str, build: Callable, size: tuple) -> None:
    a, b = randoms((640, 400), torch.float32), randoms(size, torch.float32, 1)
    check_runs(define(build, [a, b]), TRANSPOSE, [a, b], target)


def test_a_matrix_beside_transposed_matrices(target: str) -> None:
    a, b = randoms((5, 300, 200), torch.float32), randoms((200, 300), torch.float32, 1)

    def build(fd, a, b):
        b = fd.ops.broadcast(b, [True, False, False])
        return fd.ops.mul(fd.ops.permute(a, [0, 2, 1]), b)

    check_runs(define(build, [a, b]), TRANSPOSE, [a, b], target)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "without the first column": lambda x: x[:, 1:],
    "without the first rows": lambda x: x[3:],
    "misaligned": lambda x: x.reshape(-1)[1:-639].reshape(511, 640),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_inputs(target: str, dtype: torch.dtype, layout: str) -> None:
    a = LAYOUTS[layout](randoms((512, 640), dtype).to(target))
    fd = define(transposed, [a])
    fusion, _ = scheduled(fd, TRANSPOSE, [a])
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [a])
    check_close(executor.run([a])[0], a.t())


@pytest.mark.parametrize(
    ("rows", "tile"), [(1024, (16, 256)), (512, (16, 128)), (1000, (32, 16)), (2560, (16, 256))]
)
def test_rows_that_share_places_of_a_cache(rows: int, tile: tuple[int, int]) -> None:
    """Few of them are read at a time, and each for longer: on processors."""
    a, b = randoms((70, rows), torch.float32), randoms((rows, 70), torch.float32, 1)
    fd = define(transposed_add, [a, b])
    params = schedule.compute_heuristics(fd.fusion, TRANSPOSE, [a, b], "cpu")
    assert (params.tile_size1, params.tile_size2) == tile
    check_runs(fd, TRANSPOSE, [a, b], "cpu")


@pytest.mark.parametrize("operands", [1, 2])
@pytest.mark.parametrize("columns", [256, 300, 1000])
@pytest.mark.parametrize("rows", [1024, 3072])
def test_copies_of_rows_that_share_places(rows: int, columns: int, operands: int) -> None:
    """Tiles of 96 rows: the last one of 1024 is not whole, nor is that of 300 columns."""
    a = [randoms((columns, rows), torch.bfloat16, seed) for seed in range(operands)]
    b = randoms((rows, columns), torch.bfloat16, 7)

    def build(fd, *inputs):
        *across, along = inputs
        total = along
        for operand in across:
            total = fd.ops.add(total, fd.ops.permute(operand, [1, 0]))
        return fd.ops.cast(total, along.dtype())

    fd = define(build, [*a, b])
    params = schedule.compute_heuristics(fd.fusion, TRANSPOSE, [*a, b], "cpu")
    assert params.copies_rows
    assert (params.tile_size1, params.tile_size2) == (64 // operands, 96)
    check_runs(fd, TRANSPOSE, [*a, b], "cpu")


def test_few_columns_are_not_copied() -> None:
    a, b = randoms((100, 1024), torch.bfloat16), randoms((1024, 100), torch.bfloat16, 1)
    params = schedule.compute_heuristics(
        define(transposed_add, [a, b]).fusion, TRANSPOSE, [a, b], "cpu"
    )
    assert not params.copies_rows


# -- schedules --


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_kernels_of_a_gpu_compile_without_one(dtype: torch.dtype) -> None:
    a, b = torch.empty(1024, 2048, dtype=dtype), torch.empty(2048, 1024, dtype=dtype)
    fusion, params = scheduled(define(transposed_add, [a, b]), TRANSPOSE, [a, b], "cuda")
    assert isinstance(params, TransposeParams)
    assert params.vectorize_factor1 == 16 // dtype.itemsize
    text = cuda_text(fusion)
    assert "__shared__" in text


def test_a_gpus_schedule_means_the_same_on_a_processor() -> None:
    a, b = randoms((300, 1000), torch.float32), randoms((1000, 300), torch.float32, 1)
    fusion, _ = scheduled(define(transposed_add, [a, b]), TRANSPOSE, [a, b], "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, [a, b])
    check_close(executor.run([a, b])[0], a.t() + b)


@pytest.mark.parametrize(("build", "size"), VECTORS, ids=["rows", "columns"])
def test_a_gpus_schedule_reads_vectors_where_they_are_needed(build: Callable, size: tuple) -> None:
    a, b = randoms((640, 400), torch.float32), randoms(size, torch.float32, 1)
    fd = define(build, [a, b])
    fusion, params = scheduled(fd, TRANSPOSE, [a, b], "cuda")
    assert params.vector_widths == [4, 1, 4]
    assert "= load_readonly(T1[" in cuda_text(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [a, b])
    check_close(executor.run([a, b])[0], evaluate(fd.fusion, [a, b])[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize(
    "shape", [(143, 8, 210), (122, 12, 113), (509, 1, 300), (64, 60, 40)], ids=str
)
def test_a_gpus_schedule_of_narrow_accesses(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    a = randoms(shape, dtype)
    fd = define(lambda fd, x: fd.ops.permute(x, [2, 1, 0]), [a])
    fusion, params = scheduled(fd, TRANSPOSE, [torch.empty(shape, dtype=dtype)], "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, [a])
    check_close(executor.run([a])[0], a.permute(2, 1, 0))
    narrowest = min(params.vectorize_factor1, params.vectorize_factor2)
    assert narrowest <= max(shape[0] & -shape[0], 1)  # threads access what lies side by side


@pytest.mark.parametrize(
    ("rows", "columns", "edge"), [(143, 210, 32), (120, 113, 128), (4096, 4096, 128), (250, 64, 64)]
)
def test_tiles_lie_within_the_tensor(rows: int, columns: int, edge: int) -> None:
    a = torch.empty(12, rows, columns, dtype=torch.float16)
    fd = define(lambda fd, x: fd.ops.permute(x, [0, 2, 1]), [a])
    params = schedule.compute_heuristics(fd.fusion, TRANSPOSE, [a], "cuda")
    assert (params.tile_size1, params.tile_size2) == (edge, edge)


# -- what is refused --


def reason(build: Callable, *inputs: torch.Tensor) -> str:
    fd = define(build, inputs)
    can, text = schedule.can_schedule(fd.fusion, TRANSPOSE, inputs)
    assert not can
    headline = "Scheduler _transpose_ ***rejected*** because : "
    assert text.startswith(headline)
    return text.removeprefix(headline)


def test_refusals() -> None:
    mismatch = "cannot find two mismatching inner most dimensions"
    large, small = torch.ones(512, 512), torch.ones(8, 8)
    assert reason(lambda fd, x: fd.ops.exp(x), large) == mismatch
    assert reason(lambda fd, x: fd.ops.permute(x, [1, 0, 2]), torch.ones(64, 64, 64)) == mismatch
    assert "small problem sizes" in reason(transposed, small)
    assert "small dimensions" in reason(transposed, torch.ones(8, 100_000))
    three = [torch.ones(64, 64, 64) for _ in range(3)]
    orders = ([0, 1, 2], [0, 2, 1], [2, 1, 0])

    def build(fd, *tensors):
        a, b, c = (fd.ops.permute(x, dims) for x, dims in zip(tensors, orders, strict=True))
        return fd.ops.add(fd.ops.add(a, b), c)

    assert reason(build, *three) == mismatch


def test_a_transpose_is_preferred_to_a_map() -> None:
    a = torch.ones(512, 512)
    fd = define(transposed_add, [a, a])
    assert schedule.find_compatible_schedulers(fd.fusion, [a, a]) == [
        TRANSPOSE,
        SchedulerType.pointwise,
    ]


def test_constant_sizes(target: str) -> None:
    shape = (1024, 512)  # more than the least of any GPU: 1024 for each multiprocessor
    a = randoms(shape, torch.float32)
    fd = FusionDefinition()
    with fd:
        fd.add_output(fd.ops.permute(fd.define_tensor(list(shape), contiguity=True), [1, 0]))
    check_runs(fd, TRANSPOSE, [a], target)
