"""Sizes that differ little share a kernel: params follow from buckets. It needs no GPU."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import FusionDefinition, SchedulerType, schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nvfuser_direct import HeuristicParams, TensorView

MOST = 4096
FIXED = 1000  # the other size, while one varies


def product_and_its_row_sums(fd: FusionDefinition, x: TensorView) -> None:
    y = fd.define_tensor([-1, -1], contiguity=True)
    product = fd.ops.mul(x, y)
    fd.add_output(fd.ops.sub(product, fd.ops.mul(y, fd.ops.sum(product, [1], keepdim=True))))


def norm_backward(fd: FusionDefinition, x: TensorView) -> None:
    gradient = fd.define_tensor([-1, -1], contiguity=True)
    product = fd.ops.mul(gradient, x)
    rows = fd.ops.sum(product, [1], keepdim=True)
    fd.add_output(fd.ops.sub(gradient, fd.ops.mul(x, rows)))
    fd.add_output(fd.ops.sum(product, [0]))


def bias(fd: FusionDefinition, x: TensorView) -> None:
    offset = fd.define_tensor([1, -1], contiguity=True)
    fd.add_output(fd.ops.add(x, offset))


# By fusion: the kernels for 200 numbers of rows, for 200 of columns, and for 200 pairs of them.
FUSIONS: dict[str, tuple[Callable[[FusionDefinition, TensorView], object], int, int, int]] = {
    "map": (lambda fd, x: fd.add_output(fd.ops.relu(x)), 4, 6, 12),
    "bias": (bias, 5, 20, 50),
    "transpose": (lambda fd, x: fd.add_output(fd.ops.permute(fd.ops.neg(x), [1, 0])), 8, 8, 16),
    "row sums": (lambda fd, x: fd.add_output(fd.ops.sum(x, [1])), 4, 24, 26),
    "column sums": (lambda fd, x: fd.add_output(fd.ops.sum(x, [0])), 18, 18, 40),
    "one sum": (lambda fd, x: fd.add_output(fd.ops.sum(x, [0, 1])), 16, 16, 46),
    "softmax": (lambda fd, x: fd.add_output(fd.ops.softmax(x, 1)), 4, 30, 36),
    "column softmax": (lambda fd, x: fd.add_output(fd.ops.softmax(x, 0)), 16, 8, 26),
    "softmax backward": (product_and_its_row_sums, 4, 30, 36),
    "norm backward": (norm_backward, 13, 38, 68),
}


def chosen(fd: FusionDefinition, rows: int, columns: int) -> HeuristicParams:
    """By the first scheduler that makes a kernel."""
    inputs = [
        torch.empty(1 if tensor.axis(0).is_broadcast() else rows, columns)
        for tensor in fd.fusion.inputs()
    ]
    without_kernel = (SchedulerType.expr_eval, SchedulerType.no_op)
    found = schedule.find_compatible_schedulers(fd.fusion, inputs, "cuda")
    (first, *_) = [scheduler for scheduler in found if scheduler not in without_kernel]
    return schedule.compute_heuristics(fd.fusion, first, inputs, "cuda")


def num_kernels(fd: FusionDefinition, sizes: Iterable[tuple[int, int]]) -> int:
    kernels: list[HeuristicParams] = []
    for rows, columns in sizes:
        params = chosen(fd, rows, columns)
        if not any(params == known for known in kernels):
            kernels.append(params)
    return len(kernels)


@pytest.mark.parametrize("name", FUSIONS)
def test_neighbours_share_a_kernel(name: str) -> None:
    define, of_rows, of_columns, of_pairs = FUSIONS[name]
    fd = FusionDefinition()
    with fd:
        define(fd, fd.define_tensor([-1, -1], contiguity=True))
    numbers = random.Random(0)
    sizes = numbers.sample(range(1, MOST + 1), 200)
    pairs = [(numbers.randint(1, MOST), numbers.randint(1, MOST)) for _ in range(200)]
    found = (
        num_kernels(fd, [(size, FIXED) for size in sizes]),
        num_kernels(fd, [(FIXED, size) for size in sizes]),
        num_kernels(fd, pairs),
    )
    assert found[0] <= of_rows
    assert found[1] <= of_columns
    assert found[2] <= of_pairs
