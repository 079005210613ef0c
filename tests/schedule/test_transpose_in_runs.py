"""Transposes whose innermost dimensions are too short for tiles of two dimensions: a tile has a
part of each dimension."""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_close, check_prints_as_python, check_runs, define, scheduled

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    TransposeParams,
    evaluate,
    schedule,
)

TRANSPOSE = SchedulerType.transpose


def randoms(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def permuted(shape: tuple[int, ...], dims: list[int], dtype: torch.dtype) -> FusionDefinition:
    """More than a view: the sign makes a kernel of it."""

    def build(fd, x):
        return fd.ops.cast(fd.ops.neg(fd.ops.permute(x, dims)), x.dtype())

    return define(build, [torch.empty(shape, dtype=dtype)])


SHAPES = [  # and the order of the result
    ((40_000, 5), [1, 0]),
    ((7, 30_011), [1, 0]),
    ((60_000, 1, 3), [2, 1, 0]),
    ((19, 2286, 2, 3), [2, 1, 0, 3]),
    ((166, 773, 3), [1, 0, 2]),
    ((11, 58, 7, 3, 68), [4, 1, 3, 0, 2]),
    ((254, 57, 3, 5), [3, 1, 0, 2]),
    ((2, 24_667, 4, 6), [0, 3, 2, 1]),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize(("shape", "dims"), SHAPES, ids=str)
def test_a_gpus_schedule_means_the_same_on_a_processor(
    shape: tuple[int, ...], dims: list[int], dtype: torch.dtype
) -> None:
    a = randoms(shape, dtype)
    fd = permuted(shape, dims, dtype)
    fusion, params = scheduled(fd, TRANSPOSE, [a], "cuda")
    assert len(params.tile_parts) == len(shape)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [a])
    assert torch.equal(executor.run([a])[0], -a.permute(dims))
    cuda_text(fusion)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("shape", "dims"), SHAPES, ids=str)
def test_cuda_values(shape: tuple[int, ...], dims: list[int], dtype: torch.dtype) -> None:
    check_runs(permuted(shape, dims, dtype), TRANSPOSE, [randoms(shape, dtype)], "cuda")


@pytest.mark.parametrize("tile", [[0, 1024], [5, 1920], [2, 300]], ids=str)
def test_a_kernel_takes_other_sizes_of_the_same_params(tile: list[int]) -> None:
    """Parts may be all of a dimension, as many elements as it has, or less."""
    a, b = randoms((40_000, 5), torch.float32), randoms((50_123, 7), torch.float32)
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.permute(x, [1, 0])))
    params = schedule.compute_heuristics(fd.fusion, TRANSPOSE, [b], "cuda")
    assert params.vector_widths == [1, 1]  # its rows have an odd length
    params.tile_parts = tile
    params.fixed_sizes = []
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, TRANSPOSE, params)
    executor = KernelExecutor()
    executor.compile(fusion, [a])
    for x in (a, b):
        assert torch.equal(executor.run([x])[0], -x.t())


def test_operands_of_both_orders_and_rows() -> None:
    """An operand in the order of the result is not staged, and a row or column is read in place."""
    a, b = randoms((30_000, 6), torch.bfloat16), randoms((30_000, 6), torch.float32, 1)
    c, row, column = (randoms(s, torch.float32, 2) for s in [(6, 30_000), (30_000,), (6, 1)])

    def build(fd, a, b, c, row, column):
        ops = fd.ops
        left = ops.permute(ops.mul(a, b), [1, 0])
        left = ops.mul(left, ops.broadcast(row, [True, False]))
        return ops.add(left, c), ops.sub(left, column)

    inputs = [a, b, c, row, column]
    fd = define(build, inputs)
    fusion, params = scheduled(fd, TRANSPOSE, inputs, "cuda")
    assert params.fixed_sizes[0] == 6
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    for found, expected in zip(executor.run(inputs), evaluate(fd.fusion, inputs), strict=True):
        check_close(found, expected)
    text = cuda_text(fusion)
    assert len(re.findall(r"reinterpret_cast<\S+ \*?>?\(?smem|= reinterpret_cast", text)) == 2


# -- choices --


def sizes_of_tile(params: TransposeParams) -> list[int]:
    """Elements along each dimension."""
    return [part or size for part, size in zip(params.tile_parts, params.fixed_sizes, strict=True)]


def parts(shape: tuple[int, ...], dims: list[int], dtype: torch.dtype) -> list[int]:
    fd = permuted(shape, dims, dtype)
    inputs = [torch.empty(shape, dtype=dtype)]
    can, _ = schedule.can_schedule(fd.fusion, TRANSPOSE, inputs, "cuda")
    if not can:
        return [-1]
    return sizes_of_tile(schedule.compute_heuristics(fd.fusion, TRANSPOSE, inputs, "cuda"))


