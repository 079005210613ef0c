"""Sum of every row, one block per row.

Two stages: each thread adds the vectors it loads (the factored part), then the block combines its
threads.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

THREADS = 256
UNROLL = 4

SIZES = [(8, 8192), (3, 1000), (31, 33), (2, 1), (5, 4098)]
BENCHMARK = (1 << 16, 1 << 13)
RTOL = 1e-5


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (total,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded = x.cache_after()

    # [rows, columns] -> [rows, serial, UNROLL, THREADS, width]; all but THREADS within a thread
    width = harness.vector_width(columns, 4)
    total.split(1, width)
    total.split(1, THREADS)
    total.split(1, UNROLL)
    partial = total.rfactor([1, 2, 4])
    fd.sched.transform_like(partial)

    partial.axis(0).parallelize(ParallelType.grid_x)
    partial.axis(2).parallelize(ParallelType.unroll)
    partial.axis(3).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial)
    loaded.axis(-1).parallelize(ParallelType.vectorize)

    # The loads of UNROLL vectors stand together in the serial loop.
    fd.sched.inline_at(partial, 2, selected_tensors=[loaded])
    fd.sched.inline_most([partial])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.rand(rows, columns, device=device)]  # positive: no sum is near zero


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().sum(1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
