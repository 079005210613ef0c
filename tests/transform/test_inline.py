"""How deep tensors are inlined. Loop nests and numbers: tests/hard_cases."""

from __future__ import annotations

import pytest
from inlined_tensors import copies, positions, share_loop, tensor

from nvfuser_direct import FusionDefinition, ParallelType, UserError


def test_broadcast_resolved_in_the_consumer():
    """The first loops of both are one."""
    with FusionDefinition() as fd:
        c = tensor(fd, -1)
        x = tensor(fd, -1, -1)
        b = fd.ops.broadcast(c, [True, False])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        b.inline_at(2)
        assert share_loop(fd, b.axis(0), t.axis(0))
    assert positions(b) == [2]
    assert t.max_producer_position() == 2


def test_progressive_broadcasts():
    """Axes that the producer lacks stand between; the produce position counts them."""
    with FusionDefinition() as fd:
        c = fd.ops.set(tensor(fd, -1))
        x = tensor(fd, -1, -1, -1)
        b1 = fd.ops.broadcast(c, [True, False])
        b2 = fd.ops.broadcast(b1, [True, False, False])
        t = fd.ops.add(b2, x)
        fd.add_output(t)
        fd.sched.inline_most()
        assert share_loop(fd, c.axis(0), b1.axis(1), b2.axis(2), t.axis(2))
        assert share_loop(fd, b1.axis(0), b2.axis(1), t.axis(1))
    assert positions(c, b1, b2, t) == [1, 2, 3, 0]
    assert [u.max_producer_position() for u in (b1, b2, t)] == [2, 3, 3]


def test_loops_of_some_consumers_only():
    """A tensor with two consumers is not inside a loop that only one of them has."""
    with FusionDefinition() as fd:
        c = fd.ops.set(tensor(fd, -1))
        n = fd.ops.neg(c)
        b = fd.ops.broadcast(n, [True, False])
        t = fd.ops.add(b, tensor(fd, -1, -1))
        u = fd.ops.exp(c)
        fd.add_output(t)
        fd.add_output(u)
        fd.sched.inline_most()
    assert positions(c, n, b) == [0, 1, 2]


def test_partly_inlined_merges():
    """Only the loops left of the position are shared."""
    with FusionDefinition() as fd:
        c = tensor(fd, 4, 3)
        x = tensor(fd, 4, 5, 3, 7)
        b = fd.ops.broadcast(c, [False, True, False, True])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        t.merge(2, 3)
        t.merge(0, 1)
        fd.sched.transform_like(t)
        b.inline_at(1)
        assert share_loop(fd, b.axis(0), t.axis(0))
        assert not share_loop(fd, b.axis(1), t.axis(1))


def test_a_tensor_that_is_read_twice_stays_out_of_a_wider_loop():
    """B[i1] inlined into wide[b0, i1] runs in the loop of b0; so would a, read elsewhere."""
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1))
        b = fd.ops.neg(a)
        wide = fd.ops.broadcast(b, [True, False])
        fd.add_output(fd.ops.add(wide, tensor(fd, -1, -1)))
        fd.add_output(fd.ops.exp(a))
        a.inline_at(1)
        wide.inline_at(2)
        with pytest.raises(UserError, match=r"Invalid inline position for T\d: 1. Maximum .*:0"):
            b.inline_at(1)
    assert positions(a, b, wide) == [1, 0, 2]


