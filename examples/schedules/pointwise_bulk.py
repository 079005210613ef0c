"""Pointwise over tiles that bulk copies load and store: y = x * sigmoid(z).

A tile of each input is a box in shared memory, and so is one of the output. Threads touch only
shared memory; one of them copies.
"""

import sys

import harness
import torch

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType, TensorView

BOX = (16, 128)
THREADS = 256
WIDTH = 4  # elements of a vector access to shared memory

# Rows are multiples of 16 bytes: bulk copies need no more.
SIZES = [(16, 128), (33, 132), (1, 1000), (100, 4), (257, 516)]
BENCHMARK = (1 << 13, 1 << 13)
RTOL = 1e-6


def make(rows: int, columns: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x, z = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
        fd.add_output(fd.ops.mul(x, fd.ops.sigmoid(z)))
    return fd


def tile(tensor: TensorView) -> None:
    """[rows, columns] -> [blocks, blocks, BOX rows, BOX columns]"""
    tensor.split(1, BOX[1])
    tensor.split(0, BOX[0])
    tensor.reorder({2: 1, 1: 2})
    tensor.axis(0).parallelize(ParallelType.grid_y)
    tensor.axis(1).parallelize(ParallelType.grid_x)


def schedule(fd: FusionDefinition, rows: int, columns: int) -> None:
    (y,) = fd.fusion.outputs()
    loaded = [x.cache_after(LoadStoreOpType.tma) for x in harness.input_tensors(fd)]
    stored = y.cache_before(LoadStoreOpType.tma)
    registers = [box.cache_after() for box in loaded]
    result = stored.cache_before()
    computed = [*registers, result, stored]
    computed += [t for t in fd.fusion.tensors() if t not in (*computed, *loaded, y) and is_made(t)]

    for tensor in (y, *loaded, *computed):
        tile(tensor)
    for box in (*loaded, stored):
        box.set_memory_type(MemoryType.shared)
    stored.set_allocation_domain(stored.get_loop_domain(), True)
    for box in (*loaded, y):
        for axis in (2, 3):
            box.axis(axis).parallelize(ParallelType.tma)
    for tensor in computed:  # [.., BOX rows, BOX columns] -> [.., serial, threads, WIDTH]
        tensor.merge(2, 3)
        tensor.split(2, WIDTH)
        tensor.split(2, THREADS)
        tensor.axis(3).parallelize(ParallelType.block_x)
    for tensor in (*registers, stored):
        tensor.axis(4).parallelize(ParallelType.vectorize)
    fd.sched.inline_at(y, 2, selected_tensors=[*loaded, *computed])
    fd.sched.inline_at(stored, 4, best_effort=True, selected_tensors=computed)


def is_made(tensor: TensorView) -> bool:
    return tensor.definition() is not None


def inputs(rows: int, columns: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(rows, columns, device=device) for _ in range(2)]


def reference(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, z = (tensor.double() for tensor in inputs)
    return [x * torch.sigmoid(z)]


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
