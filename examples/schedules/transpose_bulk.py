"""Transpose through swizzled boxes that bulk copies load.

A tile of 32 x 32 elements is one box in shared memory, its rows 128 bytes long. Threads of a warp
read a column of it: without the permutation of pieces of 16 bytes all of them would meet in one
bank, with it four do.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

TILE = 32
PIECE = 4  # elements of 16 bytes
LINES = 8  # of 128 bytes, after which the permutation repeats
ROWS_AT_A_TIME = 8  # block: [8, 32] threads, each moves 4 elements

# Rows of x are multiples of 16 bytes: bulk copies need no more.
SIZES = [(64, 96), (31, 36), (1, 1000), (127, 132), (32, 4)]
BENCHMARK = (1 << 14, 1 << 14)
RTOL = 0.0


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.permute(x, [1, 0]))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    box = x.cache_after(LoadStoreOpType.tma)
    box.set_memory_type(MemoryType.shared)

    # y [columns, rows] -> [tiles, TILE columns, TILE rows]
    y.split(1, TILE)
    y.split(0, TILE)
    y.reorder({1: 2})
    y.merge(0, 1)
    fd.sched.transform_like(y)

    # box -> [tiles, TILE / LINES, LINES, pieces, PIECE]: its innermost axis is that of x.
    box.reorder({1: 2})
    box.split(2, PIECE)
    box.split(1, LINES)
    box.swizzle(2, 3)
    for axis in range(1, len(box.get_loop_domain())):
        box.axis(axis).parallelize(ParallelType.tma)

    y.split(1, ROWS_AT_A_TIME)
    y.axis(1).parallelize(ParallelType.unroll)
    y.axis(2).parallelize(ParallelType.block_y)
    y.axis(3).parallelize(ParallelType.block_x)
    for tensor in (y, box):
        tensor.axis(0).parallelize(ParallelType.grid_x)
    fd.sched.inline_at(y, 1, selected_tensors=[box])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().t()]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
