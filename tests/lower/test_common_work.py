"""Loops that all threads, or all blocks, run alike: on the CPU one of them does."""

from __future__ import annotations

import re

import pytest
import torch
from pass_text import BX, TX, plain

from nvfuser_direct import FusionDefinition, KernelExecutor, MemoryType, _core


def scaled_by_a_sum(size: int = -1) -> FusionDefinition:
    """Y * sum(x): the sum is bound to nothing, and its reader to all blocks and threads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([size], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        total = fd.ops.sum(x, [0])
        out = fd.ops.mul(y, fd.ops.broadcast(total, [True]))
        fd.add_output(out)
        out.split(0, 8)
        out.axis(0).parallelize(BX)
        out.axis(1).parallelize(TX)
    return fd


def rows_scaled_by_their_sums() -> FusionDefinition:
    """In a loop over rows, each is summed, and its threads add up what they scale."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, 8], contiguity=True)
        total = fd.ops.sum(x, [1])
        scaled = fd.ops.mul(y, fd.ops.broadcast(total, [False, True]))
        out = fd.ops.sum(scaled, [0])
        fd.add_output(out)
        scaled.axis(1).parallelize(TX)
        out.axis(1).parallelize(TX)
        fd.sched.inline_most()
    return fd


def lowered(fd: FusionDefinition) -> str:
    return plain(str(fd.fusion.lower(target="cpu", until="skip_idle_threads")))


def run(fd: FusionDefinition, *inputs: torch.Tensor) -> torch.Tensor:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)[0]


def loops_around(text: str, statement: str) -> list[str]:
    """The loops and conditions around the statement, the outermost first."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if re.search(statement, line))
    depth = len(lines[at]) - len(lines[at].lstrip())
    found: list[str] = []
    for line in reversed(lines[:at]):
        indent = len(line) - len(line.lstrip())
        if indent < depth:
            found.insert(0, line.strip())
            depth = indent
    return found


def test_a_sum_that_all_blocks_need_is_a_phase_of_one_thread() -> None:
    text = lowered(scaled_by_a_sum())
    sums = loops_around(text, r"T2_l.* = T2_l.* \+ T0_g")
    assert sums[0] == "BLOCKLOOP parallel:"
    assert sums[-1].startswith("FOR k0 in i0")
    assert [line for line in sums if line.startswith("IF")] == ["IF (bx == 0):", "IF (tx == 0):"]
    assert text.count("BLOCKLOOP") == 2
    source = scaled_by_a_sum().fusion.print_kernel(target="cpu")
    assert "run_blocks(rt, Dim3{1, gridDim.y, gridDim.z}" in source


def test_few_iterations_stay_with_each_thread() -> None:
    text = lowered(scaled_by_a_sum(size=4))
    assert text.count("BLOCKLOOP") == 1
    assert text.count("THREADLOOP") == 1


def test_a_loop_with_common_work_stands_outside_of_the_threads() -> None:
    text = lowered(rows_scaled_by_their_sums())
    assert loops_around(text, r"T2_l.* = T2_l.* \+ T0_g") == [
        "BLOCKLOOP parallel:",
        "FOR k0 in i0:",
        "THREADLOOP:",
        "IF (tx == 0):",
        "FOR k1 in i1:",
    ]
    assert loops_around(text, r"T6_l.* = T6_l.* \+ T4_l") == [
        "BLOCKLOOP parallel:",
        "FOR k0 in i0:",
        "THREADLOOP:",
    ]


def test_hardware_threads_compute_everything_for_themselves() -> None:
    text = plain(str(scaled_by_a_sum().fusion.lower(target="cuda")))
    assert "(bx == 0)" not in text
    assert "(tx == 0)" not in text


def test_a_search_for_races_looks_at_every_thread() -> None:
    with_checks = _core.call_with_options(lambda: lowered(scaled_by_a_sum()), ["kernel_debug"], [])
    assert with_checks.count("BLOCKLOOP") == 1


@pytest.mark.parametrize("size", [1, 7, 40])
def test_one_thread_computes_it_for_all(target: str, size: int, rng: torch.Generator) -> None:
    x, y = torch.randn(300, generator=rng), torch.randn(size, generator=rng)
    result = run(scaled_by_a_sum(), x.to(target), y.to(target))
    torch.testing.assert_close(result.cpu(), y * x.sum())
    x, y = torch.randn(size, 50, generator=rng), torch.randn(size, 8, generator=rng)
    result = run(rows_scaled_by_their_sums(), x.to(target), y.to(target))
    torch.testing.assert_close(result.cpu(), (y * x.sum(1, keepdim=True)).sum(0))


def through_shared_memory() -> FusionDefinition:
    """Blocks read a table that each would compute in its shared memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([512], contiguity=True)
        y = fd.define_tensor([-1, 512], contiguity=True)
        table = fd.ops.exp(x)
        out = fd.ops.mul(y, fd.ops.broadcast(table, [True, False]))
        fd.add_output(out)
        table.set_memory_type(MemoryType.shared)
        out.split(1, 8)
        out.axis(0).parallelize(BX)
        out.axis(2).parallelize(TX)
    return fd


def test_blocks_share_a_table_in_shared_memory(target: str, rng: torch.Generator) -> None:
    x, y = torch.randn(512, generator=rng), torch.randn(5, 512, generator=rng)
    result = run(through_shared_memory(), x.to(target), y.to(target))
    torch.testing.assert_close(result.cpu(), y * x.exp())
