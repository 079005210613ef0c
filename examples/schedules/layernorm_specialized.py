"""Layer normalization of bfloat16 rows with threads that only load, two turns of rows ahead.

Each warp has a row of its own: it adds up its row without a barrier of the block, and each lane
takes part in five shuffles for 128 elements. A turn is a row for each warp, and one stage. One
thread of a group of its own begins the bulk copies of a turn, each of a whole row, as soon as the
warps have handed back a stage; these wait for nothing but their rows. Turns of all blocks follow
each other in memory.
"""

import sys

import harness
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    TensorView,
    WelfordOp,
)

EPSILON = 1e-5
BLOCKS = 132
WARPS = 8  # that compute: rows of a turn
LANES = 32
WIDTH = 8  # elements of 16 bytes
STAGES = 3  # of 64 KB, for rows of 4096
TURNS_AHEAD = 2
REGISTERS = (24, 152)  # of a thread that loads, of one that computes: 64 hold its part of a row

# Rows are multiples of 16 bytes. Blocks have a turn, none, or several.
SIZES = [(5, 4096), (397, 1000), (2200, 264), (1, 8), (1200, 136)]
BENCHMARK = (32768, 4096)
RTOL = 1e-2


def make(rows: int, columns: int) -> FusionDefinition:
    # The row's size is static: stages are allocated for it.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=DataType.BFloat16)
        along = [False, True]

        def wide() -> TensorView:  # converted in each pass: a row is kept as it is stored
            return fd.ops.cast(x, dtype=DataType.Float)

        mean, squares, _ = fd.ops.welford(wide(), [1])
        scale = fd.ops.rsqrt(fd.ops.add(fd.ops.mul(squares, 1.0 / columns), EPSILON))
        y = fd.ops.sub(wide(), fd.ops.broadcast(mean, along))
        y = fd.ops.mul(y, fd.ops.broadcast(scale, along))
        fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))
    return fd


def split_rows(tensor: TensorView) -> None:
    """[rows, ..] -> [blocks, turns, rows of a turn, ..], the blocks side by side in each turn."""
    tensor.split(0, WARPS)
    tensor.split(0, BLOCKS)
    tensor.reorder({0: 1, 1: 0})
    tensor.axis(0).parallelize(ParallelType.grid_x)


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    (welford,) = (expr for expr in fd.fusion.exprs() if isinstance(expr, WelfordOp))
    mean, squares, count = (out for out in welford.outputs() if isinstance(out, TensorView))

    loaded = x.cache_after(LoadStoreOpType.CpAsyncBulk)
    loaded.set_memory_type(MemoryType.shared)
    row = loaded.cache_after()  # in registers
    y.cache_before()

    # [rows, columns] -> [blocks, turns, warps, vectors of a lane, lanes, WIDTH]
    mean.split(1, WIDTH)
    mean.split(1, LANES)
    split_rows(mean)
    partial = mean.rfactor([3, 5], [mean, squares, count])[0]
    others = [t for t in fd.fusion.tensors() if not t.is_fusion_input() and t != loaded]
    fd.sched.transform_like(partial, others)
    partial.axis(2).parallelize(ParallelType.block_y)
    partial.axis(4).parallelize(ParallelType.block_x)
    partial.axis(4).pad_to_multiple_of_warp()
    fd.sched.parallelize_like(partial, -1, others)
    for tensor in (row, y):
        tensor.axis(-1).parallelize(ParallelType.vectorize)

    # [rows, columns] -> [blocks, turns, rows of a turn, columns]: a row is copied at once.
    split_rows(loaded)
    loaded.axis(3).parallelize(ParallelType.tma)

    fd.sched.inline_at(partial, 2, selected_tensors=[loaded])
    fd.sched.inline_most(others)
    fd.sched.warp_specialize(loaded, STAGES, TURNS_AHEAD, ParallelType.block_y, REGISTERS)


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [(torch.randn(rows, columns, device=device) + 10).bfloat16()]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x = inputs[0].double()
    centered = x - x.mean(1, keepdim=True)
    return [centered * torch.rsqrt(centered.square().mean(1, keepdim=True) + EPSILON)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
