"""Inlining and loop promotion, by what the kernels compute."""

import pytest
import torch
from hard_case import (
    BX,
    PAIRS,
    SHARED,
    TX,
    UNSWITCH,
    Compiled,
    assert_same,
    check,
    like,
    lowered,
    numbers,
    par,
)

from nvfuser_direct import DataType, FusionDefinition, UserError

TRIPLES = ((1, 1, 1), (2, 3, 4), (5, 7, 33), (3, 31, 2), (31, 1, 5))


def broadcast_row(fd, row):
    """`row` [n] as [1, n]."""
    return fd.ops.broadcast(row, [True, False])


def test_broadcast_resolved_in_the_consumer(target):
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        b = broadcast_row(fd, c)
        t = fd.ops.add(b, x)
        fd.add_output(t)
        b.inline_at(2)
    check(fd, target, [((n,), (m, n)) for m, n in PAIRS], lambda c, x: c + x)


def test_broadcast_resolved_in_the_consumer_and_parallel(target):
    """The same loops, bound to blocks and threads."""
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.add(broadcast_row(fd, c), x)
        fd.add_output(t)
        t.split(1, 32)
        par(t, BX, None, TX)
        like(t)
        fd.sched.inline_most()
    check(fd, target, [((n,), (m, n)) for m, n in PAIRS], lambda c, x: c + x)


def test_progressive_broadcasts(target):
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        b2 = fd.ops.broadcast(broadcast_row(fd, c), [True, False, False])
        t = fd.ops.add(b2, x)
        fd.add_output(t)
        fd.sched.inline_most()
    check(fd, target, [((k,), (i, j, k)) for i, j, k in TRIPLES], lambda c, x: c + x)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_partly_inlined_merges(target, position):
    """Promote only what is inlined."""
    with FusionDefinition() as fd:
        c = fd.define_tensor([4, 3], contiguity=True)
        x = fd.define_tensor([4, 5, 3, 7], contiguity=True)
        b = fd.ops.broadcast(fd.ops.set(c), [False, True, False, True])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        for tensor in (b, t):
            tensor.merge(2, 3)
            tensor.merge(0, 1)
        b.inline_at(position)
    check(fd, target, [((4, 3), (4, 5, 3, 7))], lambda c, x: c[:, None, :, None] + x)


def test_partly_inlined_then_the_split_crosses_the_promotion(target):
    """The axis right of the position follows its promoted sibling."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 4], contiguity=True)
        y = fd.define_tensor([3, 4], contiguity=True)
        a, c = fd.ops.set(x), fd.ops.set(y)
        t = fd.ops.add(a, c)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 4, inner_split=False)
        fd.sched.transform_like(t)
        a.inline_at(1)
        c.inline_at(1)
    check(fd, target, [((1, 4), (3, 4))], lambda x, y: x + y)


def test_further_transforms_right_of_the_position(target):
    with FusionDefinition() as fd:
        v = fd.define_tensor([35], contiguity=True)
        x = fd.define_tensor([7, 35], contiguity=True)
        a = fd.ops.set(v)
        b = broadcast_row(fd, a)
        t = fd.ops.add(b, x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 32)
        fd.sched.transform_like(t)
        a.inline_at(1)
        b.inline_at(1)
        a.split(-1, 8)
    check(fd, target, [((35,), (7, 35))], lambda v, x: v + x)


def test_promotion_to_axes_of_no_tensor(target):
    with FusionDefinition() as fd:
        v = fd.define_tensor([5, 11], contiguity=True)
        x = fd.define_tensor([5, 7, 11, 13], contiguity=True)
        a = fd.ops.broadcast(fd.ops.set(v), [False, True, False, True])
        t = fd.ops.add(a, x)
        fd.add_output(t)
        t.merge(0, 3)  # [5*13, 7, 11]
        t.split(0, 3)  # [5*13/3, 3, 7, 11]
        t.merge(2, 3)
        t.split(2, 2)  # [5*13/3, 3, 7*11/2, 2]
        t.merge(0, 2)  # [5*13/3 * 7*11/2, 3, 2]
        fd.sched.transform_like(t)
        fd.sched.inline_at(t, 1)
    check(fd, target, [((5, 11), (5, 7, 11, 13))], lambda v, x: v[:, None, :, None] + x)


def test_two_different_broadcasts_meeting(target):
    """The promoted loop covers all three axes."""
    with FusionDefinition() as fd:
        v = fd.define_tensor([7], contiguity=True)
        x = fd.define_tensor([7, 11], contiguity=True)
        y = fd.define_tensor([7, 13], contiguity=True)
        a = fd.ops.set(v)
        left = fd.ops.add(fd.ops.broadcast(a, [False, True]), x)
        right = fd.ops.add(fd.ops.broadcast(a, [False, True]), y)
        t = fd.ops.add(
            fd.ops.broadcast(left, [False, False, True]),
            fd.ops.broadcast(right, [False, True, False]),
        )
        fd.add_output(t)
        t.merge(0, 1)
        t.merge(0, 1)
        t.split(0, 5)
        t.split(0, 3)
        fd.sched.transform_like(t)
        fd.sched.inline_at(t, 1)

    def reference(v, x, y):
        return (v[:, None] + x)[:, :, None] + (v[:, None] + y)[:, None, :]

    check(fd, target, [((7,), (7, 11), (7, 13))], reference)


def test_no_promotion_exists():
    """One loop would have to be two unrelated ones."""
    with FusionDefinition() as fd:
        v = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.set(v)
        b1, b2 = (fd.ops.broadcast(a, [False, True]) for _ in range(2))
        t, u = fd.ops.add(b1, x), fd.ops.add(b2, y)
        fd.add_output(t)
        fd.add_output(u)
        for tensor in (t, u, b1, b2):
            tensor.merge(0, 1)
        b1.inline_at(1)
        b2.inline_at(1)
        a.inline_at(1)
    with pytest.raises(UserError, match="No axis covers all tensors that share a loop"):
        lowered(fd.fusion)


def test_flattened_above_and_unflattened_below(target):
    """Its loops are one in the producer and three in the consumer."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([7, 8, 9], contiguity=True)
        u = fd.ops.neg(fd.ops.set(x))
        v = fd.ops.set(u)
        w = fd.ops.set(v)
        fd.add_output(w)
        u.merge(0, 1)
        u.merge(0, 1)
        fd.sched.transform_like(u, [u.producers()[0]])
        u.producers()[0].inline_at(1)
        v.inline_at(3)
    check(fd, target, [((7, 8, 9),)], lambda x: -x)


