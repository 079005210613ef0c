"""A product of matrices by tensor cores, with bias and gelu: x [m, k], w [n, k] -> [m, n].

A block of eight warps computes a tile of 256 x 128 (small products: 64 x 64 by four). Its loop over
k loads tiles of both factors into shared memory, ahead of the iteration that reads them; each warp
copies its parts into fragments with ldmatrix and multiplies them with mma.sync. The sum stays in
registers, where the epilogue goes on with it.

    block_z, block_y   the warps along rows and columns
    block_x            the lanes of a warp
    grid_x, grid_y     tiles: blocks that run at the same time have few rows of x and of w between
    grid_z             them, which stay in the cache

Pieces of 16 bytes are swizzled in shared memory: the eight rows that ldmatrix reads at once lie in
different banks. Where k is odd, fragments are copied by element.
"""

import sys
from dataclasses import dataclass

import harness
import torch

from nvfuser_direct import (
    CacheOp,
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

M, N, K = 16, 8, 16  # the instruction
PIECE = 8  # elements of 16 bytes: what is swizzled, and copied by a thread


@dataclass(frozen=True)
class Tiles:
    """Sizes of what a block and its warps compute."""

    rows: int  # of a block
    columns: int
    warp_rows: int
    warp_columns: int
    depth: int  # of an iteration over k
    stages: int
    group: int  # blocks along the rows that follow each other

    def of_block(self, operand: MmaOperand) -> int:
        return self.rows if operand == MmaOperand.A else self.columns

    def of_warp(self, operand: MmaOperand) -> int:
        return self.warp_rows if operand == MmaOperand.A else self.warp_columns

    @property
    def threads(self) -> tuple[int, int, int]:
        """Along x, y, z."""
        return 32, self.columns // self.warp_columns, self.rows // self.warp_rows


SMALL = Tiles(64, 64, 32, 32, 32, 3, 1)
LARGE = Tiles(256, 128, 64, 64, 64, 4, 16)

SIZES = [(64, 64, 64), (33, 7, 65), (100, 72, 40), (1, 1, 1), (130, 129, 96), (5, 200, 18)]
BENCHMARK = (8192, 8192, 8192)
RTOL = 1e-2

GRID = {
    MmaOperand.A: (ParallelType.grid_z, ParallelType.grid_x),
    MmaOperand.B: (ParallelType.grid_y,),
}
PAIR = 2  # neighbouring columns that a lane has
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


def bind(tensor: TensorView, first: int, types: tuple[ParallelType | None, ...]) -> None:
    """Bind neighbouring axes; None: a loop."""
    for axis, parallel_type in enumerate(types, first):
        if parallel_type is not None:
            tensor.axis(axis).parallelize(parallel_type)


@dataclass
class Scheduler:
    """Schedules the tensors of a product, each with the axes that its loops need."""

    tiles: Tiles
    width: int  # elements that a thread loads at once

    def split_rows(self, tensor: TensorView, axis: int, operand: MmaOperand) -> None:
        """[rows] -> [blocks, warps, tiles of a warp, tile of the instruction]."""
        tensor.split(axis, self.tiles.of_block(operand))
        tensor.split(axis + 1, self.tiles.of_warp(operand))
        tensor.split(axis + 2, M if operand == MmaOperand.A else N)

    def bind_blocks(self, tensor: TensorView, axis: int, operand: MmaOperand) -> None:
        """[blocks] of rows -> [groups, blocks], bound to the grid."""
        if operand == MmaOperand.A:
            tensor.split(axis, self.tiles.group)
        bind(tensor, axis, GRID[operand])

    def split_depth(self, tensor: TensorView, axis: int) -> None:
        """[k] -> [iterations, instructions, K]."""
        tensor.split(axis, self.tiles.depth)
        tensor.split(axis + 1, K)

    def tile(self, tile: TensorView, operand: MmaOperand) -> None:
        """[rows, k] -> [iterations, blocks, items, block_z, block_y, block_x, width], shared."""
        tile.set_memory_type(MemoryType.shared)
        tile.split(1, self.tiles.depth)
        tile.split(0, self.tiles.of_block(operand))
        order(tile, 2, 0, 1, 3)
        tile.split(3, self.width)  # [iterations, blocks, rows, pieces, width]
        if self.width == PIECE:
            # Lines of 128 bytes, of one row or two; piece i of line n lies where i XOR n would.
            pieces = self.tiles.depth // PIECE
            tile.split(2, 8 // pieces)
            tile.split(2, pieces)  # [.., rows, lines, rows of a line, pieces, width]
            tile.swizzle(3, 5)
            tile.merge(2, 3)
            tile.merge(2, 3)
        tile.merge(2, 3)
        for threads in self.tiles.threads:
            tile.split(2, threads)
        bind(tile, 3, (*THREADS, ParallelType.vectorize if self.width > 1 else None))
        self.bind_blocks(tile, 1, operand)

    def factor(self, factor: TensorView, operand: MmaOperand, is_copy: bool) -> None:
        """[rows, k], or with a broadcast -> [.., blocks, warps, tiles, fragment], k outermost."""
        is_a = operand == MmaOperand.A
        if not is_copy:
            order(factor, *((0, 2, 1) if is_a else (1, 2, 0)))  # [rows, k, 1]
        self.split_depth(factor, 1)
        self.split_rows(factor, 0, operand)
        one = () if is_copy else (7,)
        order(factor, 4, 5, 0, 1, 2, *one, 3, 6)
        factor.apply_mma_swizzle(operand)
        if is_copy and not is_a:
            factor.split(4, 2)  # two tiles at once: four matrices
            factor.axis(5).parallelize(ParallelType.mma)
        bind(factor, 3, (WARPS[operand],))
        self.bind_blocks(factor, 2, operand)

    def sum(self, total: TensorView) -> None:
        """[m, n, k] -> [iterations, instructions, 2 x (blocks, warps, tiles), mma]."""
        self.split_depth(total, 2)
        self.split_rows(total, 1, MmaOperand.B)
        self.split_rows(total, 0, MmaOperand.A)
        order(total, 8, 9, 0, 1, 2, 4, 5, 6, 3, 7, 10)
        total.apply_mma_swizzle()
        for operand, first in ((MmaOperand.B, 5), (MmaOperand.A, 2)):
            bind(total, first + 1, (WARPS[operand],))
            self.bind_blocks(total, first, operand)
        total.axis(1).parallelize(ParallelType.unroll)  # fragments are copied ahead

    def result(self, tensor: TensorView) -> None:
        """[m, n] -> [blocks, blocks, warps, warps, tiles, tiles, fragment]."""
        self.split_rows(tensor, 1, MmaOperand.B)
        self.split_rows(tensor, 0, MmaOperand.A)
        order(tensor, 0, 4, 1, 5, 2, 6, 3, 7)
        tensor.apply_mma_swizzle()
        bind(tensor, 2, (WARPS[MmaOperand.A], WARPS[MmaOperand.B]))
        for operand, axis in ((MmaOperand.B, 1), (MmaOperand.A, 0)):
            self.bind_blocks(tensor, axis, operand)


def schedule(
    fd: FusionDefinition, rows: int, columns: int, depth: int, tiles: Tiles | None = None
) -> None:
    tiles = tiles or (LARGE if min(rows, columns) >= 1024 else SMALL)
    x, w, _ = harness.input_tensors(fd)
    (out,) = fd.fusion.outputs()
    (total,) = (tensor for tensor in fd.fusion.tensors() if tensor.has_reduction())
    total.set_mma_macro(MmaMacroEncode(MmaMacroArch.ampere, M, N, K).mma_macro())
    product = total.definition()
    assert isinstance(product, MmaOp)

    width = harness.vector_width(depth, PIECE)
    scheduler = Scheduler(tiles, width)
    operands = (MmaOperand.A, MmaOperand.B)
    if width == 1:
        loaded = [tensor.cache_after() for tensor in (x, w)]
    else:
        cache = CacheOp.Global if width == PIECE else CacheOp.all_levels
        loaded = [tensor.cache_after(LoadStoreOpType.cp_async, cache) for tensor in (x, w)]
    has_pieces = width == PIECE
    copies = [tile.cache_after(LoadStoreOpType.load_matrix) for tile in loaded if has_pieces]
    factors = [factor for factor in (product.a, product.b) if isinstance(factor, TensorView)]
    for tile, operand in zip(loaded, operands, strict=True):
        scheduler.tile(tile, operand)
    for copy, operand in zip(copies, operands[: len(copies)], strict=True):
        scheduler.factor(copy, operand, is_copy=True)
    for factor, operand in zip(factors, operands, strict=True):
        scheduler.factor(factor, operand, is_copy=False)
    if columns % PAIR == 0:
        out.cache_before()  # stored in pairs
    scheduler.sum(total)
    others = {*fd.fusion.inputs(), *loaded, *copies, *factors, total}
    scheduler.result(out)
    epilogue = [tensor for tensor in fd.fusion.tensors() if tensor not in others]
    fd.sched.transform_like(out, epilogue)
    fd.sched.parallelize_like(out, -1, epilogue)
    if columns % PAIR == 0:
        out.axis(-1).parallelize(ParallelType.vectorize)
    fd.sched.inline_at(total, 2, selected_tensors=[*copies, *factors])
    fd.sched.inline_at(total, 1, selected_tensors=loaded)
    fd.sched.inline_most([tensor for tensor in epilogue if tensor != out])
    for tile in loaded:
        tile.circular_buffer(tiles.stages)


def inputs(rows: int, columns: int, depth: int, device: str) -> list[torch.Tensor]:
    shapes = [(rows, depth), (columns, depth), (columns,)]
    return [torch.randn(shape, device=device).bfloat16() for shape in shapes]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, w, bias = (tensor.double() for tensor in inputs)
    return [torch.nn.functional.gelu(x @ w.t() + bias)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
