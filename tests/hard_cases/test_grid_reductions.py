"""Reductions over blocks."""

import re

import pytest
from hard_case import (
    BX,
    BY,
    BZ,
    PAIRS,
    SHARED,
    SIZES,
    TX,
    TY,
    Compiled,
    assert_same,
    check,
    lowered,
    numbers,
    par,
    reduced_1d,
    statements,
)

from nvfuser_direct import FusionDefinition, GridReduction, UserError

pytestmark = pytest.mark.sanitize


@pytest.mark.parametrize("types", [(BX, None, TX), (BY, None, TX), (BZ, None, TY)])
def test_write_once_grid_reduction(target, types):
    check(reduced_1d(types=types), target, [((n,),) for n in SIZES], lambda x: x.sum())


def test_dependents_of_a_write_once_grid_reduction(target):
    """Only the block that has the result goes on."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [0])
        y = fd.ops.add(fd.ops.mul(s, 2.0), 1.0)
        fd.add_output(y)
        s.split(0, 4, inner_split=False)
        s.reorder({2: 0})
        partial = s.rfactor([2])
        par(partial, TX, BX)
        par(s, TX, BX)
        par(y, TX)
        for tensor in y.producers():
            par(tensor, TX)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.sum(0) * 2 + 1)


def test_a_block_stores_one_partial_result_of_what_its_threads_hold_alike(target):
    """Sums of rows are the same in all threads, and no loop around their sum is bound to one."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        rows = fd.ops.sum(x, [1])
        total = fd.ops.sum(rows, [0])
        fd.add_output(total)
        rows.split(1, 64)
        part = rows.rfactor([1])
        par(part, BX, None, TX)
        par(rows, BX, TX)
        par(total, BX)
        fd.sched.inline_most()
    (reduction,) = [s for s in statements(lowered(fd.fusion)) if isinstance(s, GridReduction)]
    assert reduction.reduced_thread_dims == [0]
    assert "GridShape<true, false, false, true, false, false>" in fd.fusion.print_kernel()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.sum())


def test_results_of_two_grid_reductions_meet(target):
    """The last block of one reduction may not be that of the other."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        total, largest = fd.ops.sum(x, [0]), fd.ops.max(y, [0])
        z = fd.ops.add(total, largest)
        fd.add_output(z)
        for reduction in (total, largest):
            par(reduction, BX, TX)
        par(z, TX)
    reductions = [s for s in statements(lowered(fd.fusion)) if isinstance(s, GridReduction)]
    assert [r.allreduce for r in reductions] == [True, False]
    shapes = [((m, n), (m, n)) for m, n in PAIRS if m <= 32]
    check(fd, target, shapes, lambda x, y: x.sum(0) + y.max(0).values)


def test_reduction_of_the_result_of_a_grid_reduction(target):
    """The last block also goes on to reduce values of its own."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        total = fd.ops.sum(x, [0])
        largest = fd.ops.max(total, [0])
        fd.add_output(largest)
        par(total, BX, TX)
        par(largest, TX)
    text = fd.fusion.print_kernel()
    is_last = re.search(r"const bool (\w+) = grid_reduce", text)[1]
    assert re.search(rf"if \(.*\b{is_last}\b.*\) {{\n *T\d+\[0\] = ", text)
    check(fd, target, [((m, 32),) for m in (1, 3, 33, 129)], lambda x: x.sum(0).max())


def test_another_last_block_in_every_iteration(target):
    """A reduction of what a loop over grid reductions leaves has no block to run in."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        total = fd.ops.sum(x, [0])
        fd.add_output(fd.ops.max(total, [0]))
        par(total, BX)
    with pytest.raises(UserError, match="over blocks is stored outside of its loops"):
        fd.fusion.lower(target=target)


@pytest.mark.parametrize("is_inlined", [False, True])
@pytest.mark.parametrize("types", [(BX, TX), (TX, None), (BX, TY)])
def test_all_reduce(target, is_inlined, types):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        one_more = fd.ops.add(s, 1.0)
        y = fd.ops.sub(x, fd.ops.broadcast(one_more, [False, True]))
        fd.add_output(y)
        y.split(1, 32)
        y.split(1, 4, inner_split=False)
        fd.sched.transform_like(y)
        par(y, None, types[0], None, types[1])
        fd.sched.parallelize_like(y)
        s.rfactor([2])
        if is_inlined:
            fd.sched.inline_most()
        else:
            fd.sched.inline_at(y, 1, best_effort=True)
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x - x.sum(1, keepdim=True) - 1)


def test_too_many_cooperative_blocks(target):
    """An error before the launch on a GPU; a CPU runs any number of blocks."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [0])
        y = fd.ops.sub(x, fd.ops.broadcast(s, [True]))
        fd.add_output(y)
        y.split(0, 64)
        par(y, BX, TX)
        fd.sched.transform_like(y)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    x = numbers(1000, device=target)
    assert_same(compiled(x), [x - x.sum()])
    if target == "cpu":
        x = numbers(64 * 2000, device=target)
        assert_same(compiled(x), [x - x.sum()])
        return
    x = numbers(64 * 100_000, device=target)
    with pytest.raises(RuntimeError, match="Wanted to launch a cooperative kernel"):
        compiled(x)


@pytest.mark.parametrize("is_all_reduce", [False, True])
def test_grid_reduction_in_a_loop(target, is_all_reduce):
    """Every iteration has a workspace or is separated by a barrier."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        if is_all_reduce:
            y = fd.ops.sub(x, fd.ops.broadcast(s, [False, True]))
            fd.add_output(y)
            y.split(1, 32)
            fd.sched.transform_like(y)
            par(y, None, BX, TX)
            fd.sched.parallelize_like(y)
        else:
            fd.add_output(s)
            s.split(1, 32)
            par(s, None, BX, TX)
        fd.sched.inline_most()

    def reference(x):
        total = x.sum(1, keepdim=True)
        return x - total if is_all_reduce else total[:, 0]

    check(fd, target, [((m, n),) for m, n in PAIRS], reference)


def test_semaphores_are_reset(target):
    """The same kernel many times, with changing sizes."""
    compiled = Compiled(reduced_1d())
    for _ in range(3):
        for n in (1, 999, 33, 4096):
            x = numbers(n, device=target)
            assert_same(compiled(x), [x.sum()])


@pytest.mark.parametrize("is_serial", [False, True])
def test_no_elements_over_blocks_and_threads(target, is_serial):
    """An axis without elements has one thread, with room for its partial result."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [0])
        fd.add_output(s)
        s.split(0, 3)
        partial = s.rfactor([0])
        par(partial, TY, BX)
        par(s, BX)
        partial.set_memory_type(SHARED)
        if is_serial:
            s.definition().request_serial_grid_reduction()
    check(fd, target, [((n,),) for n in (0, 1, 7, 33)], lambda x: x.sum())
