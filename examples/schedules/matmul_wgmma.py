"""A product of matrices by warpgroups (wgmma), with bias and gelu: x [m, k], w [n, k] -> [m, n].

A block computes a tile of 128 x 256. Bulk copies bring boxes of both factors, 64 elements of k wide
and swizzled, as many stages ahead as shared memory holds; two warpgroups read them there and
multiply 64 x 256 each. A third one does nothing but load. The sum stays in registers, where the
epilogue goes on with it.

    block_y         2 warpgroups that compute, 64 rows of the tile each
    block_x         the lanes of a warpgroup
    grid_x, grid_y  tiles: blocks that run at the same time have few rows of x and of w between
    grid_z          them, which stay in the cache
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

M, N, K = 64, 256, 16  # the instruction
ROWS, COLUMNS = 128, 256  # of a block
GROUP = 16  # blocks along m that follow each other
DEPTH = 64  # of an iteration over k: 128 bytes, which the swizzle permutes
PIECE = 8  # elements of 16 bytes
LINES = 8  # of 128 bytes, after which the permutation repeats
STAGES = 4
PAIR = 2  # neighbouring columns that a lane holds
REGISTERS = (40, 232)  # of a thread that loads, of one that computes
MACRO = MmaMacroEncode(MmaMacroArch.hopper, M, N, K).mma_macro()

# Rows of k are multiples of 16 bytes: bulk copies need no more.
SIZES = [(128, 256, 64), (33, 7, 72), (300, 520, 200), (1, 24, 8), (130, 264, 1000)]
BENCHMARK = (8192, 8192, 8192)
RTOL = 1e-2

BLOCKS = (ParallelType.grid_z, ParallelType.grid_y, ParallelType.grid_x)  # along m, n, m

is_specialized = True  # a warpgroup of its own loads


def make(rows: int, columns: int, depth: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=DataType.BFloat16)
        w = fd.define_tensor([1, -1, -1], contiguity=[None, True, True], dtype=DataType.BFloat16)
        bias = fd.define_tensor([-1], contiguity=True, dtype=DataType.BFloat16)
        total = fd.ops.sum(fd.ops.mul(x, w), [2])
        result = fd.ops.add(total, fd.ops.broadcast(bias, [True, False]))
        fd.add_output(fd.ops.cast(fd.ops.gelu(result), DataType.BFloat16))
    return fd


def order(tensor: TensorView, *axes: int) -> None:
    """Put the loop axes in this order."""
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def bind(tensor: TensorView, first: int, *types: ParallelType) -> None:
    """Bind neighbouring axes."""
    for axis, parallel_type in enumerate(types, first):
        tensor.axis(axis).parallelize(parallel_type)


def schedule_box(box: TensorView, operand: MmaOperand) -> None:
    """[m, 1, k] or [1, n, k] -> [iterations, 1, blocks.., rows / 8, 8, pieces, 8], shared."""
    box.set_memory_type(MemoryType.shared)
    if operand == MmaOperand.A:
        order(box, 2, 1, 0)  # [k, 1, rows]
        box.split(2, ROWS)
        box.split(2, GROUP)
        blocks = [ParallelType.grid_z, ParallelType.grid_x]
    else:
        order(box, 2, 0, 1)
        box.split(2, COLUMNS)
        blocks = [ParallelType.grid_y]
    box.split(0, DEPTH)
    order(
        box, 0, *range(2, len(box.get_loop_domain())), 1
    )  # [iterations, 1, blocks.., rows, DEPTH]
    box.split(-1, PIECE)
    box.split(-3, LINES)
    box.swizzle(-3, -2)
    bind(box, 2, *blocks, *[ParallelType.tma] * 4)


def schedule_tiles(tensor: TensorView) -> None:
    """[m, n, ..] -> [groups, blocks, warpgroups, M, blocks, N, ..]."""
    tensor.split(1, COLUMNS)
    tensor.split(0, ROWS)
    tensor.split(1, M)
    tensor.split(0, GROUP)


def schedule_sum(total: TensorView) -> None:
    """[m, n, k] -> [iterations, instructions, blocks.., warpgroups, lanes, mma]."""
    total.split(2, DEPTH)
    total.split(3, K)
    schedule_tiles(total)
    order(total, 6, 7, 0, 4, 1, 2, 3, 5, 8)
    total.apply_mma_swizzle(macro=MACRO)
    bind(total, 1, ParallelType.unroll, *BLOCKS, ParallelType.block_y)


def schedule_result(out: TensorView) -> None:
    """[m, n] -> [blocks.., warpgroups, lanes, registers]."""
    schedule_tiles(out)
    order(out, 0, 4, 1, 2, 3, 5)
    out.apply_mma_swizzle(macro=MACRO)
    bind(out, 0, *BLOCKS, ParallelType.block_y)
    bind(out, -3, ParallelType.unswitch)  # a tile that is whole is tested once


def schedule(fd: FusionDefinition, rows: int, columns: int, depth: int) -> None:
    x, w, _ = harness.input_tensors(fd)
    (out,) = fd.fusion.outputs()
    (total,) = (tensor for tensor in fd.fusion.tensors() if tensor.has_reduction())
    total.set_mma_macro(MACRO)
    assert isinstance(total.definition(), MmaOp)
    boxes = [tensor.cache_after(LoadStoreOpType.tma) for tensor in (x, w)]
    for box, operand in zip(boxes, (MmaOperand.A, MmaOperand.B), strict=True):
        schedule_box(box, operand)
    if columns % PAIR == 0:
        out.cache_before()  # stored in pairs
    schedule_sum(total)
    schedule_result(out)
    others = {*fd.fusion.inputs(), *boxes, total}
    epilogue = [tensor for tensor in fd.fusion.tensors() if tensor not in others]
    fd.sched.transform_like(out, epilogue)
    fd.sched.parallelize_like(out, -1, epilogue)
    if columns % PAIR == 0:
        out.axis(-1).parallelize(ParallelType.vectorize)
    fd.sched.inline_at(total, 1, selected_tensors=boxes)
    fd.sched.inline_most([tensor for tensor in epilogue if tensor != out])
    for box in boxes:
        if is_specialized:
            fd.sched.warp_specialize(box, STAGES, STAGES - 1, ParallelType.block_y, REGISTERS)
        else:
            box.circular_buffer(STAGES)


def inputs(rows: int, columns: int, depth: int, device: str) -> list[torch.Tensor]:
    shapes = [(rows, 1, depth), (1, columns, depth), (columns,)]
    return [torch.randn(shape, device=device).bfloat16() for shape in shapes]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, w, bias = (tensor.double() for tensor in inputs)
    return [torch.nn.functional.gelu(x[:, 0] @ w[0].t() + bias)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
