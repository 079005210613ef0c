"""Transpose through swizzled boxes that bulk copies load, and boxes that they store.

A tile of 64 columns and 64 rows is two boxes in shared memory, whose rows are 128 bytes long. A
thread reads four pieces of 16 bytes below each other, turns these 4 x 4 elements in registers, and
writes four pieces of columns, to the box that is stored.

    four rows of a thread        its four columns
    a0 a1 a2 a3                  a0 b0 c0 d0
    b0 b1 b2 b3        ->        a1 b1 c1 d1
    c0 c1 c2 c3                  a2 b2 c2 d2
    d0 d1 d2 d3                  a3 b3 c3 d3

Eight neighbouring threads read at the same time: four pieces that are neighbours, and those four
rows below. The swizzle permutes pieces by the row, so that they lie in all banks. Memory is written
in runs of 256 bytes, whole tiles at a time.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType, TensorView

ROWS = 64  # of a tile
BOXES = 2  # of a tile, side by side
WIDTH = 32  # elements of 128 bytes
PIECE = 4  # elements of 16 bytes
LINES = 8  # of 128 bytes, after which the permutation repeats
BELOW, BESIDE = 8, 4  # pieces that a warp reads, of rows of x

# Rows of x are multiples of 16 bytes: bulk copies need no more. Rows of y are stored by threads
# where they are no multiples.
SIZES = [(64, 96), (28, 36), (31, 36), (4, 1000), (1, 1000), (124, 132), (127, 132), (32, 4)]
BENCHMARK = (1 << 14, 1 << 14)
RTOL = 0.0


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.permute(x, [1, 0]))
    return fd


def schedule_threads(tensor: TensorView) -> None:
    """[tiles, BOXES, WIDTH, ROWS] -> [tiles, warps, lanes, PIECE columns, PIECE rows]."""
    tensor.split(3, PIECE)
    tensor.split(3, BELOW)
    tensor.split(2, PIECE)
    tensor.split(2, BESIDE)  # [tiles, BOXES, .., BESIDE, PIECE, .., BELOW, PIECE]
    tensor.reorder({5: 3, 6: 4, 3: 5, 4: 6})
    tensor.merge(4)
    tensor.merge(2)
    tensor.merge(1)
    tensor.axis(1).parallelize(ParallelType.block_y)
    tensor.axis(2).parallelize(ParallelType.block_x)
    tensor.axis(3).parallelize(ParallelType.unroll)


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    is_stored_by_boxes = rows % PIECE == 0
    box = x.cache_after(LoadStoreOpType.tma)
    pieces = box.cache_after()  # in registers, as they lie in the box
    tile = y  # what threads write
    if is_stored_by_boxes:
        tile = y.cache_before(LoadStoreOpType.tma)
        tile.set_memory_type(MemoryType.shared)
    turned = tile.cache_before()
    box.set_memory_type(MemoryType.shared)

    # y [columns, rows] -> [tiles, BOXES, WIDTH columns, ROWS]
    y.split(1, ROWS)
    y.split(0, WIDTH)
    y.split(0, BOXES)
    y.reorder({3: 1, 1: 2, 2: 3})
    y.merge(0, 1)
    y.axis(0).parallelize(ParallelType.grid_x)
    fd.sched.transform_like(y)
    fd.sched.parallelize_like(y)

    # box -> [tiles, BOXES, ROWS / LINES, LINES, pieces, PIECE]: its innermost axis is that of x.
    box.reorder({2: 3})
    box.split(3, PIECE)
    box.split(2, LINES)
    box.swizzle(3, 4)
    for axis in range(2, len(box.get_loop_domain())):
        box.axis(axis).parallelize(ParallelType.tma)

    if is_stored_by_boxes:
        tile.set_allocation_domain(tile.get_loop_domain(), True)
        for axis in (2, 3):
            y.axis(axis).parallelize(ParallelType.tma)
        fd.sched.inline_at(y, 1, selected_tensors=[tile])
    for tensor in (pieces, turned, tile):
        schedule_threads(tensor)
    pieces.reorder({3: 4})
    pieces.axis(3).parallelize(ParallelType.unroll)
    pieces.axis(4).parallelize(ParallelType.vectorize)
    turned.axis(4).parallelize(ParallelType.unroll)
    if is_stored_by_boxes:
        tile.axis(4).parallelize(ParallelType.vectorize)
    fd.sched.inline_at(tile, 1, selected_tensors=[box])
    fd.sched.inline_at(tile, 3, selected_tensors=[pieces, turned])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().t()]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
