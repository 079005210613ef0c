"""Tensors that have some of the axes that are reduced, and repeat their elements along the others:
threads share a merged row, so that each pass over it computes what it needs of such a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_prints_as_python, define, exact, scheduled

from nvfuser_direct import KernelExecutor, SchedulerType, schedule, translate_fusion

if TYPE_CHECKING:
    from collections.abc import Callable

INNER, OUTER = SchedulerType.inner_persistent, SchedulerType.outer_persistent


def uses(fd: Any, part: Any, row: Any, dims: list[int], computed: bool) -> tuple[Any, Any, Any]:
    """The part, the row that it is met with, and the sum of that row."""
    part = fd.ops.sin(part) if computed else part
    row = fd.ops.sub(part, row)
    return part, row, fd.ops.sum(row, dims, keepdim=True)


def meets_the_sum(fd: Any, part: Any, row: Any, dims: list[int], computed: bool) -> list[Any]:
    part, row, total = uses(fd, part, row, dims, computed)
    return [fd.ops.mul(part, total), fd.ops.mul(row, total)]


def is_an_output(fd: Any, part: Any, row: Any, dims: list[int], computed: bool) -> list[Any]:
    part, _, total = uses(fd, part, row, dims, computed)
    return [fd.ops.neg(part), fd.ops.neg(fd.ops.mul(part, total))]


def meets_two_reductions(fd: Any, part: Any, row: Any, dims: list[int], computed: bool) -> Any:
    part, scaled, total = uses(fd, part, row, dims, computed)
    largest = fd.ops.max(fd.ops.mul(scaled, total), dims, keepdim=True)
    return fd.ops.mul(fd.ops.exp(fd.ops.sub(part, largest)), row)


# Shapes of the part and the row, the axes that are reduced, and the scheduler that takes both.
SHAPES: dict[str, tuple[list[int], list[int], list[int], SchedulerType]] = {
    "inner part": ([1, 1, 2], [4, 6, 2], [0, 1, 2], INNER),
    "outer part": ([4, 1, 1], [4, 6, 2], [0, 1, 2], INNER),
    "part between": ([1, 6, 1], [4, 6, 2], [0, 1, 2], INNER),
    "of each row": ([4, 1, 8], [4, 16, 8], [1, 2], INNER),
    "of each row, outer part": ([4, 16, 1], [4, 16, 8], [1, 2], INNER),
    "long rows": ([1, 1, 1024], [3, 16, 1024], [1, 2], INNER),
    "columns, inner part": ([1, 8, 4], [16, 8, 4], [0, 1], OUTER),
    "columns, outer part": ([16, 1, 1], [16, 8, 4], [0, 1], OUTER),
}


@pytest.mark.parametrize("computed", [False, True], ids=["loaded", "computed"])
@pytest.mark.parametrize("build", [meets_the_sum, is_an_output, meets_two_reductions])
@pytest.mark.parametrize("name", SHAPES)
def test_parts_of_rows_are_computed_in_each_pass(
    name: str, build: Callable, computed: bool, target: str
) -> None:
    part_shape, row_shape, dims, scheduler = SHAPES[name]
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(shape, generator=generator) for shape in (part_shape, row_shape)]
    inputs = [x.to(target) for x in inputs]
    fd = define(lambda fd, part, row: build(fd, part, row, dims, computed), inputs)
    for made_for in ("cuda", "cpu"):
        assert scheduler in schedule.find_compatible_schedulers(fd.fusion, inputs, made_for)
        fusion, params = scheduled(fd, scheduler, inputs, made_for)
        check_prints_as_python(fusion)
        if made_for == "cuda" and target == "cpu" and name == "long rows":
            continue  # blocks of 512 threads take a processor long
        executor = KernelExecutor()
        executor.compile(fusion, inputs)
        found = executor.run(inputs, params.lparams, params.cparams)
        for result, reference in zip(found, exact(fd.fusion, inputs), strict=True):
            torch.testing.assert_close(result, reference, rtol=1e-4, atol=1e-4)


def test_whole_rows_are_loaded_once() -> None:
    """Only what is repeated along a reduced axis is computed again."""
    inputs = [torch.randn(16, 64), torch.randn(16, 64)]
    fd = define(lambda fd, a, b: meets_the_sum(fd, a, b, [1], True), inputs)
    fusion, _ = scheduled(fd, INNER, inputs, "cuda")
    assert str(fusion).count("sinf(") == 1


def is_squeezed_and_read(fd: Any, part: Any, row: Any) -> list[Any]:
    """The part is loaded once: for what squeezes it, and for what reads it as it is."""
    again = fd.ops.broadcast(fd.ops.squeeze(part, [0, 1]), [True, True, False])
    scaled = fd.ops.sin(fd.ops.mul(fd.ops.add(again, row), fd.ops.sin(part)))
    return [again, scaled, fd.ops.sum(scaled, [0, 2], keepdim=True)]


def is_read_behind_and_before_a_sum(fd: Any, part: Any, row: Any) -> list[Any]:
    """A row is computed where its reader behind the sum is; the part of it is an output."""
    largest = fd.ops.max(row, [0, 1, 2], keepdim=True)
    part = fd.ops.sin(fd.ops.mul(part, largest))
    met = fd.ops.add(part, row)
    total = fd.ops.sum(met, [0, 1, 2], keepdim=True)
    left = fd.ops.sub(met, part)
    moved = fd.ops.permute(part, [1, 2, 0])
    return [fd.ops.mul(total, left), fd.ops.permute(left, [2, 1, 0]), fd.ops.tanh(moved), met]


@pytest.mark.parametrize(
    ("build", "part_shape", "row_shape", "scheduler"),
    [
        (is_squeezed_and_read, [1, 1, 8], [4, 2, 8], SchedulerType.reduction),
        (is_read_behind_and_before_a_sum, [8, 4, 1], [8, 4, 2], INNER),
    ],
)
def test_threads_hand_a_part_to_each_other_in_shared_memory(
    build: Callable, part_shape: list[int], row_shape: list[int], scheduler: Any, target: str
) -> None:
    """It has fewer threads than the row, and cannot be computed in the loops of each reader."""
    inputs = [torch.randn(shape, dtype=torch.float64) for shape in (part_shape, row_shape)]
    inputs = [x.to(target) for x in inputs]
    fd = define(build, inputs)
    fusion, params = scheduled(fd, scheduler, inputs, "cuda")
    assert ".set_memory_type(MemoryType.shared)" in translate_fusion(fusion, schedule=True)
    check_prints_as_python(fusion)
    cuda_text(fusion)  # compiles
    executor = KernelExecutor()
    executor.compile(fusion, inputs)
    found = executor.run(inputs, params.lparams, params.cparams)
    for result, reference in zip(found, exact(fd.fusion, inputs), strict=True):
        torch.testing.assert_close(result, reference, rtol=1e-12, atol=1e-12)
