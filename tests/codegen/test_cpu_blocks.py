"""Blocks of the grid on the CPU: how a kernel is told which it runs."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    ParallelType,
    get_num_threads,
    schedule,
    set_num_threads,
)

GRID = (ParallelType.grid_z, ParallelType.grid_y, ParallelType.grid_x)


@pytest.mark.parametrize("num_threads", [1, 4])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 1, 7), (1, 7, 1), (7, 1, 1), (3, 4, 5)])
def test_every_block_of_the_grid_runs_once(sizes: tuple[int, int, int], num_threads: int) -> None:
    """Also where a worker's range begins in the middle of a row of blocks."""
    with FusionDefinition() as fd:
        out = fd.ops.add(fd.define_tensor([-1, -1, -1, -1], contiguity=True), 1.0)
        fd.add_output(out, fd.fusion.inputs()[0])
        for axis, index in enumerate(GRID):
            out.axis(axis).parallelize(index)
    x = torch.zeros(*sizes, 40_000)  # enough to share among threads
    executor = KernelExecutor()
    before = get_num_threads()
    set_num_threads(num_threads)
    try:
        executor.compile(fd.fusion, [x])
        executor.run([x])
    finally:
        set_num_threads(before)
    assert torch.equal(x, torch.ones_like(x))


@pytest.mark.parametrize(("number", "is_cut"), [(4, False), (60, True)])
def test_a_long_block_is_several_functions(number: int, is_cut: bool) -> None:
    """The time that g++ takes for a function grows faster than its length."""
    with FusionDefinition() as fd:
        inputs = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(number)]
        for x in inputs:
            fd.add_output(fd.ops.neg(x))
    schedule.trivial(fd.fusion)
    values = [torch.randn(3, size) for size in range(number)]  # one without elements
    executor = KernelExecutor()
    executor.compile(fd.fusion, values)
    for output, value in zip(executor.run(values), values, strict=True):
        assert torch.equal(output, -value)
    assert ("run_apart([=] {" in fd.fusion.print_kernel(target="cpu")) == is_cut
