"""Copy a tensor of one to five axes in boxes: bulk copies load and store them.

One thread of a block begins both copies. The others move the elements from the box that was loaded
to the one that is stored, which is where a computation would stand.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType, TensorView

BOXES = {  # by the number of axes: 4096 elements each, or fewer
    1: (256,),
    2: (32, 128),
    3: (4, 16, 64),
    4: (2, 4, 8, 64),
    5: (2, 2, 4, 8, 32),
}
THREADS = 256

# Rows are multiples of 16 bytes: bulk copies need no more.
SIZES = [(1000,), (33, 132), (5, 17, 68), (3, 5, 9, 68), (3, 1, 5, 9, 36), (2, 2, 4, 8, 32)]
BENCHMARK = (1 << 13, 1 << 13)
RTOL = 0.0


def make(*sizes: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(sizes), contiguity=True)
        fd.add_output(fd.ops.set(x))
    return fd


def tile(tensor: TensorView, boxes: tuple[int, ...]) -> None:
    """[n0, n1, ..] -> [blocks, box0, box1, ..]"""
    rank = len(boxes)
    for axis in reversed(range(rank)):
        tensor.split(axis, boxes[axis])
    tensor.reorder({2 * axis: axis for axis in range(rank)})
    for _ in range(rank - 1):
        tensor.merge(0, 1)
    tensor.axis(0).parallelize(ParallelType.grid_x)


def schedule(fd: FusionDefinition, *sizes: int) -> None:
    (x,), (y,) = harness.input_tensors(fd), fd.fusion.outputs()
    loaded = x.cache_after(LoadStoreOpType.tma)
    stored = y.cache_before(LoadStoreOpType.tma)
    rank = len(sizes)
    for tensor in (loaded, stored, y):
        tile(tensor, BOXES[rank])
    for tensor in (loaded, stored):
        tensor.set_memory_type(MemoryType.shared)
    for tensor in (loaded, y):
        for axis in range(1, 1 + rank):
            tensor.axis(axis).parallelize(ParallelType.tma)
    stored.set_allocation_domain(stored.get_loop_domain(), True)
    for _ in range(rank - 1):
        stored.merge(1, 2)
    stored.split(1, THREADS)
    stored.axis(2).parallelize(ParallelType.block_x)
    fd.sched.inline_at(y, 1, selected_tensors=[loaded, stored])


def inputs(*sizes: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(sizes, device=device)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].double()]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
