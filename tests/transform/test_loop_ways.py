"""inline_most leaves no loop that is needed by what it needs: such statements have no order."""

from __future__ import annotations

import pytest
import torch
from inlined_tensors import positions, tensor

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, MemoryType, ParallelType


def check_runs(fd: FusionDefinition, inputs: list, expected: list, target: str) -> None:
    inputs = [x.to(target) for x in inputs]
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    for own, reference in zip(executor.run(inputs), expected, strict=True):
        torch.testing.assert_close(own.cpu(), reference)


def rolled(ops, u, _):
    return ops.cat([ops.slice(u, [6, 0], [12, 8]), ops.slice(u, [0, 0], [6, 8])], 0)


def looked_up(ops, u, index):
    return ops.index_select(u, index, dim=0)


ELSEWHERE = {
    "rolled": (rolled, lambda y, _: y.roll(6, 0)),
    "looked up": (looked_up, lambda y, index: y[index]),
}


def way_around(elsewhere):
    """x_c -> u -> b, which reads u elsewhere, and t reads b and x_c."""
    with FusionDefinition() as fd:
        x = tensor(fd, 12, 8)
        index = fd.define_tensor([12], contiguity=True, dtype=DataType.Int)
        x_c = fd.ops.set(x)
        u = fd.ops.exp(x_c)
        b = fd.ops.neg(elsewhere(fd.ops, u, index))
        t = fd.ops.add(x_c, b)
        fd.add_output(t)
        u.set_memory_type(MemoryType.Global)
    return fd, (x_c, u, b, t)


def runs(kind):
    generator = torch.Generator().manual_seed(0)
    x, index = torch.randn(12, 8, generator=generator), torch.randperm(12, generator=generator)
    return [x, index], [x - ELSEWHERE[kind][1](x.exp(), index)]


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_a_loop_ends_before_what_needs_all_of_it(target, kind):
    """The loop of x_c and u ends, b is read in another one."""
    fd, (x_c, u, b, t) = way_around(ELSEWHERE[kind][0])
    with fd:
        fd.sched.inline_most()
    assert positions(x_c, u, b, t) == [0, 0, 2, 0]
    check_runs(fd, *runs(kind), target)


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_hardware_indices_are_no_loops(target, kind):
    """Each block and thread comes to every statement; the loops inside of them end."""
    fd, (x_c, u, b, t) = way_around(ELSEWHERE[kind][0])
    with fd:
        for one in (x_c, u, b, *b.producers(), t):
            one.axis(1).parallelize(ParallelType.grid_x)
            one.reorder({1: 0})
        fd.sched.inline_most()
    assert positions(x_c)[0] <= 1
    assert positions(b) == [2]
    check_runs(fd, *runs(kind), target)


@pytest.mark.parametrize("first", ["x_c", "b"])
def test_what_was_inlined_before_stays(target, first):
    """The second call takes apart what it adds, not what it finds."""
    fd, (x_c, _, b, _) = way_around(rolled)
    with fd:
        fd.sched.inline_most([x_c if first == "x_c" else b])
        found = positions(x_c, b)
        fd.sched.inline_most()
    assert all(now >= before for now, before in zip(positions(x_c, b), found, strict=True))
    check_runs(fd, *runs("rolled"), target)


def test_two_results_that_need_each_others_loops(target):
    """a -> s -> d and c -> r -> e, where d is read with c and e with a."""
    with FusionDefinition() as fd:
        x, y = tensor(fd, 12, 8), tensor(fd, 12, 8)
        a, c = fd.ops.set(x), fd.ops.set(y)
        s, r = fd.ops.exp(a), fd.ops.sin(c)
        s.set_memory_type(MemoryType.Global)
        r.set_memory_type(MemoryType.Global)
        d, e = rolled(fd.ops, s, None), rolled(fd.ops, r, None)
        fd.add_output(fd.ops.mul(c, d))
        fd.add_output(fd.ops.mul(a, e))
        fd.sched.inline_most()
    assert not (positions(a)[0] > 0 and positions(c)[0] > 0)
    x, y = torch.randn(12, 8), torch.randn(12, 8)
    expected = [y * x.exp().roll(6, 0), x * y.sin().roll(6, 0)]
    check_runs(fd, [x, y], expected, target)


def test_reads_come_before_the_update_of_an_input(target):
    """The update of x shares no loop with what is read before it and needed behind it."""
    with FusionDefinition() as fd:
        x = tensor(fd, 12, 8)
        old = fd.ops.neg(x)
        old.set_memory_type(MemoryType.Global)
        new = fd.ops.add(x, rolled(fd.ops, old, None))
        fd.add_output(new, x)
        fd.add_output(fd.ops.exp(old))
        fd.sched.inline_most()
    x = torch.randn(12, 8)
    given = x.clone().to(target)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [given])
    (out,) = executor.run([given])
    torch.testing.assert_close(given.cpu(), x - x.roll(6, 0))
    torch.testing.assert_close(out.cpu(), (-x).exp())