CHOICES = [
    ((1_000_000, 5), [1, 0], torch.float32, [5, 640]),  # 5 rows of 2.5 KB, 12.5 KB in one
    ((7, 1_000_000), [1, 0], torch.bfloat16, [2800, 7]),
    ((1_000_000, 16), [1, 0], torch.float32, []),  # a tile of two dimensions
    ((4096, 4096, 8), [1, 0, 2], torch.bfloat16, [59, 32, 8]),  # runs of a sector and less
    ((4096, 4096, 16), [1, 0, 2], torch.bfloat16, [-1]),  # long enough for a map
    ((122, 57, 113), [1, 2, 0], torch.bfloat16, [1, 113, 122]),  # all of two odd dimensions
    ((128, 57, 113), [1, 2, 0], torch.bfloat16, []),  # vectors divide one of them
    ((4096, 1, 4096, 3), [1, 0, 2, 3], torch.bfloat16, [-1]),  # memory is in one order
]


@pytest.mark.parametrize(("shape", "dims", "dtype", "expected"), CHOICES, ids=str)
def test_parts(
    shape: tuple[int, ...], dims: list[int], dtype: torch.dtype, expected: list[int]
) -> None:
    assert parts(shape, dims, dtype) == expected


def advances(threads: int, sizes: list[int]) -> bool:
    """Whether a step of so many elements changes the position along one dimension alone."""
    for size in reversed(sizes):
        if threads % size:
            return size % threads == 0
        threads //= size
    return True


@pytest.mark.parametrize(
    ("shape", "dims"),
    [
        ((398_952, 5, 5, 20), [1, 3, 0, 2]),
        ((20, 1, 56, 5671, 3), [3, 2, 4, 0, 1]),
        ((2625, 21_946, 2, 2), [0, 3, 1, 2]),
        ((1_000_000, 5), [1, 0]),
        ((300, 7, 9001, 3), [3, 1, 2, 0]),
    ],
    ids=str,
)
def test_no_index_is_divided_for_each_element(shape: tuple[int, ...], dims: list[int]) -> None:
    fd = permuted(shape, dims, torch.bfloat16)
    inputs = [torch.empty(shape, dtype=torch.bfloat16)]
    params = schedule.compute_heuristics(fd.fusion, TRANSPOSE, inputs, "cuda")
    results = sizes_of_tile(params)
    operands = [results[dims.index(d)] for d in range(len(dims))]
    threads = params.lparams.bdimx
    for order, lanes in [(results, params.vectorize_factor1), (operands, params.vectorize_factor2)]:
        loops = [part for part in order if part > 1]
        assert advances(threads * lanes, loops)
    shared_bytes = torch.Size(results).numel() * 2
    blocks = min(2048 // threads, 224 * 1024 // shared_bytes)  # of a multiprocessor
    assert blocks * threads >= 1200


def some_permute(seed: int, elements: int) -> tuple[list[int], list[int]]:
    """A shape with one long dimension, and an order."""
    generator = torch.Generator().manual_seed(seed)

    def number(least: int, most: int) -> int:
        return int(torch.randint(least, most, (), generator=generator))

    shape = [number(1, 14) for _ in range(number(1, 5))]
    shape.insert(number(0, len(shape) + 1), elements // torch.Size(shape).numel() + 1)
    return shape, torch.randperm(len(shape), generator=generator).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_values_of_any_shape(seed: int) -> None:
    shape, dims = some_permute(seed, 200_000)
    a = randoms(tuple(shape), torch.bfloat16, seed)
    fd = permuted(tuple(shape), dims, torch.bfloat16)
    if not schedule.can_schedule(fd.fusion, TRANSPOSE, [a], "cuda")[0]:
        return  # memory is in one order, or runs are long enough
    fusion, _ = scheduled(fd, TRANSPOSE, [a], "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, [a])
    assert torch.equal(executor.run([a])[0], -a.permute(dims))


@pytest.mark.parametrize("seed", range(40))
def test_a_tile_of_any_shape_fits_and_has_long_runs(seed: int) -> None:
    """Runs of a line and more in both orders, unless all that is innermost is shorter."""
    shape, dims = some_permute(seed, 3_000_000)
    found = parts(tuple(shape), dims, torch.float32)
    if found in ([], [-1]):
        return
    own = [shape[d] for d in dims]
    tile = found
    assert torch.Size(tile).numel() * 4 <= 64 * 1024
    for order in (list(range(len(own))), [dims.index(d) for d in range(len(dims))]):
        run = 1
        for axis in reversed(order):
            run *= tile[axis]
            if tile[axis] < own[axis]:
                break
        assert run >= 32


def test_parts_that_fit_no_tile_are_refused() -> None:
    a = torch.empty(40_000, 5)
    fd = permuted((40_000, 5), [1, 0], torch.float32)
    params = schedule.compute_heuristics(fd.fusion, TRANSPOSE, [a], "cuda")
    for wrong in ([0], [0, 0], [0, 1, 2]):
        params.tile_parts = wrong
        with pytest.raises(RuntimeError, match="tile_parts has a part of each dimension"):
            schedule.schedule(fd.fusion.clone(), TRANSPOSE, params)
