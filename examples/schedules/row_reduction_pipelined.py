"""Sum of every row, with the next rows on their way while one is added up.

A fixed grid of blocks walks over the rows. Whole rows are copied into the stages of a circular
buffer in shared memory: with cp.async, PREFETCH rows ahead of the one that is read. Every thread
reads what it copied itself, so no thread waits for another until the block combines its threads.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

THREADS = 256
BLOCKS = 264  # two for each multiprocessor of a large GPU
STAGES = 3
PREFETCH = 2

SIZES = [(1000, 8192), (3, 1000), (600, 33), (2, 1), (5, 4098), (0, 64)]
BENCHMARK = (1 << 16, 1 << 13)
RTOL = 1e-5


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (total,) = harness.input_tensors(fd), fd.fusion.outputs()
    row = x.cache_after(LoadStoreOpType.cp_async)
    row.set_memory_type(MemoryType.shared)
    values = row.cache_after()

    # [rows, columns] -> [serial, BLOCKS, serial, THREADS, width]
    width = harness.vector_width(columns, 4)
    total.split(1, width)
    total.split(1, THREADS)
    total.split(0, BLOCKS)
    partial = total.rfactor([2, 4])
    fd.sched.transform_like(partial)

    partial.axis(1).parallelize(ParallelType.grid_x)
    partial.axis(3).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial)
    for tensor in (row, values):
        tensor.axis(-1).parallelize(ParallelType.vectorize)

    # A stage is a row: it is loaded in the outermost loop, ahead of the iteration that reads it.
    fd.sched.inline_at(partial, 2, selected_tensors=[row])
    fd.sched.inline_at(partial, 4, selected_tensors=[values])
    fd.sched.inline_most([partial])
    row.circular_buffer(STAGES, PREFETCH)


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.rand(rows, columns, device=device)]  # positive: no sum is near zero


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().sum(1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
