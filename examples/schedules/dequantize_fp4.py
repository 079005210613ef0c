"""fp4 numbers times the e4m3 scale of their block of 16, as bfloat16.

Two numbers share a byte. A thread loads eight as one word, takes them apart in registers, and
stores 16 bytes; its loads are all under way before the first store. The scale of a block is read by
the two threads that work on it.
"""

import sys

import harness
import torch

from nvfuser_direct import DataType, FusionDefinition, ParallelType

UNROLL = 4
WIDTH = 8  # elements: 4 bytes in, 16 bytes out
BLOCK = 16  # elements with a scale in common
BLOCKS = 128  # with 2 threads each

SIZES = [(128, 256), (3, 7), (1, 1), (33, 65)]  # rows, blocks in a row
BENCHMARK = (16384, 1024)
RTOL = 0.0  # products of 2 and 4 bits are exact in 8

MAGNITUDES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def make(rows: int, blocks: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, BLOCK], contiguity=True, dtype=DataType.Float4_e2m1fn)
        scales = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Float8_e4m3fn)
        scale = fd.ops.broadcast(fd.ops.cast(scales, dtype=DataType.Float), [False, False, True])
        product = fd.ops.mul(fd.ops.cast(x, dtype=DataType.Float), scale)
        fd.add_output(fd.ops.cast(product, dtype=DataType.BFloat16))
    return fd


def schedule(fd: FusionDefinition, rows: int, blocks: int) -> None:
    (x, scales), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded, loaded_scales = x.cache_after(), scales.cache_after()
    computed = y.cache_before()

    # [rows, blocks, BLOCK] -> [grid, UNROLL, BLOCKS, BLOCK / WIDTH, WIDTH]
    y.merge(0, 1)
    y.split(1, WIDTH)
    y.split(0, BLOCKS)
    y.split(0, UNROLL)
    fd.sched.transform_like(y)

    y.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.unroll)
    y.axis(2).parallelize(ParallelType.block_y)
    y.axis(3).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(y)
    for tensor in (loaded, y):
        tensor.axis(4).parallelize(ParallelType.vectorize)

    loads = [loaded, loaded_scales]
    fd.sched.inline_at(y, 1, selected_tensors=loads)
    arithmetic = [t for t in fd.fusion.tensors() if t not in (*fd.fusion.inputs(), *loads, y)]
    assert computed in arithmetic
    for tensor in arithmetic:  # one loop nest, after all loads
        tensor.axis(1).parallelize(ParallelType.serial)
    fd.sched.inline_most(arithmetic)


def inputs(rows: int, blocks: int, device: str) -> list[torch.Tensor]:
    pairs = torch.randint(0, 256, (rows, blocks, BLOCK // 2), device=device, dtype=torch.uint8)
    scales = torch.rand(rows, blocks, device=device) + 0.5
    return [pairs.view(torch.float4_e2m1fn_x2), scales.to(torch.float8_e4m3fn)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    packed, scales = inputs
    raw = packed.view(torch.uint8)
    codes = torch.stack([raw & 15, raw >> 4], -1).flatten(-2).long()
    points = torch.tensor(MAGNITUDES + [-m for m in MAGNITUDES], device=raw.device)
    return [points.double()[codes] * scales.double().unsqueeze(-1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
