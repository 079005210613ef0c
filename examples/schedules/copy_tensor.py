"""Copy a tensor: every thread moves several 16-byte vectors.

The loads of a thread are all under way before its first store: the copy in registers is computed at
the block's loop, outside of the unrolled one.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

THREADS = 256
UNROLL = 4

SIZES = [(1 << 16,), (1000,), (1025,), (1,), (127,)]
BENCHMARK = (1 << 28,)
RTOL = 0.0


def make(n: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.set(x))
    return fd


def schedule(fd: FusionDefinition, n: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded = x.cache_after()

    # [n] -> [blocks, UNROLL, THREADS, width]
    width = harness.vector_width(n, 4)
    y.split(0, width)
    y.split(0, THREADS)
    y.split(0, UNROLL)
    fd.sched.transform_like(y)

    y.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.unroll)
    y.axis(2).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(y)
    for tensor in (loaded, y):
        tensor.axis(3).parallelize(ParallelType.vectorize)
    fd.sched.inline_at(y, 1)


def inputs(n: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(n, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double()]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
