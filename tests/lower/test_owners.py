"""Loops whose results one thread alone stores run in that thread alone."""

from __future__ import annotations

import re
import time

import pytest
import torch

from nvfuser_direct import FusionDefinition, MemoryType, ParallelType

BX, TX = ParallelType.grid_x, ParallelType.block_x
GLOBAL = MemoryType.Global


def beside(build) -> FusionDefinition:
    """A tensor on all threads, and beside it what no thread axis divides."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(build(fd.ops, x))
        fd.add_output(y)
        y.split(0, 128)
        y.axis(0).parallelize(BX)
        y.axis(1).parallelize(TX)
    return fd


def total(ops, x):
    return ops.sum(x, [0])


def test_a_serial_sum_runs_where_it_is_stored():
    text = beside(total).fusion.print_kernel(target="cuda")
    assert re.search(
        r"if \(block_x == 0 && thread_x == 0\) \{\n\s+float (T\d+);\n\s+\1 = 0.0f;.*"
        r"\n\s+for \(.*\n\s+\1 = \1 \+ load_readonly\(T0\[.*\n\s+\}\n\s+T\d+\[0\] = \1;",
        text,
    )


def test_a_sum_that_all_threads_read_runs_in_all():
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [0])
        y = fd.ops.add(z, s)
        fd.add_output(fd.ops.neg(s))
        fd.add_output(y)
        y.axis(0).parallelize(TX)
    text = fd.fusion.print_kernel(target="cuda")
    assert re.search(r"\n  for \(.*\n.*T\d+ = T\d+ \+ load_readonly\(T0\[", text)


@pytest.mark.parametrize("build", [total, lambda ops, x: ops.cumsum(x, 0)])
def test_idle_threads_run_no_serial_loops(target, build):
    fd = beside(build)
    x = torch.ones(2**17, device=target)
    fd.manual_execute([x[:1]])
    start = time.perf_counter()
    result, negated = fd.manual_execute([x])
    assert result.flatten()[-1].item() == 2**17
    assert time.perf_counter() - start < 2
    torch.testing.assert_close(negated, -x)


def test_stores_of_one_thread_share_one_test():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        copied = fd.ops.set(x)
        fd.add_output(fd.ops.exp(copied))
        y = fd.ops.neg(z)
        fd.add_output(y)
        copied.set_memory_type(GLOBAL)
        y.axis(0).parallelize(TX)
    text = fd.fusion.print_kernel(target="cuda")
    assert text.count("thread_x == 0") == 2
    assert len(re.findall(r"if \(thread_x == 0\) \{\n\s+for ", text)) == 2
