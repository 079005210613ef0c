"""How deep tensors are inlined that are reduced, or read again after a reduction."""

from __future__ import annotations

import pytest
import torch
from inlined_tensors import positions, tensor

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, UserError


def normalization(fd):
    """x -> x_c -> s = sum(x_c, [1]) -> b -> y = x_c - b"""
    x_c = fd.ops.set(tensor(fd, -1, -1))
    s = fd.ops.sum(x_c, [1])
    b = fd.ops.broadcast(s, [False, True])
    y = fd.ops.sub(x_c, b)
    fd.add_output(y)
    return x_c, s, b, y


def test_reductions_are_not_inlined_into():
    """The persistent pattern."""
    with FusionDefinition() as fd:
        x_c, s, b, y = normalization(fd)
        fd.sched.inline_most()
    assert positions(x_c, s, b, y) == [1, 1, 2, 0]
    assert y.max_producer_position() == 2


def test_position_inside_a_reduction_is_an_error():
    """Also by hand, with the limit in the message."""
    with FusionDefinition() as fd:
        x_c, *_ = normalization(fd)
        assert fd.sched.max_inline_position(x_c) == 1
        with pytest.raises(
            UserError, match=r"Invalid inline position for T1: 2. Maximum allowed value:1"
        ):
            x_c.inline_at(2)
    assert positions(x_c) == [0]


def test_single_use_of_a_reduced_tensor():
    """Nothing needs it later, so it is computed in the loop of the reduction."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        s = fd.ops.sum(x_c, [1])
        fd.add_output(s)
        fd.sched.inline_most()
    assert positions(x_c) == [2]


def test_independent_reductions_share_a_loop():
    """The sum of two reductions of one tensor needs neither inside the loop."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        s = fd.ops.sum(x_c, [1])
        m = fd.ops.max(x_c, [1])
        fd.add_output(fd.ops.add(s, m))
        fd.sched.inline_most()
    assert positions(x_c, s, m) == [2, 1, 1]


def test_what_feeds_the_reused_tensor_is_inlined():
    """The tensor that both passes read is kept, not what it is computed from."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        e = fd.ops.exp(x_c)
        s = fd.ops.sum(e, [1])
        fd.add_output(fd.ops.div(e, fd.ops.broadcast(s, [False, True])))
        fd.sched.inline_most()
    assert positions(x_c, e, s) == [2, 1, 1]


def test_reuse_through_another_branch():
    """X_c -> e -> sum -> ... -> y <- z <- x_c"""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        e = fd.ops.exp(x_c)
        z = fd.ops.neg(x_c)
        s = fd.ops.exp(fd.ops.sum(e, [1]))
        fd.add_output(fd.ops.div(z, fd.ops.broadcast(s, [False, True])))
        fd.sched.inline_most()
    assert positions(x_c, e, z) == [1, 2, 2]


def test_reuse_through_another_reduction():
    """Y needs the first sum through the second one."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        s = fd.ops.sum(x_c, [1])
        total = fd.ops.sum(s, [0])
        y = fd.ops.sub(x_c, fd.ops.broadcast(total, [True, True]))
        fd.add_output(y)
        fd.sched.inline_most()
    assert positions(x_c, s) == [0, 1]


def test_reuse_through_scalars():
    """Through 0-dim tensors."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1))
        s = fd.ops.sqrt(fd.ops.sum(x_c, [0]))
        fd.add_output(fd.ops.div(x_c, fd.ops.broadcast(s, [True])))
        fd.sched.inline_most()
    assert positions(x_c) == [0]


@pytest.mark.parametrize("is_read_first", [False, True])
def test_the_call_that_closes_a_circle_is_refused(is_read_first):
    """C and q in one loop over what s reduces, where y, which needs s, already is or not."""
    with FusionDefinition() as fd:
        c = fd.ops.set(tensor(fd, -1, -1))
        q = fd.ops.neg(c)
        s = fd.ops.sum(q, [1])
        fd.add_output(fd.ops.div(c, fd.ops.broadcast(s, [False, True])))
        first, second = (q, c) if is_read_first else (c, q)
        first.inline_at(2)
        with pytest.raises(UserError, match=r"Invalid inline position for T\d: 2. Maximum .*:1"):
            second.inline_at(2)
        second.inline_at(2, best_effort=True)
    assert positions(first, second) == [2, 1]


def test_reuse_through_a_reshape():
    """The reduced axis is a merge of two; the loops of y run over the same merge."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, 5, 6, 4))
        r = fd.ops.reshape(x_c, [5, 24])
        s = fd.ops.sum(r, [1])
        y = fd.ops.div(x_c, fd.ops.broadcast(s, [False, True, True]))
        fd.add_output(y)
        y.merge(1, 2)
        fd.sched.transform_like(y)
        fd.sched.inline_most()
    assert positions(x_c, r, s) == [1, 2, 1]


