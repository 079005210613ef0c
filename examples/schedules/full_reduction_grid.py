"""Sum of all elements in three stages: within a thread, within a block, over the grid.

The reduction is factored twice; what is left of it is bound to the blocks. The last block to arrive
combines their partial sums in block order, so that the result is the same in every run.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

BLOCKS = 528  # four for each of the 132 multiprocessors
THREADS = 256
UNROLL = 4

SIZES = [(1 << 18,), (999,), (1,), (100_003,), (33,)]
BENCHMARK = (1 << 29,)
RTOL = 1e-5


def make(n: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [0]))
    return fd


def schedule(fd: FusionDefinition, n: int) -> None:
    (x,), (total,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded = x.cache_after()

    # [n] -> [BLOCKS, serial, UNROLL, THREADS, width]
    width = harness.vector_width(n, 4)
    total.split(0, width)
    total.split(0, THREADS)
    total.split(0, UNROLL)
    total.split(0, BLOCKS, inner_split=False)
    of_thread = total.rfactor([1, 2, 4])  # [BLOCKS, r serial, r UNROLL, THREADS, r width]
    of_block = total.rfactor([1])  # [BLOCKS, r THREADS]; total: [r BLOCKS]
    fd.sched.transform_like(of_thread)

    of_thread.axis(0).parallelize(ParallelType.grid_x)
    of_thread.axis(2).parallelize(ParallelType.unroll)
    of_thread.axis(3).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(of_thread)
    loaded.axis(-1).parallelize(ParallelType.vectorize)

    fd.sched.inline_at(of_thread, 2, selected_tensors=[loaded])
    fd.sched.inline_most([of_thread, of_block])


def inputs(n: int, device: str) -> list[torch.Tensor]:
    return [torch.rand(n, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().sum()]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
