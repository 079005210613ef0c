"""The scheduler of maps with slices, pads and concatenations: values, schedules as text, and what
it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from scheduled_runs import check_runs, define

from nvfuser_direct import DataType, SchedulerType, schedule

if TYPE_CHECKING:
    from collections.abc import Callable

RESIZE = SchedulerType.resize


def randoms(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    if not dtype.is_floating_point:
        return torch.randint(-100, 100, shape, generator=generator).to(dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def middle(fd, x):
    """What remains of the last dimension without its ends, negated before and added to after."""
    ops = fd.ops
    n = x.rank() - 1
    starts = [0] * n + [3]
    ends = [*x.shape()[:n], ops.sub(x.shape()[n], 2)]
    return ops.add(ops.neg(ops.slice(x, starts, ends)), 1)


def padded(fd, x):
    return fd.ops.mul(fd.ops.pad(fd.ops.neg(x), [2, 3]), 2)


def rotated(fd, x):
    """Rotary embedding: the halves of each row, exchanged, one of them negated."""
    ops = fd.ops
    rows, n = (size.value() for size in x.shape())
    first = ops.slice(x, [0, 0], [rows, n // 2])
    second = ops.slice(x, [0, n // 2], [rows, n])
    return ops.add(x, ops.cat([ops.neg(second), first], 1))


def joined(fd, a, b):
    return fd.ops.cat([fd.ops.neg(a), fd.ops.abs(b)], -1)


# -- values --


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32], ids=str
)
@pytest.mark.parametrize("shape", [(4096,), (1021,), (33, 1000), (3, 5, 64)], ids=str)
@pytest.mark.parametrize("build", [middle, padded])
def test_slices_and_pads(
    target: str, build: Callable, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    inputs = [randoms(shape, dtype)]
    fd = define(build, inputs, static_sizes=True)
    check_runs(fd, RESIZE, inputs, target)


@pytest.mark.parametrize("shape", [(64, 128), (33, 34), (2, 4), (513, 256)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_rotary_embedding(target: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    inputs = [randoms(shape, dtype)]
    check_runs(define(rotated, inputs, static_sizes=True), RESIZE, inputs, target)


@pytest.mark.parametrize("widths", [(64, 64), (17, 40), (1000, 24)], ids=str)
def test_concatenations(target: str, widths: tuple[int, int]) -> None:
    inputs = [randoms((37, width), seed=seed) for seed, width in enumerate(widths)]
    check_runs(define(joined, inputs, static_sizes=True), RESIZE, inputs, target)


def test_pad_of_a_slice(target: str) -> None:
    inputs = [randoms((37, 50))]

    def build(fd, x):
        ops = fd.ops
        return ops.add(ops.pad(ops.exp(ops.slice(x, [1, 4], [37, 40])), [5, 9, 0, 1]), 1.0)

    check_runs(define(build, inputs, static_sizes=True), RESIZE, inputs, target)


def test_operands_that_are_strided_expanded_or_broadcast(target: str) -> None:
    inputs = [randoms((50, 37)).t(), randoms((1, 50)).expand(37, 50), randoms((37, 1))]

    def build(fd, x, y, z):
        ops = fd.ops
        first = ops.slice(x, [0, 2], [37, 44])
        return ops.add(ops.mul(first, ops.slice(y, [0, 0], [37, 42])), z)

    check_runs(define(build, inputs, static_sizes=True), RESIZE, inputs, target)


def test_empty(target: str) -> None:
    inputs = [randoms((0, 16))]
    check_runs(define(padded, inputs, static_sizes=True), RESIZE, inputs, target)


# -- refusals --


def refusal(build: Callable, *inputs: torch.Tensor) -> str:
    fd = define(build, inputs, static_sizes=True)
    taken, why = schedule.can_schedule(fd.fusion, RESIZE, inputs)
    assert not taken
    return why


def test_maps_without_resizes_are_for_pointwise() -> None:
    assert "No resize op to schedule" in refusal(lambda fd, x: fd.ops.neg(x), randoms((4, 8)))


def test_reductions_are_refused() -> None:
    def build(fd, x):
        return fd.ops.sum(fd.ops.slice(x, [0, 0], [4, 6]), [1])

    assert "no support for reduction ops" in refusal(build, randoms((4, 8)))


def test_a_value_at_two_positions_is_refused() -> None:
    def build(fd, x):
        value = fd.ops.exp(x)
        return fd.ops.add(fd.ops.pad(value, [1, 0]), fd.ops.pad(value, [0, 1]))

    why = refusal(build, randoms((4, 8)))
    assert "Resize between reference and output not allowed." in why


def test_a_slice_of_what_is_computed_is_refused() -> None:
    def build(fd, x):
        return fd.ops.neg(fd.ops.slice(fd.ops.exp(x), [0, 2], [4, 8]))

    assert "an operand of SliceOp must be a fusion input" in refusal(build, randoms((4, 8)))


def test_broadcasts_are_not_resized() -> None:
    def build(fd, x):
        row = fd.ops.broadcast(fd.ops.cast(x, DataType.Double), [True, False])
        return fd.ops.pad(row, [0, 0, 1, 1])

    assert "Resize of a broadcast ID is not allowed." in refusal(build, randoms((8,)))
