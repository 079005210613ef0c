"""A product of matrices by tensor cores, with bias and gelu: x [m, k], w [n, k] -> [m, n].

A block of four warps computes a tile of 64 x 64. Its loop over k loads tiles of both factors into
shared memory, ahead of the iteration that reads them; each warp copies its parts into fragments and
multiplies them with mma.sync. The sum stays in registers, where the epilogue goes on with it.

    block_z, block_y   2 x 2 warps, each 32 x 32 of the tile
    block_x            the lanes of a warp
"""

import sys

import harness
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOp,
    MmaOperand,
    ParallelType,
    TensorView,
)

BLOCK = 64  # rows, and columns, of a block
WARP = 32  # of a warp
DEPTH = 32  # of an iteration over k
M, N, K = 16, 8, 16  # the instruction
STAGES = 3
WIDEST = 8  # elements of 16 bytes

SIZES = [(64, 64, 64), (33, 7, 65), (100, 72, 40), (1, 1, 1), (130, 129, 96), (5, 200, 18)]
BENCHMARK = (8192, 8192, 8192)
RTOL = 1e-2

GRID = {MmaOperand.A: ParallelType.grid_y, MmaOperand.B: ParallelType.grid_x}
THREADS = (ParallelType.block_z, ParallelType.block_y, ParallelType.block_x)
WARPS = {MmaOperand.A: ParallelType.block_z, MmaOperand.B: ParallelType.block_y}


def make(rows: int, columns: int, depth: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        w = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        bias = fd.define_tensor([-1], contiguity=True, dtype=DataType.BFloat16)
        product = fd.ops.mul(
            fd.ops.broadcast(x, [False, True, False]), fd.ops.broadcast(w, [True, False, False])
        )
        result = fd.ops.add(fd.ops.sum(product, [2]), fd.ops.broadcast(bias, [True, False]))
        fd.add_output(fd.ops.cast(fd.ops.gelu(result), DataType.BFloat16))
    return fd


def order(tensor: TensorView, *axes: int) -> None:
    """Put the loop axes in this order."""
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def split_rows(tensor: TensorView, axis: int, tile: int) -> None:
    """[rows] -> [blocks, warps, tiles of a warp, tile]."""
    tensor.split(axis, BLOCK)
    tensor.split(axis + 1, WARP)
    tensor.split(axis + 2, tile)


def split_depth(tensor: TensorView, axis: int) -> None:
    """[k] -> [iterations, instructions, K]."""
    tensor.split(axis, DEPTH)
    tensor.split(axis + 1, K)


def schedule_tile(tile: TensorView, operand: MmaOperand, width: int) -> None:
    """[rows, k] -> [iterations, blocks, items, block_z, block_y, block_x, width], shared."""
    tile.set_memory_type(MemoryType.shared)
    tile.split(1, DEPTH)
    tile.split(0, BLOCK)
    order(tile, 2, 0, 1, 3)
    tile.split(3, width)
    tile.merge(2, 3)
    for threads in (32, 2, 2):
        tile.split(2, threads)
    types = (GRID[operand], None, *THREADS, ParallelType.vectorize if width > 1 else None)
    bind(tile, 1, types)


def bind(tensor: TensorView, first: int, types: tuple[ParallelType | None, ...]) -> None:
    """Bind neighbouring axes; None: a loop."""
    for axis, parallel_type in enumerate(types, first):
        if parallel_type is not None:
            tensor.axis(axis).parallelize(parallel_type)


def schedule_factor(factor: TensorView, operand: MmaOperand) -> None:
    """[m, 1, k] or [1, n, k] -> [iterations, instructions, blocks, warps, tiles, 1, fragment]."""
    is_a = operand == MmaOperand.A
    order(factor, *((0, 2, 1) if is_a else (1, 2, 0)))  # [rows, k, 1]
    split_depth(factor, 1)
    split_rows(factor, 0, M if is_a else N)
    order(factor, 4, 5, 0, 1, 2, 7, 3, 6)
    factor.apply_mma_swizzle(operand)
    bind(factor, 2, (GRID[operand], WARPS[operand]))


def schedule_sum(total: TensorView) -> None:
    """[m, n, k] -> [iterations, instructions, blocks, warps, tiles, blocks, warps, tiles, mma]."""
    split_depth(total, 2)
    split_rows(total, 1, N)
    split_rows(total, 0, M)
    order(total, 8, 9, 0, 1, 2, 4, 5, 6, 3, 7, 10)
    total.apply_mma_swizzle()
    for operand, first in ((MmaOperand.A, 2), (MmaOperand.B, 5)):
        bind(total, first, (GRID[operand], WARPS[operand]))


def schedule_result(tensor: TensorView) -> None:
    """[m, n] -> [blocks, blocks, warps, warps, tiles, tiles, fragment]."""
    split_rows(tensor, 1, N)
    split_rows(tensor, 0, M)
    order(tensor, 0, 4, 1, 5, 2, 6, 3, 7)
    tensor.apply_mma_swizzle()
    a, b = MmaOperand.A, MmaOperand.B
    bind(tensor, 0, (GRID[a], GRID[b], WARPS[a], WARPS[b]))


def schedule(fd: FusionDefinition, rows: int, columns: int, depth: int) -> None:
    x, w, _ = harness.input_tensors(fd)
    (out,) = fd.fusion.outputs()
    (total,) = (tensor for tensor in fd.fusion.tensors() if tensor.has_reduction())
    total.set_mma_macro(MmaMacroEncode(MmaMacroArch.ampere, M, N, K).mma_macro())
    product = total.definition()
    assert isinstance(product, MmaOp)

    width = harness.vector_width(depth, WIDEST)
    copy = LoadStoreOpType.cp_async if width > 1 else LoadStoreOpType.set
    tiles = [x.cache_after(copy), w.cache_after(copy)]
    for tile, operand in zip(tiles, (MmaOperand.A, MmaOperand.B), strict=True):
        schedule_tile(tile, operand, width)
    factors = [factor for factor in (product.a, product.b) if isinstance(factor, TensorView)]
    for factor, operand in zip(factors, (MmaOperand.A, MmaOperand.B), strict=True):
        schedule_factor(factor, operand)
    schedule_sum(total)
    others = {*fd.fusion.inputs(), *tiles, *factors, total}
    schedule_result(out)
    epilogue = [tensor for tensor in fd.fusion.tensors() if tensor not in others]
    fd.sched.transform_like(out, epilogue)
    fd.sched.parallelize_like(out, -1, epilogue)
    fd.sched.inline_at(total, 2, selected_tensors=factors)
    fd.sched.inline_at(total, 1, selected_tensors=tiles)
    fd.sched.inline_most([tensor for tensor in epilogue if tensor != out])
    for tile in tiles:
        tile.circular_buffer(STAGES)


def inputs(rows: int, columns: int, depth: int, device: str) -> list[torch.Tensor]:
    shapes = [(rows, depth), (columns, depth), (columns,)]
    return [torch.randn(shape, device=device).bfloat16() for shape in shapes]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, w, bias = (tensor.double() for tensor in inputs)
    return [torch.nn.functional.gelu(x @ w.t() + bias)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
