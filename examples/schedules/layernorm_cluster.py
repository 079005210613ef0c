"""Layer normalization of bfloat16 rows, each row by a cluster of blocks.

The blocks keep their parts of a row in registers and combine Welford triples through each other's
shared memory. Few threads have many elements each: a warp has some 500 instructions for its part of
a row, however short it is, and 8 for each element of a lane.
"""

import sys

import harness
import torch

from nvfuser_direct import DataType, FusionDefinition, ParallelType, TensorView

THREADS = 256
BLOCKS = 2  # of a cluster
EPSILON = 1e-5

SIZES = [(5, 1 << 16), (3, 1000), (2, 30_001), (9, 4100), (1, 16)]
BENCHMARK = (4096, 1 << 15)
RTOL = 5e-3
MOST_REGISTERS = 64  # four blocks on a multiprocessor


def make(rows: int, columns: int) -> FusionDefinition:
    # The row's size is static: every thread keeps its part in registers.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=DataType.BFloat16)
        along = [False, True]

        def wide() -> TensorView:  # converted in each pass: a row is kept as it is stored
            return fd.ops.cast(x, dtype=DataType.Float)

        mean, deviations, _ = fd.ops.welford(wide(), [1])
        variance = fd.ops.mul(deviations, 1.0 / columns)
        scale = fd.ops.rsqrt(fd.ops.add(variance, EPSILON))
        centered = fd.ops.sub(wide(), fd.ops.broadcast(mean, along))
        y = fd.ops.mul(centered, fd.ops.broadcast(scale, along))
        fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    results = [t for t in fd.fusion.tensors() if any(i.is_reduction() for i in t.loop())]
    row = x.cache_after()
    y.cache_before()

    # [rows, columns] -> [rows, blocks, vectors of a thread, threads, width]
    width = harness.vector_width(columns, 8)
    batches = -(-columns // (width * THREADS * BLOCKS))
    mean = results[0]
    mean.split(1, width)
    mean.split(1, BLOCKS, inner_split=False)
    mean.split(2, batches, inner_split=False)
    partial = mean.rfactor([2, 4], results)[0]
    fd.sched.transform_like(partial)

    partial.axis(0).parallelize(ParallelType.grid_y)
    partial.axis(1).parallelize(ParallelType.grid_x)
    partial.axis(1).set_clustered_blocks()
    partial.axis(3).parallelize(ParallelType.block_x)
    partial.axis(3).pad_to_multiple_of_warp()
    fd.sched.parallelize_like(partial)
    for tensor in (row, y):
        tensor.axis(-1).parallelize(ParallelType.vectorize)
    fd.sched.inline_most()


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [(torch.randn(rows, columns, device=device) + 10).bfloat16()]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x = inputs[0].double()
    centered = x - x.mean(1, keepdim=True)
    return [centered * torch.rsqrt(centered.square().mean(1, keepdim=True) + EPSILON)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