def test_reductions_are_not_inlined_into(target):
    """The row is kept until the reduction over it is done."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 33], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.sub(x, fd.ops.broadcast(s, [False, True]))
        fd.add_output(y)
        cached = x.cache_after()
        fd.sched.inline_most()
        assert cached.compute_at_position() == 1
        assert s.compute_at_position() == 1
    check(fd, target, [((m, 33),) for m in (1, 3, 31)], lambda x: x - x.sum(1, keepdim=True))


def test_promotion_changes_parallel_extents(target):
    """An inlined broadcast has the extent of its consumer, another tensor keeps its own."""
    with FusionDefinition() as fd:
        v = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        b = broadcast_row(fd, v)
        t = fd.ops.add(b, x)
        other = fd.ops.neg(z)
        fd.add_output(t)
        fd.add_output(other)
        for tensor in (b, t):
            tensor.merge(0, 1)
            par(tensor, TX)
        par(other, TX)
        b.inline_at(1)
    shapes = [((n,), (m, n), (k,)) for m, n, k in ((3, 4, 5), (5, 31, 200), (1, 1, 7), (2, 7, 1))]
    check(fd, target, shapes, lambda v, x, z: (v + x, -z))


def test_several_consumers_with_different_tiles(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        a = fd.ops.set(x)
        a.set_memory_type(SHARED)
        t, u = fd.ops.neg(a), fd.ops.relu(a)
        fd.add_output(t)
        fd.add_output(u)
        t.split(0, 4)
        u.split(0, 8)
        with pytest.raises(RuntimeError, match="Invalid inline position"):
            a.inline_at(1)
        a.inline_at(1, best_effort=True)
        assert a.compute_at_position() == 0
    check(fd, target, [((n,),) for n in (1, 3, 31, 33, 999)], lambda x: (-x, torch.relu(x)))


def test_inlining_across_a_reshape(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([3, 4], contiguity=True)
        cached = fd.ops.set(x)
        y = fd.ops.reshape(cached, [12])
        fd.add_output(fd.ops.neg(y))
        (z,) = fd.fusion.outputs()
        z.split(0, 5)
        fd.sched.transform_like(z)
        fd.sched.inline_at(z, 1)
        assert cached.compute_at_position() == 1
    check(fd, target, [((3, 4),)], lambda x: -x.reshape(12))


def test_unswitched_inlined_broadcast(target):
    """Tests follow the promoted loops, not the producer's own history."""
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.add(broadcast_row(fd, c), x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 100)
        t.split(1, 16)
        fd.sched.transform_like(t)
        fd.sched.inline_at(t, 1)
        t.axis(1).parallelize(UNSWITCH)
        fd.sched.parallelize_like(t)
        fd.sched.inline_most()
    check(fd, target, [((n,), (m, n)) for m, n in PAIRS], lambda c, x: c + x)


