"""Counters at which blocks meet: all kernels of a stream share them, and leave them at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType

if TYPE_CHECKING:
    from collections.abc import Callable

BX, BY, TX = ParallelType.grid_x, ParallelType.grid_y, ParallelType.block_x

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def with_ticket(fd: FusionDefinition) -> None:
    """The last block of each column has its sum."""
    x = fd.define_tensor([-1, -1], contiguity=True)
    total = fd.ops.sum(x, [0])
    fd.add_output(total)
    total.axis(0).parallelize(BX)
    total.axis(1).parallelize(BY)


def with_barrier(fd: FusionDefinition) -> None:
    """Every block waits for the sum of its column."""
    x = fd.define_tensor([-1, -1], contiguity=True)
    total = fd.ops.sum(x, [0])
    out = fd.ops.sub(x, fd.ops.broadcast(total, [True, False]))
    fd.add_output(out)
    for tensor in (total, total.uses()[0].output(0), out):
        tensor.axis(0).parallelize(BX)
        tensor.axis(1).parallelize(BY)


def with_turns(fd: FusionDefinition) -> None:
    """Blocks of a column add to its sum one after the other."""
    x = fd.define_tensor([-1, -1], contiguity=True)
    total = fd.ops.sum(x, [0])
    fd.add_output(total)
    total.axis(0).parallelize(BX)
    total.axis(1).parallelize(BY)
    total.definition().request_serial_grid_reduction()


KINDS: dict[Callable[[FusionDefinition], None], Callable[[torch.Tensor], torch.Tensor]] = {
    with_ticket: lambda x: x.sum(0),
    with_barrier: lambda x: x - x.sum(0),
    with_turns: lambda x: x.sum(0),
}


def numbers(rows: int, columns: int, seed: int) -> torch.Tensor:
    """Small integers, whose sums are exact."""
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randint(-50, 50, (rows, columns), generator=generator, device="cuda").float()


def compiled() -> list[tuple[KernelExecutor, Callable[[torch.Tensor], torch.Tensor]]]:
    found = []
    for define, reference in KINDS.items():
        with FusionDefinition() as fd:
            define(fd)
        executor = KernelExecutor()
        executor.compile(fd.fusion, [numbers(8, 3, 0)])
        found.append((executor, reference))
    return found


def test_kernels_of_all_kinds_take_turns_on_one_stream() -> None:
    executors = compiled()
    for i in range(60):
        executor, reference = executors[(i * i + i // 7) % 3]
        x = numbers(1 + i % 11, 1 + i % 5, i)
        assert torch.equal(executor.run([x])[0], reference(x)), i


def test_streams_have_counters_of_their_own() -> None:
    executors = compiled()
    streams = [torch.cuda.Stream() for _ in range(4)]
    inputs = [numbers(40, 2, i) for i in range(12)]
    torch.cuda.synchronize()
    results = []
    for round_ in range(10):
        for i, x in enumerate(inputs):
            executor, reference = executors[(i + round_) % 3]
            with torch.cuda.stream(streams[i % 4]):
                results.append((executor.run([x])[0], reference, x))
    torch.cuda.synchronize()
    for result, reference, x in results:
        assert torch.equal(result, reference(x))


def test_more_counters_than_a_stream_keeps() -> None:
    """Up to 8 bytes for each of 20,000 columns: streams keep 64 KB at first, and then more; those
    of 300,000 are the run's own."""
    executor, reference = compiled()[0]
    for columns in (4, 20_000, 300_000, 20_000, 4):
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], contiguity=True)
            total = fd.ops.sum(x, [0])
            fd.add_output(total)
            total.axis(0).parallelize(BY)
            total.axis(1).parallelize(BX)
        executor = KernelExecutor()
        x = numbers(3, columns, columns)
        executor.compile(fd.fusion, [x])
        for _ in range(3):
            assert torch.equal(executor.run([x])[0], reference(x))


def test_a_graph_does_not_share_counters_with_its_stream() -> None:
    executors = compiled()
    x = numbers(64, 3, 1)
    for executor, _ in executors:
        executor.run([x])  # plans and loads
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = [(executor.run([x])[0], reference) for executor, reference in executors]
    other = torch.cuda.Stream()
    torch.cuda.synchronize()
    for i in range(20):
        with torch.cuda.stream(other):
            graph.replay()
        executor, reference = executors[i % 3]
        assert torch.equal(executor.run([x])[0], reference(x))
    torch.cuda.synchronize()
    for result, reference in captured:
        assert torch.equal(result, reference(x))
