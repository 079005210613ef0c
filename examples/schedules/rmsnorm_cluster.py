"""RMS normalization of bfloat16 rows with a weight, each row by a cluster of blocks.

A row of 65,536 elements is too long for one multiprocessor to hold besides others. Four blocks keep
a quarter each, in registers, and add up their sums through each other's shared memory: the row is
read once, and several clusters share a multiprocessor, so that one loads while another one waits.
"""

import sys

import harness
import torch

from nvfuser_direct import DataType, FusionDefinition, ParallelType, TensorView

THREADS = 256
BLOCKS = 4  # of a cluster
EPSILON = 1e-5

SIZES = [(3, 1 << 16), (5, 1000), (2, 30_001), (7, 16), (130, 4100)]
BENCHMARK = (2048, 1 << 16)
RTOL = 5e-3
MOST_REGISTERS = 64  # four blocks of 256 threads on a multiprocessor


def make(rows: int, columns: int) -> FusionDefinition:
    # The row's size is static: every thread keeps its part in registers.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=DataType.BFloat16)
        weight = fd.define_tensor([columns], contiguity=True, dtype=DataType.BFloat16)

        def wide(tensor: TensorView) -> TensorView:  # converted where it is read
            return fd.ops.cast(tensor, dtype=DataType.Float)

        squares = fd.ops.sum(fd.ops.mul(wide(x), wide(x)), [1])
        mean = fd.ops.add(fd.ops.mul(squares, 1.0 / columns), EPSILON)
        scale = fd.ops.broadcast(fd.ops.rsqrt(mean), [False, True])
        y = fd.ops.mul(fd.ops.mul(wide(x), scale), wide(weight))
        fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x, weight), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    (squares,) = (t for t in fd.fusion.tensors() if any(i.is_reduction() for i in t.loop()))
    loaded = [x.cache_after(), weight.cache_after()]
    y.cache_before()

    # [rows, columns] -> [rows, blocks, vectors of a thread, threads, width]
    width = harness.vector_width(columns, 8)
    batches = -(-columns // (width * THREADS * BLOCKS))
    squares.split(1, width)
    squares.split(1, BLOCKS, inner_split=False)
    squares.split(2, batches, inner_split=False)
    partial = squares.rfactor([2, 4])
    fd.sched.transform_like(partial)

    partial.axis(0).parallelize(ParallelType.grid_y)
    partial.axis(1).parallelize(ParallelType.grid_x)
    partial.axis(1).set_clustered_blocks()
    partial.axis(3).parallelize(ParallelType.block_x)
    partial.axis(3).pad_to_multiple_of_warp()
    fd.sched.parallelize_like(partial)
    for tensor in (*loaded, y):
        tensor.axis(-1).parallelize(ParallelType.vectorize)
    fd.sched.inline_most()


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    x = torch.randn(rows, columns, device=device).bfloat16()
    return [x, torch.rand(columns, device=device).bfloat16()]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, weight = (tensor.double() for tensor in inputs)
    return [x * torch.rsqrt(x.square().mean(1, keepdim=True) + EPSILON) * weight]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