def test_what_is_looked_up_is_complete_before_anyone_reads_it(target):
    """Both sides of the gather read `t`; in its loop, elements to come would be read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        t = fd.ops.neg(x)
        index = fd.ops.abs(t)
        y = fd.ops.gather(fd.ops.mul(t, 2), index, 0)
        fd.add_output(y)
        for tensor in fd.fusion.tensors():
            if tensor not in (x, y):
                tensor.set_memory_type(SHARED)
        fd.sched.inline_most()
        with pytest.raises(UserError, match="Invalid inline position for T1: 1"):
            t.inline_at(1)
    x = torch.tensor([-1, -3, -2, 0], device=target)
    assert_same(Compiled(fd)(x), [2 * -x[x.abs()]])


def test_what_is_shifted_is_complete_before_anyone_reads_it(target):
    """`t` is in both halves of the result, at different columns of one loop."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=True)
        t = fd.ops.neg(x)
        scaled = fd.ops.mul(fd.ops.mul(t, 2.0), 3.0)
        fd.add_output(fd.ops.cat([scaled, t], 1))
        t.set_memory_type(SHARED)
        fd.sched.transform_like(fd.fusion.outputs()[0])
        fd.sched.inline_most()
    check(
        fd,
        target,
        [((n, 1),) for n in (1, 3, 33)],
        lambda x: torch.cat([-6 * x, -x], 1),
    )


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("is_reduced", [False, True])
def test_outputs_in_loops_of_their_consumers(target, rows, is_reduced):
    """An output that is inlined into a loop without iterations has no kernel: it has elements."""

    def defined() -> FusionDefinition:
        with FusionDefinition() as fd:
            x = fd.define_tensor([1, -1], contiguity=[None, True])
            y = fd.define_tensor([-1, -1], contiguity=True)
            u = fd.ops.sum(x, [1], keepdim=True) if is_reduced else fd.ops.neg(x)
            fd.add_output(u)
            fd.add_output(fd.ops.add(u, y))
        return fd

    x, y = numbers(1, 5, device=target), numbers(rows, 5, device=target)
    u = x.sum(1, keepdim=True) if is_reduced else -x
    assert_same(defined().execute([x, y]), [u, u + y])

    inlined = defined()
    with inlined:
        inlined.sched.inline_most()
    compiled = Compiled(inlined)
    if rows > 0:
        assert_same(compiled(x, y), [u, u + y])
    else:
        with pytest.raises(NotImplementedError, match="stored in a loop that has no iteration"):
            compiled(x, y)


@pytest.mark.parametrize("rows", [0, 1, 9])
@pytest.mark.parametrize("memory_type", [None, SHARED])
def test_outputs_beside_blocks_without_elements(target, rows, memory_type):
    """A broadcast that every block computes has an element, also where the blocks have none."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1], contiguity=[None])
        y = fd.define_tensor([-1], contiguity=True)
        copy = fd.ops.set(x)
        u = fd.ops.neg(copy)
        t = fd.ops.add(u, y)
        fd.add_output(t)
        fd.add_output(u)
        if memory_type is not None:
            copy.set_memory_type(memory_type)
        t.split(0, 7, inner_split=False)
        like(t)
        par(t, None, BX)
        fd.sched.parallelize_like(t)
        copy.inline_at(1)
        u.inline_at(1)
    x, y = numbers(1, device=target), numbers(rows, device=target)
    assert_same(Compiled(fd)(x, y), [y - x, -x])


def test_two_loops_of_one_hardware_index():
    """The reader binds the loop that both share, the reduction its own axis."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [1])
        t = fd.ops.neg(total)
        fd.add_output(t)
        total.axis(1).parallelize(BX)
        t.axis(0).parallelize(BX)
        total.inline_at(1)
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError, match=r"Two loops around a tensor are bound to blockIdx\.x"):
            fd.fusion.lower(target=target)


@pytest.mark.parametrize("inner_split", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_parts_of_an_axis_that_is_merged_with_a_broadcast(target, inner_split, depth):
    """The sums share the outer part with the result alone, and both parts with each other: the
    inner one is that of the result's split, too."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        total = fd.ops.sum(x, [1, 2])
        y = broadcast_row(fd, total)
        fd.add_output(y)
        y.merge(1, 0)
        y.split(0, 4, inner_split)
        like(y)
        partial = total.rfactor([3])
        for tensor in (total, partial):
            tensor.set_memory_type(SHARED)
        total.inline_at(1)
        partial.inline_at(depth)
    check(fd, target, [((n, 3, 5),) for n in (1, 4, 31, 64)], lambda x: x.sum((1, 2))[None])


def test_results_of_one_expression_stop_where_one_of_them_is_scheduled_further(target):
    """Lowering gives all three the merged loop, which the reader of the variance does not have."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        mean, deviations, count = fd.ops.welford(x, [2])
        y = fd.ops.mul(deviations, 2.0)
        fd.add_output(y)
        mean.split(1, 5)
        like(mean)
        count.merge(1, 2)
        fd.sched.inline_most()
    assert deviations.compute_at_position() == 1
    for tensor in (mean, deviations, count):
        tensor.set_memory_type(SHARED)

    def reference(x):
        return 2 * x.double().var(2, correction=0) * x.shape[2]

    check(fd, target, [((3, n, 8),) for n in (1, 5, 13)], reference, rtol=1e-5)
