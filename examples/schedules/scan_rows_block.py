"""Running sums along every row, one block per row.

The row is cut into rounds of all threads, and each round into a vector for each thread. A thread
adds its own elements one after the other; then the threads scan what they came to, and the total is
carried into the next round. Loads and stores are vectors, of the same elements.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, ParallelType

THREADS = 256

SIZES = [(8, 8192), (3, 1000), (31, 33), (2, 1), (5, 4098), (4, 0)]
BENCHMARK = (1 << 16, 1 << 13)
RTOL = 1e-5


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.cumsum(x, 1))
    return fd


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (x,), (out,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded = x.cache_after()
    out.cache_before()  # the scan; `out` is a copy of it

    # [rows, columns] -> [rows, rounds, THREADS, items]
    items = harness.vector_width(columns, 4)
    out.split(1, items)
    out.split(1, THREADS)
    fd.sched.transform_like(out)

    out.axis(0).parallelize(ParallelType.grid_x)
    out.axis(2).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(out)
    for copy in (loaded, out):
        copy.axis(3).parallelize(ParallelType.vectorize)

    fd.sched.inline_most()


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double().cumsum(1)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
