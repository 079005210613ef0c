"""relu(x + bias) with a bias per column: a thread reads its part of the bias once for ROWS rows."""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

THREADS = 128
ROWS = 4

SIZES = [(64, 1024), (31, 33), (1, 1000), (127, 1), (129, 514)]
BENCHMARK = (1 << 14, 1 << 14)
RTOL = 1e-6


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        bias = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.relu(fd.ops.add(x, fd.ops.broadcast(bias, [True, False]))))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    x, bias = harness.input_tensors(fd)
    (y,) = fd.fusion.outputs()
    row, bias_part = x.cache_after(), bias.cache_after()
    y.cache_before()

    # [rows, columns] -> [rows / ROWS, columns / .., ROWS, THREADS, width]
    width = harness.vector_width(columns, 4)
    y.split(1, width)
    y.split(1, THREADS)
    y.split(0, ROWS)
    y.reorder({1: 2})
    fd.sched.transform_like(y)

    y.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.grid_y)
    y.axis(2).parallelize(ParallelType.unroll)
    y.axis(3).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(y)
    for tensor in (row, bias_part, y):
        tensor.axis(-1).parallelize(ParallelType.vectorize)

    # Both are read at the block's loops, outside of the loop over rows.
    fd.sched.inline_at(y, 2, selected_tensors=[row, bias_part])
    kept = [*fd.fusion.inputs(), row, bias_part, y]
    fd.sched.inline_most([t for t in fd.fusion.tensors() if t not in kept])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device), torch.randn(columns, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, bias = (t.double() for t in inputs)
    return [torch.relu(x + bias)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
