"""Layer normalization in bfloat16, one block per row, statistics by Welford's method.

Two variants, by where the row stays between the statistics and the result: in registers, where
every thread keeps the vectors it loaded, or in shared memory. The cast to float is written twice in
the math, so that what is kept is the bfloat16 row.
"""

import sys

import harness
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    MemoryType,
    ParallelType,
    TensorView,
    WelfordOp,
)

EPSILON = 1e-5
REGISTERS, SHARED = 0, 1

# rows, columns, variant
SIZES = [
    (16, 4096, REGISTERS),
    (16, 4096, SHARED),
    (3, 999, REGISTERS),
    (3, 999, SHARED),
    (1, 1026, REGISTERS),
    (31, 33, SHARED),
]
BENCHMARK = (32768, 4096, REGISTERS)
RTOL = 1e-2


def make(rows: int, columns: int, variant: int) -> FusionDefinition:
    # The row's size is static: registers and shared memory are allocated for it.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=DataType.BFloat16)
        weight = fd.define_tensor([columns], contiguity=True, dtype=DataType.BFloat16)
        bias = fd.define_tensor([columns], contiguity=True, dtype=DataType.BFloat16)

        mean, squares, _ = fd.ops.welford(fd.ops.cast(x, DataType.Float), [1])
        variance = fd.ops.div(squares, float(columns))
        scale = fd.ops.rsqrt(fd.ops.add(variance, EPSILON))

        of_row, of_column = [False, True], [True, False]
        y = fd.ops.sub(fd.ops.cast(x, DataType.Float), fd.ops.broadcast(mean, of_row))
        y = fd.ops.mul(y, fd.ops.broadcast(scale, of_row))
        y = fd.ops.mul(y, fd.ops.broadcast(fd.ops.cast(weight, DataType.Float), of_column))
        y = fd.ops.add(y, fd.ops.broadcast(fd.ops.cast(bias, DataType.Float), of_column))
        fd.add_output(fd.ops.cast(y, DataType.BFloat16))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int, variant: int) -> None:
    x, weight, bias = harness.input_tensors(fd)
    (y,) = fd.fusion.outputs()
    (welford,) = (expr for expr in fd.fusion.exprs() if isinstance(expr, WelfordOp))
    mean, squares, count = (out for out in welford.outputs() if isinstance(out, TensorView))

    row = x.cache_after()
    parameters = [weight.cache_after(), bias.cache_after()]
    vectorized = [row, *parameters, y]
    if variant == SHARED:
        row.set_memory_type(MemoryType.shared)
        # Both readers take vectors out of shared memory.
        vectorized += [row.cache_after(cached_uses=[use]) for use in list(row.uses())]
    y.cache_before()

    # [rows, columns] -> [rows, vectors of a thread, threads, width]
    width = harness.vector_width(columns, 8)
    vectors = -(-columns // width)
    threads = min(max(-(-vectors // 4) + 31, 32) // 32 * 32, 512)
    mean.split(1, width)
    mean.split(1, threads)
    (partial, _, _) = mean.rfactor([1, 3], [mean, squares, count])
    fd.sched.transform_like(partial)

    partial.axis(0).parallelize(ParallelType.grid_x)
    partial.axis(2).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial)
    for tensor in vectorized:
        tensor.axis(-1).parallelize(ParallelType.vectorize)
    fd.sched.inline_most()


def inputs(rows: int, columns: int, variant: int, device: str) -> list[torch.Tensor]:
    options = {"device": device, "dtype": torch.bfloat16}
    return [
        torch.randn(rows, columns, **options),
        torch.randn(columns, **options),
        torch.randn(columns, **options),
    ]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, weight, bias = (t.double() for t in inputs)
    return [torch.nn.functional.layer_norm(x, weight.shape, weight, bias, EPSILON)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
