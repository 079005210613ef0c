"""Sizes of the block in the source of a CUDA kernel: constants where the schedule fixes them."""

from __future__ import annotations

import re

import pytest
import torch
from device_sources import nvrtc

from nvfuser_direct import (
    CompileParams,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    ParallelType,
)

BLOCK_X, BLOCK_Y, GRID_X = ParallelType.block_x, ParallelType.block_y, ParallelType.grid_x

pytestmark = pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")


def row_sum(threads: int | None, rows: int = 1) -> FusionDefinition:
    """Each block sums `rows` rows; `threads`: of a row, None for one an element."""
    with FusionDefinition() as fd:
        out = fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), [1])
        fd.add_output(out)
        tensors = [out]
        if threads is not None:
            out.split(1, threads)
            tensors.append(out.rfactor([1]))
        for tensor in tensors:
            tensor.split(0, rows)
            tensor.axis(0).parallelize(GRID_X)
            tensor.axis(1).parallelize(BLOCK_Y)
            tensor.axis(-1).parallelize(BLOCK_X)
    return fd


def block_size(executor: KernelExecutor) -> list[int]:
    """The constants of x, y and z; empty if the source declares none."""
    constants = re.findall(r"constexpr unsigned kBlock[XYZ] = (\d+);", executor.kernel_source())
    return [int(size) for size in constants]


def compiled(fd: FusionDefinition) -> KernelExecutor:
    executor = KernelExecutor()
    executor.compile(fd.fusion, compile_params=CompileParams(device="cuda:0"))
    return executor


def test_what_the_schedule_fixes_is_a_constant() -> None:
    assert block_size(compiled(row_sum(threads=96, rows=4))) == [96, 4, 1]


def test_what_only_the_launch_tells_is_zero() -> None:
    assert block_size(compiled(row_sum(threads=None))) == [0, 1, 1]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_launch_that_is_larger_than_the_axes_decides() -> None:
    executor, inputs = KernelExecutor(), [torch.randn(5, 1000, device="cuda")]
    launch = LaunchParams(-1, -1, -1, 128, -1, -1)
    executor.compile(row_sum(threads=96).fusion, inputs, launch)
    assert block_size(executor) == [128, 1, 1]
    (out,) = executor.run(inputs)
    torch.testing.assert_close(out.double(), inputs[0].double().sum(1), rtol=1e-4, atol=1e-4)


def test_kernels_whose_threads_do_not_meet_declare_nothing() -> None:
    with FusionDefinition() as fd:
        out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
        fd.add_output(out)
        out.split(0, 128)
        out.axis(0).parallelize(GRID_X)
        out.axis(1).parallelize(BLOCK_X)
    assert block_size(compiled(fd)) == []
