"""Softmax of rows too long for one multiprocessor: the blocks of a cluster share a row.

Each block keeps its part of the row in registers. Blocks of a cluster run on neighbouring
multiprocessors and write their maxima and sums into each other's shared memory, so the row is read
once, no memory is needed for partial results, and the launch is not cooperative.
"""

import sys

import harness
import torch

from nvfuser_direct import DataType, FusionDefinition, ParallelType, TensorView

THREADS = 512
BLOCKS = 8  # of a cluster
BATCHES = 8  # vectors that a thread keeps, at most

SIZES = [(3, 1 << 17), (5, 1000), (2, 100_003), (7, 16), (300, 4100)]
BENCHMARK = (1024, 1 << 18)
RTOL = 5e-3
MOST_REGISTERS = 64  # two blocks of 512 threads on a multiprocessor


def make(rows: int, columns: int) -> FusionDefinition:
    # The row's size is static: every thread keeps its part in registers.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=DataType.BFloat16)
        along = [False, True]

        def wide() -> TensorView:  # converted in each pass: a row is kept as it is stored
            return fd.ops.cast(x, dtype=DataType.Float)

        def exponentials() -> TensorView:
            return fd.ops.exp(fd.ops.sub(wide(), fd.ops.broadcast(largest, along)))

        largest = fd.ops.max(wide(), [1])
        total = fd.ops.sum(exponentials(), [1])
        share = fd.ops.broadcast(fd.ops.reciprocal(total), along)
        fd.add_output(fd.ops.cast(fd.ops.mul(exponentials(), share), dtype=DataType.BFloat16))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    results = [t for t in fd.fusion.tensors() if any(i.is_reduction() for i in t.loop())]
    row = x.cache_after()
    y.cache_before()

    # [rows, columns] -> [rows, blocks, vectors of a thread, threads, width]
    width = harness.vector_width(columns, 8)
    blocks = min(BLOCKS, max(2, columns // (width * THREADS)))
    batches = -(-columns // (width * THREADS * blocks))
    partials = []
    for result in results:
        result.split(1, width)
        result.split(1, blocks, inner_split=False)
        result.split(2, batches, inner_split=False)
        partials.append(result.rfactor([2, 4]))
    partial = partials[0]
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
    return [torch.randn(rows, columns, device=device).bfloat16()]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [torch.softmax(inputs[0].double(), 1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
