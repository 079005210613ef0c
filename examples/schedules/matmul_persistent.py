"""The product of matmul_wgmma.py by blocks that go from tile to tile: bias, gelu, two warpgroups.

The grid is as large as the GPU, and each block computes tiles one after the other: while it
finishes one, its third warpgroup loads the boxes of the next. A lane loads the bias of a pair of
columns once for both of its rows.

Blocks of a cluster have the same columns of tiles, and load their boxes of w together, each a part.

    block_y         2 warpgroups that compute, 64 rows of the tile each
    block_x         the lanes of a warpgroup
    grid_x          the blocks of a cluster, along m
    grid_y, grid_z  tiles along n and m: blocks read few rows of x and of w at a time, which stay in
                    the cache
"""

import sys

import harness
import torch
from matmul_wgmma import (
    COLUMNS,
    DEPTH,
    LINES,
    MACRO,
    PAIR,
    PIECE,
    REGISTERS,
    ROWS,
    STAGES,
    K,
    M,
    bind,
    order,
)

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    MmaOp,
    MmaOperand,
    ParallelType,
    TensorView,
)

CLUSTER = 1  # blocks that load their boxes of w together: 1, 2 or 4
GRID = (16, 8)  # clusters along m, blocks along n: 128 of 132 multiprocessors

# Rows of k are multiples of 16 bytes: bulk copies need no more.
SIZES = [(128, 256, 64), (33, 7, 72), (300, 520, 200), (2050, 24, 8), (1, 2060, 136)]
BENCHMARK = (8192, 8192, 8192)
RTOL = 1e-2


def make(rows: int, columns: int, depth: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=DataType.BFloat16)
        w = fd.define_tensor([1, -1, -1], contiguity=[None, True, True], dtype=DataType.BFloat16)
        bias = fd.define_tensor([1, -1], contiguity=[None, True], dtype=DataType.BFloat16)
        total = fd.ops.sum(fd.ops.mul(x, w), [2])
        result = fd.ops.gelu(fd.ops.add(total, bias))
        fd.add_output(fd.ops.cast(result, DataType.BFloat16))
    return fd


def bind_blocks(tensor: TensorView, first: int) -> None:
    """Bind [clusters along m, blocks of a cluster, blocks along n]."""
    bind(tensor, first, ParallelType.grid_z, ParallelType.grid_x, ParallelType.grid_y)
    tensor.axis(first + 1).set_clustered_blocks()


def schedule_box(box: TensorView, operand: MmaOperand) -> None:
    """[m, 1, k] or [1, n, k] -> [tiles, tiles, iterations, blocks.., 1, rows / 8, 8, pieces, 8].

    The axis of extent 1 is split as that of the other factor: blocks along it read the same box.
    """
    box.set_memory_type(MemoryType.shared)
    box.split(2, DEPTH)
    box.split(1, COLUMNS)
    box.split(1, GRID[1])
    box.split(0, ROWS)
    box.split(0, CLUSTER)
    box.split(0, GRID[0])  # [tiles, clusters, blocks, ROWS, tiles, blocks, COLUMNS, iterations, k]
    of_box = (6, 3) if operand == MmaOperand.A else (3, 6)
    order(box, 0, 4, 7, 1, 2, 5, *of_box, 8)
    box.split(-1, PIECE)
    box.split(-3, LINES)
    box.swizzle(-3, -2)
    bind_blocks(box, 3)
    bind(box, 7, *[ParallelType.tma] * 4)


def schedule_tiles(tensor: TensorView) -> None:
    """[m, n, ..] -> [tiles, clusters, blocks, warpgroups, M, tiles, blocks, N, ..]."""
    tensor.split(1, COLUMNS)
    tensor.split(1, GRID[1])
    tensor.split(0, ROWS)
    tensor.split(1, M)
    tensor.split(0, CLUSTER)
    tensor.split(0, GRID[0])


def schedule_sum(total: TensorView) -> None:
    """[m, n, k] -> [tiles, tiles, iterations, K's, blocks.., warpgroups, lanes, mma]."""
    total.split(2, DEPTH)
    total.split(3, K)
    schedule_tiles(total)
    order(total, 0, 5, 8, 9, 1, 2, 6, 3, 4, 7, 10)
    total.apply_mma_swizzle(macro=MACRO)
    bind(total, 3, ParallelType.unroll)
    bind_blocks(total, 4)
    bind(total, 7, ParallelType.block_y)


def schedule_result(out: TensorView) -> None:
    """[m, n] -> [tiles, tiles, blocks.., warpgroups, lanes, pairs, rows, PAIR]."""
    schedule_tiles(out)
    order(out, 0, 5, 1, 2, 6, 3, 4, 7)
    out.apply_mma_swizzle(macro=MACRO)
    bind_blocks(out, 2)
    bind(out, 5, ParallelType.block_y)
    bind(out, -3, ParallelType.unswitch)  # a tile that is whole is tested once


def schedule(fd: FusionDefinition, rows: int, columns: int, depth: int) -> None:
    x, w, bias = harness.input_tensors(fd)
    (out,) = fd.fusion.outputs()
    (total,) = (tensor for tensor in fd.fusion.tensors() if tensor.has_reduction())
    total.set_mma_macro(MACRO)
    assert isinstance(total.definition(), MmaOp)
    boxes = [tensor.cache_after(LoadStoreOpType.tma) for tensor in (x, w)]
    for box, operand in zip(boxes, (MmaOperand.A, MmaOperand.B), strict=True):
        schedule_box(box, operand)
    pairs = bias.cache_after()  # of columns, for both rows of a lane
    if columns % PAIR == 0:
        out.cache_before()  # stored in pairs
    schedule_sum(total)
    schedule_result(out)
    others = {*fd.fusion.inputs(), *boxes, total}
    epilogue = [tensor for tensor in fd.fusion.tensors() if tensor not in others]
    fd.sched.transform_like(out, epilogue)
    fd.sched.parallelize_like(out, -1, epilogue)
    if columns % PAIR == 0:
        for tensor in (pairs, out):
            tensor.axis(-1).parallelize(ParallelType.vectorize)
    fd.sched.inline_at(total, 3, selected_tensors=boxes)
    fd.sched.inline_at(out, 2, selected_tensors=[total])
    fd.sched.inline_at(out, -3, selected_tensors=[pairs])
    fd.sched.inline_most([tensor for tensor in epilogue if tensor not in (pairs, out)])
    for box in boxes:
        fd.sched.warp_specialize(box, STAGES, STAGES - 1, ParallelType.block_y, REGISTERS)


def inputs(rows: int, columns: int, depth: int, device: str) -> list[torch.Tensor]:
    shapes = [(rows, 1, depth), (1, columns, depth), (1, columns)]
    return [torch.randn(shape, device=device).bfloat16() for shape in shapes]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, w, bias = (tensor.double() for tensor in inputs)
    return [torch.nn.functional.gelu(x[:, 0] @ w[0].t() + bias)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
