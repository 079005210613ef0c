"""Sum of rows whose tiles bulk copies load ahead: y = sum(x, 1).

A block reduces eight rows; each of its warps sums one. While a tile is summed, the next ones are on
their way: one thread has asked for them, and no register waits for them.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

ROWS = 8  # of a block, one for each warp
COLUMNS = 128  # of a tile
STAGES = 4

# Rows are multiples of 16 bytes: bulk copies need no more.
SIZES = [(8, 128), (33, 132), (1, 1000), (100, 4), (17, 2052)]
BENCHMARK = (1 << 15, 1 << 13)
RTOL = 1e-5


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    box = x.cache_after(LoadStoreOpType.tma)
    box.set_memory_type(MemoryType.shared)

    # y [rows, columns] -> [blocks, ROWS, tiles, COLUMNS / 32, 32]
    y.split(1, COLUMNS)
    y.split(2, 32)
    y.split(0, ROWS)
    partial = y.rfactor([2, 3])
    for tensor in (partial, y):
        tensor.axis(0).parallelize(ParallelType.grid_x)
        tensor.axis(1).parallelize(ParallelType.block_y)
        tensor.axis(-1).parallelize(ParallelType.block_x)

    # [blocks, tiles, ROWS, COLUMNS]: a tile is a box, which all warps wait for.
    box.split(1, COLUMNS)
    box.split(0, ROWS)
    box.reorder({2: 1, 1: 2})
    box.axis(0).parallelize(ParallelType.grid_x)
    for axis in (2, 3):
        box.axis(axis).parallelize(ParallelType.tma)
    partial.reorder({2: 1, 1: 2})
    fd.sched.inline_at(partial, 2, selected_tensors=[box])
    fd.sched.inline_at(y, 1, best_effort=True, selected_tensors=[partial])
    box.circular_buffer(STAGES)


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.rand(rows, columns, device=device)]  # positive: no sum is near zero


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().sum(1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
