"""Layer normalization of bfloat16 rows with warps that only load, two rows ahead.

A block loops over its rows. One thread of a group of its own begins the bulk copies of a row as
soon as the threads that compute have handed back a stage; these wait for nothing but their row.
While one row is normalized, the next two are on their way.
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
BLOCKS = 132 * 3
THREADS = 256  # that compute
BOX = 256  # elements: the longest axis of a box
STAGES = 3
ROWS_AHEAD = 2
REGISTERS = (24, 72)  # of a thread that loads, of one that computes

# Rows are multiples of 16 bytes. Blocks have a row, none, or several.
SIZES = [(5, 4096), (397, 1000), (800, 264), (1, 8), (1200, 136)]
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


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    (welford,) = (expr for expr in fd.fusion.exprs() if isinstance(expr, WelfordOp))
    mean, squares, count = (out for out in welford.outputs() if isinstance(out, TensorView))

    row = x.cache_after(LoadStoreOpType.tma)
    row.set_memory_type(MemoryType.shared)
    vectors = [row.cache_after(cached_uses=[use]) for use in list(row.uses())]
    y.cache_before()

    # [rows, columns] -> [blocks, rows of a block, vectors of a thread, threads, 8]
    width = 8
    mean.split(1, width)
    mean.split(1, THREADS)
    mean.split(0, BLOCKS, inner_split=False)
    partial = mean.rfactor([2, 4], [mean, squares, count])[0]
    others = [t for t in fd.fusion.tensors() if not t.is_fusion_input() and t.name() != row.name()]
    fd.sched.transform_like(partial, others)
    partial.axis(0).parallelize(ParallelType.grid_x)
    partial.axis(3).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial, -1, others)
    for tensor in (*vectors, y):
        tensor.axis(-1).parallelize(ParallelType.vectorize)

    # [rows, columns] -> [blocks, rows of a block, boxes, 256]
    row.split(1, BOX)
    row.split(0, BLOCKS, inner_split=False)
    row.axis(0).parallelize(ParallelType.grid_x)
    row.axis(3).parallelize(ParallelType.tma)

    fd.sched.inline_at(partial, 2, selected_tensors=[row])
    fd.sched.inline_most(others)
    fd.sched.warp_specialize(row, STAGES, ROWS_AHEAD, ParallelType.block_x, REGISTERS)


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [(torch.randn(rows, columns, device=device) + 10).bfloat16()]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x = inputs[0].double()
    centered = x - x.mean(1, keepdim=True)
    return [centered * torch.rsqrt(centered.square().mean(1, keepdim=True) + EPSILON)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