def test_reduction_inside_a_broadcast_that_the_reduced_axis_resolves():
    """The sum over i would be computed in a loop over i."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        s = fd.ops.sum(x_c, [0])
        b = fd.ops.broadcast(s, [True, False])
        y = fd.ops.sub(x_c, b)
        fd.add_output(y)
        s.reorder({0: 1})
        fd.sched.inline_most()
        assert positions(x_c, s, b) == [0, 0, 2]
        fd.sched.reset_inlining(fd.fusion)
        for t in (x_c, b, y):
            t.reorder({0: 1})
        fd.sched.inline_most()
        assert positions(x_c, s, b) == [1, 1, 2]


def test_reduction_of_a_flattened_broadcast():
    """The same hidden by forwarding: y's flattened loop runs over the reduced axis."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        s = fd.ops.sum(x_c, [1])
        y = fd.ops.sub(x_c, fd.ops.broadcast(s, [False, True]))
        fd.add_output(y)
        y.merge(0, 1)
        fd.sched.transform_like(y, [s.consumers()[0]])
        fd.sched.inline_most()
    assert positions(s) == [0]


def test_reductions_are_not_widened_by_another_consumer():
    """The loop of a's broadcast axis would run i1 times for the sum as well."""
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1, 1))
        s = fd.ops.sum(a, [0])
        t = fd.ops.add(a, tensor(fd, -1, -1))
        fd.add_output(s)
        fd.add_output(t)
        fd.sched.inline_most()
        assert positions(a) == [1]
        with pytest.raises(UserError, match=r"Maximum allowed value:1"):
            a.inline_at(2)


def test_softmax():
    """Two reductions in a row."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        m = fd.ops.max(x_c, [1])
        d = fd.ops.sub(x_c, fd.ops.broadcast(m, [False, True]))
        e = fd.ops.exp(d)
        s = fd.ops.sum(e, [1])
        y = fd.ops.div(e, fd.ops.broadcast(s, [False, True]))
        fd.add_output(y)
        fd.sched.inline_most()
    assert positions(x_c, m, d, e, s) == [1, 1, 2, 1, 1]


@pytest.mark.parametrize("outer", [True, False])
def test_a_broadcast_axis_merged_with_a_reduced_one_is_no_part_of_it(outer):
    """Readers of a partial sum share loops with it, even over a broadcast axis that they merge."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1)
        b = fd.ops.broadcast(x, [outer, not outer])
        s = fd.ops.sum(b, [1 if outer else 0])
        fd.add_output(s)
        if not outer:
            s.reorder({0: 1, 1: 0})
        s.split(1, 8)
        s.split(1, 16)
        accumulators = s.rfactor([2])  # [broadcast, piece, run, accumulator]
        partial = s.rfactor([2])
        b.merge(0, 1)
        accumulators.merge(0, 1)
        partial.merge(0, 1)
        accumulators.inline_at(1)
    assert positions(b, accumulators, partial) == [0, 1, 0]


def test_what_is_looked_up_is_complete_before_its_reader_runs_in_a_loop_of_others():
    """The reader has no axis in the loop that its consumer and x_c share with what it looks up."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, 13, 4))
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        s = fd.ops.sum(x_c, [1])
        found = fd.ops.index_select(s, index, dim=0)
        b = fd.ops.broadcast(found, [True, False, True])
        y = fd.ops.add(b, fd.ops.broadcast(x_c, [False, True, False]))
        fd.add_output(y)
        fd.sched.inline_most()
    shared = positions(x_c)[0] > 0
    assert not (shared and positions(found)[0] > 0 and positions(b)[0] > 0)
    x = torch.randn(13, 4)
    index = torch.tensor([5, 1, 12])
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x, index])
    expected = x.sum(1)[index][None, :, None] + x[:, None, :]
    torch.testing.assert_close(executor.run([x, index]), [expected])


@pytest.mark.parametrize("order", ["consumers", "producers"])
def test_a_broadcast_widens_no_loop_over_what_its_reader_is_reshaped_into(order):
    """The loop over 18 that the reduction shares runs over both axes it was reshaped from."""
    with FusionDefinition() as fd:
        y = fd.define_tensor([1, 6], contiguity=True, dtype=DataType.Double)
        x = fd.define_tensor([3, 6], contiguity=True, dtype=DataType.Double)
        b = fd.ops.sin(y)
        t = fd.ops.add(x, b)
        r = fd.ops.reshape(t, [18])
        s = fd.ops.sum(r, [0])
        fd.add_output(s)
        s.split(0, 8)
        partial = s.rfactor([1])  # [piece, 8]
        for axes in (b, t):
            axes.merge(0, 1)
            axes.split(0, 8)
        r.split(0, 8)
        wanted = [(r, 1), (t, 2), (b, 2)]
        for value, position in wanted if order == "consumers" else reversed(wanted):
            value.inline_at(position, best_effort=False)
    assert positions(b, t, r, partial) == [2, 2, 1, 0]
    x, y = torch.randn(3, 6, dtype=torch.float64), torch.randn(1, 6, dtype=torch.float64)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [y, x])
    torch.testing.assert_close(executor.run([y, x]), [(x + y.sin()).sum()])
