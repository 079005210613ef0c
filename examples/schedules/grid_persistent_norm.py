"""RMS normalization of rows too long for one block: the whole grid works on one row at a time.

The row stays in the registers of all blocks. Its sum of squares is needed by every block, so the
grid reduction becomes an all-reduce with a grid barrier, and the launch is cooperative.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

EPSILON = 1e-5
BLOCKS = 128  # must all be resident at once
THREADS = 512

SIZES = [(3, 1 << 18), (2, 1000), (1, 100_003), (4, 1025)]
BENCHMARK = (32, 1 << 22)
RTOL = 1e-5


def make(rows: int, columns: int) -> FusionDefinition:
    # The row's size is static: every thread keeps its part in registers.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True)
        square_sum = fd.ops.sum(fd.ops.mul(x, x), [1])
        scale = fd.ops.rsqrt(fd.ops.add(fd.ops.div(square_sum, float(columns)), EPSILON))
        fd.add_output(fd.ops.mul(x, fd.ops.broadcast(scale, [False, True])))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    (total,) = (t for t in fd.fusion.tensors() if any(i.is_reduction() for i in t.loop()))
    row = x.cache_after()
    y.cache_before()

    # [rows, columns] -> [rows, BLOCKS, vectors of a thread, threads, width]
    width = harness.vector_width(columns, 4)
    threads = min(THREADS, max(32, -(-columns // (width * BLOCKS))))
    total.split(1, width)
    total.split(1, threads)
    total.split(1, BLOCKS, inner_split=False)
    partial = total.rfactor([2, 4])
    fd.sched.transform_like(partial)

    partial.axis(1).parallelize(ParallelType.grid_x)
    partial.axis(3).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial)
    for tensor in (row, y):
        tensor.axis(-1).parallelize(ParallelType.vectorize)
    fd.sched.inline_most()


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x = inputs[0].double()
    return [x * torch.rsqrt(x.square().mean(1, keepdim=True) + EPSILON)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
