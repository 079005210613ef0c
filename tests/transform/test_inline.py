"""How deep tensors are inlined. Loop nests and numbers: tests/hard_cases."""

from __future__ import annotations

import pytest

from nvfuser_direct import (
    FusionDefinition,
    IdMappingMode,
    MemoryType,
    ParallelType,
    UserError,
    idm,
)


def tensor(fd, *shape):
    return fd.define_tensor(list(shape), contiguity=True)


def positions(*tensors):
    return [t.compute_at_position() for t in tensors]


def loop_classes(fd):
    model = idm.IdModel(fd.fusion)
    return model.maybe_build_graph(IdMappingMode.loop).disjoint_val_sets()


def share_loop(fd, *axes):
    sets = loop_classes(fd)
    return all(sets.strict_are_mapped(axes[0], axis) for axis in axes)


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


def copies(fd):
    """x -> c -> a -> t, split by 4"""
    x = tensor(fd, -1, -1)
    c = fd.ops.set(x)
    a = fd.ops.neg(c)
    t = fd.ops.set(a)
    fd.add_output(t)
    t.split(1, 4)
    fd.sched.transform_like(t)
    return c, a, t


def test_vectorized_axes_stop_both_sides():
    with FusionDefinition() as fd:
        c, a, t = copies(fd)
        c.axis(2).parallelize(ParallelType.vectorize)
        t.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_most()
    assert positions(c, a) == [2, 2]


def test_unrolled_axes_stop_the_producer():
    """An unrolled axis of the consumer does not."""
    with FusionDefinition() as fd:
        c, a, t = copies(fd)
        c.axis(2).parallelize(ParallelType.unroll)
        t.axis(2).parallelize(ParallelType.unroll)
        fd.sched.inline_most()
    assert positions(c, a) == [2, 3]


def test_thread_and_unswitched_axes_do_not_stop():
    with FusionDefinition() as fd:
        c, a, t = copies(fd)
        t.axis(0).parallelize(ParallelType.grid_x)
        t.axis(1).parallelize(ParallelType.unswitch)
        t.axis(2).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(t)
        fd.sched.inline_most()
    assert positions(c, a) == [3, 3]


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


def test_inlining_most_keeps_loops_with_one_binding():
    """A block axis is not inlined into a loop over threads, which lowering would refuse."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        a = fd.ops.exp(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.axis(0).parallelize(ParallelType.grid_x)
        t.axis(0).parallelize(ParallelType.block_x)
        fd.sched.inline_most()
    assert positions(a) == [0]


def test_inlining_most_binds_no_hardware_index_twice():
    """The loop over the first axis would be bound to threads that the second axis has."""
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 8)
        a = fd.ops.exp(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.axis(0).parallelize(ParallelType.block_x)
        t.axis(1).parallelize(ParallelType.block_x)
        a.set_memory_type(MemoryType.shared)
        fd.sched.inline_most()
    assert positions(a) == [0]
    fd.fusion.lower()


def test_inlining_most_finds_bindings_through_a_tensor_in_between():
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 8)
        a = fd.ops.exp(x)
        between = fd.ops.neg(a)
        t = fd.ops.sin(between)
        fd.add_output(t)
        a.axis(0).parallelize(ParallelType.grid_x)
        t.axis(0).parallelize(ParallelType.block_x)
        a.set_memory_type(MemoryType.shared)
        between.set_memory_type(MemoryType.shared)
        fd.sched.inline_most()
    assert positions(a, between) in ([0, 2], [2, 0])


@pytest.mark.parametrize("bound", [ParallelType.grid_x, ParallelType.block_x])
def test_inlining_most_keeps_a_reduction_out_of_loops_that_only_its_producer_binds(bound):
    """Each thread or block would have a part of the result for itself, and every one stores it."""
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 32)
        a = fd.ops.exp(x)
        s = fd.ops.sum(a, [0])
        fd.add_output(a)
        fd.add_output(s)
        a.axis(1).parallelize(bound)
        fd.sched.inline_most()
    assert positions(a) == [1]
    fd.fusion.lower()


def test_inlining_most_makes_no_reduction_over_blocks_beside_serial_axes():
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        a = fd.ops.set(x)
        s = fd.ops.sum(a, [0, 1])
        fd.add_output(s)
        a.axis(0).parallelize(ParallelType.grid_y)
        a.set_memory_type(MemoryType.Global)
        fd.sched.inline_most()
    assert positions(a) == [0]
    fd.fusion.lower()


@pytest.mark.parametrize("bound", [ParallelType.block_x, ParallelType.block_y])
def test_inlining_most_reduces_over_threads_that_a_producer_binds(bound):
    with FusionDefinition() as fd:
        x = tensor(fd, -1)
        a = fd.ops.exp(x)
        fd.add_output(fd.ops.sum(a, [0]))
        a.axis(0).parallelize(bound)
        fd.sched.inline_most()
    assert positions(a) == [1]
    fd.fusion.lower()


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
