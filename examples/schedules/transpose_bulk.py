"""Transpose through swizzled boxes that bulk copies load.

A tile of 64 columns and 32 rows is two boxes in shared memory, whose rows are 128 bytes long. The
swizzle permutes pieces of 16 bytes, so that eight rows of a column lie in different banks, four of
them each. A warp reads such a block at once: four columns, which are neighbours in a piece, of
eight rows. No two of its threads meet in a bank, and it writes whole sectors of 32 bytes.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

ROWS = 32  # of a tile
BOXES = 2  # of a tile, side by side
WIDTH = 32  # elements of 128 bytes
PIECE = 4  # elements of 16 bytes
LINES = 8  # of 128 bytes, after which the permutation repeats

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

    # y [columns, rows] -> [tiles, BOXES, WIDTH columns, ROWS]
    y.split(1, ROWS)
    y.split(0, WIDTH)
    y.split(0, BOXES)
    y.reorder({3: 1, 1: 2, 2: 3})
    y.merge(0, 1)
    fd.sched.transform_like(y)

    # box -> [tiles, BOXES, ROWS / LINES, LINES, pieces, PIECE]: its innermost axis is that of x.
    box.reorder({2: 3})
    box.split(3, PIECE)
    box.split(2, LINES)
    box.swizzle(3, 4)
    for axis in range(2, len(box.get_loop_domain())):
        box.axis(axis).parallelize(ParallelType.tma)

    # y -> [tiles, BOXES, ROWS / LINES, pieces, PIECE * LINES]: a warp for each piece of a line
    y.split(3, LINES)
    y.split(2, PIECE)
    y.reorder({4: 2, 2: 3, 3: 4})
    y.merge(4, 5)
    y.axis(1).parallelize(ParallelType.unroll)
    y.axis(2).parallelize(ParallelType.unroll)
    y.axis(3).parallelize(ParallelType.block_y)
    y.axis(4).parallelize(ParallelType.block_x)
    for tensor in (y, box):
        tensor.axis(0).parallelize(ParallelType.grid_x)
    fd.sched.inline_at(y, 1, selected_tensors=[box])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().t()]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
