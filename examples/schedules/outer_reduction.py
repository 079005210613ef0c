"""Sum over the first dimension: threads side by side over columns, one above another over rows.

A thread keeps sums of `width` neighbouring columns; the rows of threads of a block and then the
blocks over the rows are combined.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

COLUMN_THREADS = 32
ROW_THREADS = 16
UNROLL = 4

SIZES = [(1024, 256), (33, 31), (1000, 1), (1, 129), (257, 130)]
BENCHMARK = (1 << 16, 1 << 13)
RTOL = 1e-5


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [0]))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (total,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded = x.cache_after()

    # [rows, columns]
    #   -> [columns / .., row blocks, serial, UNROLL, ROW_THREADS, COLUMN_THREADS, width]
    width = harness.vector_width(columns, 4)
    row_blocks = 16 if rows >= 1024 else 1
    total.split(1, width)
    total.split(1, COLUMN_THREADS)
    total.split(0, ROW_THREADS)
    total.split(0, UNROLL)
    total.split(0, row_blocks, inner_split=False)
    total.reorder({4: 0})
    partial = total.rfactor([2, 3])
    fd.sched.transform_like(partial)

    partial.axis(0).parallelize(ParallelType.grid_x)
    partial.axis(1).parallelize(ParallelType.grid_y)
    partial.axis(3).parallelize(ParallelType.unroll)
    partial.axis(4).parallelize(ParallelType.block_y)
    partial.axis(5).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial)
    loaded.axis(-1).parallelize(ParallelType.vectorize)
    total.axis(-1).parallelize(ParallelType.group)  # one reduction for all columns of a thread

    fd.sched.inline_at(partial, 3, selected_tensors=[loaded])
    fd.sched.inline_at(total, 2, best_effort=True, selected_tensors=[partial])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.rand(rows, columns, device=device)]  # positive: no sum is near zero


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().sum(0)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