def test_axes_without_a_partner_stop():
    """The squeezed axis has none."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, -1, 1, -1))
        fd.add_output(fd.ops.squeeze(x, [1]))
        fd.sched.inline_most()
    assert positions(x) == [1]


def test_several_consumers():
    """The smallest limit of all; best effort stops there."""
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1))
        t = fd.ops.neg(a)
        u = fd.ops.exp(a)
        fd.add_output(t)
        fd.add_output(u)
        t.split(0, 4)
        u.split(0, 8)
        fd.sched.transform_like(t, [a])
        with pytest.raises(
            UserError, match=r"Invalid inline position for T1: 1. Maximum allowed value:0"
        ):
            a.inline_at(1)
        a.inline_at(1, best_effort=True)
    assert positions(a) == [0]


def test_dead_uses_are_ignored():
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1))
        t = fd.ops.neg(a)
        u = fd.ops.exp(a)
        fd.add_output(t)
        u.split(0, 8)
        a.inline_at(1)
    assert positions(a) == [1]


def test_position_is_translated():
    """The deepest position whose axes all correspond."""
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1, -1, -1))
        q = fd.ops.permute(a, [0, 2, 1])
        t = fd.ops.neg(q)
        fd.add_output(t)
        fd.sched.inline_at(t, 2)
        assert positions(a, q) == [1, 2]
        fd.sched.reset_inlining(fd.fusion)
        assert positions(a, q) == [0, 0]
        with pytest.raises(UserError, match=r"Invalid inline position for T1: 3. Maximum .*:1"):
            fd.sched.inline_at(t)
        assert positions(a, q) == [0, 0]
        fd.sched.inline_at(t, best_effort=True)
    assert positions(a, q) == [1, 3]


def test_best_effort_stops_at_the_last_axis():
    """Also where the reference has fewer axes than asked for."""
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1, -1))
        t = fd.ops.neg(a)
        fd.add_output(t)
        with pytest.raises(UserError, match=r"Invalid inline position for T2: 3. Maximum .*:2"):
            fd.sched.inline_at(t, 3)
        fd.sched.inline_at(t, 3, best_effort=True)
        assert positions(a) == [2]
        a.clear_compute_position()
        a.inline_at(3, best_effort=True)
        assert positions(a) == [2]
        a.clear_compute_position()
        a.compute_with(3, best_effort=True)
        assert a.compute_with_position() == 2


def test_siblings_have_one_position():
    """And their loops are one, inlined or not."""
    with FusionDefinition() as fd:
        avg, m2, n = fd.ops.welford(fd.ops.set(tensor(fd, -1, -1)), [1])
        a = fd.ops.neg(avg)
        v = fd.ops.neg(m2)
        fd.add_output(a)
        fd.add_output(v)
        m2.inline_at(1)
        assert positions(avg, m2, n) == [1, 1, 1]
        assert share_loop(fd, avg.axis(0), m2.axis(0), n.axis(0), a.axis(0), v.axis(0))
        assert share_loop(fd, avg.axis(1), m2.axis(1), n.axis(1))
        avg.clear_compute_position()
        assert positions(avg, m2, n) == [0, 0, 0]
        assert a.max_producer_position() == 0
        assert share_loop(fd, avg.axis(0), m2.axis(0))
        assert not share_loop(fd, avg.axis(0), a.axis(0))


def test_protected_axes():
    with FusionDefinition() as fd:
        c, a, t = copies(fd)
        fd.sched.inline_most()
        with pytest.raises(
            UserError, match=r"Cannot split axis within max producer position\. Axis = 0"
        ):
            t.split(0, 2)
        with pytest.raises(UserError, match="Cannot merge axis within compute at position"):
            a.merge(0, 1)
        t.axis(0).parallelize(ParallelType.grid_x)
        for tv in (c, a):
            tv.clear_compute_position()
        t.split(1, 2)
    assert t.ndims() == 4


def test_inlining_across_a_reshape():
    """The producer's merge is the reshape's."""
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, 3, 4))
        y = fd.ops.reshape(x_c, [12])
        fd.add_output(y)
        y.split(0, 5)
        fd.sched.transform_like(y)
        x_c.inline_at(1)
        assert share_loop(fd, x_c.axis(0), y.axis(0))


def test_flattened_above_unflattened_below():
    """Loops are not mapped through merges, so three loops stay three."""
    with FusionDefinition() as fd:
        u0 = fd.ops.set(tensor(fd, 7, 8, 9))
        u = fd.ops.neg(u0)
        v = fd.ops.set(u)
        fd.add_output(fd.ops.set(v))
        u.merge(0, 1)
        u.merge(0, 1)
        fd.sched.transform_like(u, [u0])
        fd.sched.inline_most()
        assert positions(u0, u, v) == [1, 0, 3]
        assert not share_loop(fd, v.axis(0), v.axis(1))


def test_selected_tensors_only():
    with FusionDefinition() as fd:
        c, a, _ = copies(fd)
        fd.sched.inline_most([a])
        assert positions(c, a) == [0, 3]
        fd.sched.inline_at(a, 1, selected_tensors=[c])
    assert positions(c, a) == [1, 3]


def test_positions_never_go_back():
    with FusionDefinition() as fd:
        c, _, _ = copies(fd)
        c.inline_at(2)
        c.inline_at(1)
    assert positions(c) == [2]


@pytest.mark.parametrize("position", [4, -5])
def test_position_out_of_range(position):
    with FusionDefinition() as fd:
        c, *_ = copies(fd)
        with pytest.raises(
            UserError, match=f"Invalid inline position for T1: {position}. Maximum allowed value:3"
        ):
            c.inline_at(position)


def test_fusion_inputs_are_not_inlined():
    with FusionDefinition() as fd:
        x = tensor(fd, -1)
        fd.add_output(fd.ops.neg(x))
        with pytest.raises(
            UserError, match=r"Invalid inline position for T0: 1. Maximum allowed value:0"
        ):
            x.inline_at(1)
