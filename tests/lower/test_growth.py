"""The time to schedule and to lower a fusion grows in proportion to it, or nearly so."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from nvfuser_direct import FusionDefinition, ParallelType, _core


def chain(length: int) -> FusionDefinition:
    """Pointwise operations, one after the other, in one loop nest."""
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1], contiguity=True)
        for i in range(length):
            y = fd.ops.add(y, float(i)) if i % 2 else fd.ops.relu(y)
        fd.add_output(y)
        y.split(0, 128)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    return fd


def sums(number: int) -> FusionDefinition:
    """Row sums of multiples of one matrix."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        for i in range(number):
            fd.add_output(fd.ops.sum(fd.ops.mul(x, float(i)), [1]))
    return fd


def centered(number: int) -> FusionDefinition:
    """The row sums subtracted, again and again."""
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1, -1], contiguity=True)
        for _ in range(number):
            y = fd.ops.sub(y, fd.ops.sum(y, [1], keepdim=True))
        fd.add_output(y)
    return fd


def schedule(fd: FusionDefinition) -> None:
    _core.schedule.trivial(fd.fusion)


def lower(fd: FusionDefinition) -> None:
    fd.fusion.lower(target="cuda")


def seconds(make: Callable[[int], FusionDefinition], size: int, step) -> float:
    """Of this process: other processes do not count."""
    times = []
    for _ in range(3):
        fd = make(size)
        start = time.process_time()
        step(fd)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    ("make", "step", "size"), [(chain, lower, 200), (sums, schedule, 8), (centered, schedule, 20)]
)
def test_four_times_the_fusion_takes_no_ten_times_as_long(make, step, size):
    assert seconds(make, 4 * size, step) < 10 * seconds(make, size, step)
