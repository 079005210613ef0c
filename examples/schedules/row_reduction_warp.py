"""Sum of short rows: a warp per row, so that threads exchange registers without a barrier."""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

WARP = 32
ROWS = 8  # of one block, one warp each

SIZES = [(64, 512), (31, 33), (3, 1000), (1, 1), (9, 129)]
BENCHMARK = (1 << 19, 512)
RTOL = 1e-5


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (total,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded = x.cache_after()

    # [rows, columns] -> [rows / ROWS, ROWS, serial, UNROLL, WARP, width]
    unroll = 4 if columns >= 4 * 4 * WARP else 1
    width = harness.vector_width(columns, 4)
    total.split(1, width)
    total.split(1, WARP)
    total.split(1, unroll)
    total.split(0, ROWS)
    partial = total.rfactor([2, 3, 5])
    fd.sched.transform_like(partial)

    total.axis(2).parallelize(ParallelType.block_x)
    total.axis(2).pad_to_multiple_of_warp()
    partial.axis(0).parallelize(ParallelType.grid_x)
    partial.axis(1).parallelize(ParallelType.block_y)
    partial.axis(3).parallelize(ParallelType.unroll)
    partial.axis(4).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial)
    loaded.axis(-1).parallelize(ParallelType.vectorize)

    fd.sched.inline_at(partial, 3, selected_tensors=[loaded])
    fd.sched.inline_most([partial])


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.rand(rows, columns, device=device)]  # positive: no sum is near zero


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().sum(1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
