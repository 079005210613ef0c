"""Transpose through a tile of shared memory, so that loads and stores are both coalesced.

The tile is read by columns and written by rows. An XOR swizzle of its allocation spreads a column
over all banks: element (row, column) stands at (row, column ^ row).
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, MemoryType, ParallelType

TILE = 32
ROWS_AT_A_TIME = 8  # block: [8, 32] threads, each moves 4 elements

SIZES = [(64, 96), (31, 33), (1, 1000), (127, 129), (32, 1)]
BENCHMARK = (1 << 14, 1 << 14)
RTOL = 0.0


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.permute(x, [1, 0]))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    tile = x.cache_after()
    tile.set_memory_type(MemoryType.shared)

    # y [columns, rows] -> [tiles, TILE columns, TILE rows]
    y.split(1, TILE)
    y.split(0, TILE)
    y.reorder({1: 2})
    y.merge(0, 1)
    fd.sched.transform_like(y)

    # tile -> [tiles, TILE rows, TILE columns]: its innermost axis is that of x.
    tile.reorder({1: 2})
    tile.swizzle(1, 2)
    tile.set_allocation_domain(tile.get_loop_domain(), True)

    for tensor in (y, tile):
        tensor.split(1, ROWS_AT_A_TIME)
        tensor.axis(0).parallelize(ParallelType.grid_x)
        tensor.axis(1).parallelize(ParallelType.unroll)
        tensor.axis(2).parallelize(ParallelType.block_y)
        tensor.axis(3).parallelize(ParallelType.block_x)
    fd.sched.inline_at(y, 1, selected_tensors=[tile])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().t()]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
