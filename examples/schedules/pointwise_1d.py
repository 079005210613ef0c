"""relu(a * b + 1) over one dimension, unrolled and vectorized by 4.

Loads go to registers first, UNROLL vectors of each input at a time; the arithmetic is inlined into
the loop of the store.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

THREADS = 256
UNROLL = 4

SIZES = [(1 << 16,), (999,), (1025,), (1,), (4100,)]
BENCHMARK = (1 << 28,)
RTOL = 1e-6


def make(n: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], contiguity=True)
        b = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.relu(fd.ops.add(fd.ops.mul(a, b), 1.0)))
    return fd


def schedule(fd: FusionDefinition, n: int) -> None:
    (y,) = fd.fusion.outputs()
    loaded = [x.cache_after() for x in harness.input_tensors(fd)]
    computed = y.cache_before()

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
    for tensor in (*loaded, y):
        tensor.axis(3).parallelize(ParallelType.vectorize)

    fd.sched.inline_at(y, 1, selected_tensors=loaded)
    arithmetic = [t for t in fd.fusion.tensors() if t not in (*fd.fusion.inputs(), *loaded, y)]
    assert computed in arithmetic
    fd.sched.inline_most(arithmetic)


def inputs(n: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(n, device=device), torch.randn(n, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    a, b = (x.double() for x in inputs)
    return [torch.relu(a * b + 1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
