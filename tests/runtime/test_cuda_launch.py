"""Launching on a GPU: residency, streams, shared memory, workspaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
    UserError,
    schedule,
)

if TYPE_CHECKING:
    from nvfuser_direct import Fusion

BX, TX = ParallelType.grid_x, ParallelType.block_x

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def centered() -> Fusion:
    """x - sum(x) with one block per element: every block waits for all others."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        total = fd.ops.sum(t0, [0])
        out = fd.ops.sub(t0, fd.ops.broadcast(total, [True]))
        fd.add_output(out)
        total.axis(0).parallelize(BX)
        for tensor in (total.uses()[0].output(0), out):
            tensor.axis(0).parallelize(BX)
    return fd.fusion


def test_more_blocks_than_are_resident_are_refused() -> None:
    executor = KernelExecutor()
    x = torch.ones(64, device="cuda")
    executor.compile(centered(), [x])
    assert torch.equal(executor.run([x])[0], x - 64)
    with pytest.raises(UserError, match=r"Wanted to launch a cooperative kernel") as error:
        executor.run([torch.ones(1 << 20, device="cuda")])
    assert "1048576 blocks" in str(error.value)
    assert "multiprocessors" in str(error.value)


def test_workspaces_start_clean_in_every_run() -> None:
    executor = KernelExecutor()
    x = torch.ones(64, device="cuda")
    executor.compile(centered(), [x])
    for _ in range(20):
        assert torch.equal(executor.run([x])[0], x - 64)


def test_two_streams_do_not_share_workspaces() -> None:
    executor = KernelExecutor()
    x = torch.ones(64, device="cuda")
    executor.compile(centered(), [x])
    torch.cuda.synchronize()
    outs = []
    for _ in range(20):
        for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                outs.append(executor.run([x])[0])
    torch.cuda.synchronize()
    assert all(torch.equal(out, x - 64) for out in outs)


def test_work_is_launched_on_the_current_stream() -> None:
    with FusionDefinition() as fd:
        out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
        fd.add_output(out)
    executor = KernelExecutor()
    x = torch.ones(1 << 10, device="cuda")
    executor.compile(fd.fusion, [x])
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.fill_(3)  # after the sleep; the kernel must come after it
        result = executor.run([x])[0]
    stream.synchronize()
    assert torch.equal(result, torch.full_like(x, -3))


def test_a_run_can_be_captured_into_a_graph() -> None:
    with FusionDefinition() as fd:
        out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
        fd.add_output(out)
    executor = KernelExecutor()
    x = torch.ones(100, device="cuda")
    executor.compile(fd.fusion, [x])
    executor.run([x])  # plans and loads
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = executor.run([x])[0]
    x.fill_(5)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(result, -x)


def test_every_byte_of_shared_memory_can_be_used() -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.set(fd.define_tensor([-1, -1], contiguity=True))
        t2 = fd.ops.set(t1)
        fd.add_output(t2)
        t1.set_memory_type(MemoryType.shared)
        for tensor in (t1, t2):
            tensor.axis(0).parallelize(BX)
        schedule.inline_at(t1, 1)
    executor = KernelExecutor()
    properties = torch.cuda.get_device_properties(0)
    limit = properties.shared_memory_per_block_optin // 4
    x = torch.randn(2, limit, device="cuda")
    executor.compile(fd.fusion, [x])
    assert torch.equal(executor.run([x])[0], x)
    with pytest.raises(UserError, match=r"The total shared memory allocation is larger than"):
        executor.run([torch.randn(2, limit + 1, device="cuda")])


def test_grid_sizes_beyond_the_device_are_refused() -> None:
    with FusionDefinition() as fd:
        out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
        fd.add_output(out)
        out.axis(0).parallelize(ParallelType.grid_y)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [torch.ones(3, device="cuda")])
    with pytest.raises(UserError, match=r"Invalid number of blocks in y direction: 65536"):
        executor.run([torch.ones(65536, device="cuda")])


def test_blocks_of_every_size_get_their_registers() -> None:
    """The size of a block is known at the launch only."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1, 64], contiguity=True)
        kept = fd.ops.exp(t0)  # 64 values a thread, all alive at once
        total = fd.ops.sum(kept, [2])
        out = fd.ops.div(kept, fd.ops.broadcast(total, [False, False, True]))
        fd.add_output(out)
        for tensor in fd.fusion.tensors():
            if tensor.definition() is not None:
                tensor.axis(0).parallelize(BX)
                tensor.axis(1).parallelize(TX)
                tensor.axis(2).parallelize(ParallelType.unroll)
        schedule.inline_most()
    executor = KernelExecutor()
    executor.compile(fd.fusion)
    for threads in (32, 1024):
        x = torch.randn(3, threads, 64, device="cuda")
        torch.testing.assert_close(executor.run([x])[0], torch.softmax(x, -1))
