"""Replay: a tensor's transforms on other tensors."""

from __future__ import annotations

import pytest
from loop_text import all_loops, loops

from nvfuser_direct import FusionDefinition, ParallelType, UserError


def tensor(fd, *shape):
    return fd.define_tensor(list(shape), contiguity=True)


def propagate(fd, reference):
    """Propagation, twice: the second time changes nothing, not even a name."""
    fd.sched.transform_like(reference)
    once = all_loops(fd)
    fd.sched.transform_like(reference)
    assert all_loops(fd) == once


def broadcast_fusion(fd):
    """c[i0] -> b[b, i0] -> t[i2, i0] = b + x"""
    c = fd.ops.set(tensor(fd, -1))
    x = tensor(fd, -1, -1)
    b = fd.ops.broadcast(c, [True, False])
    t = fd.ops.add(b, x)
    fd.add_output(t)
    return c, b, t


def test_axis_the_producer_lacks():
    """Axes are mapped by what they are; positions are a result."""
    with FusionDefinition() as fd:
        c, b, t = broadcast_fusion(fd)
        t.split(0, 4)
        t.split(2, 8)
        propagate(fd, t)
    assert loops(t) == "i(i2/4) i4 i(i0/8) i8"
    assert loops(b) == "b1 b4 i(i0/8) i8"
    assert loops(c) == "i(i0/8) i8"


def test_forwarding_past_a_broadcast_merge():
    """The merge is skipped where an axis is lacking; the split lands on the other axis."""
    with FusionDefinition() as fd:
        c, b, t = broadcast_fusion(fd)
        t.merge(0, 1)
        t.split(0, 128)
        propagate(fd, t)
    assert loops(t) == "i(ceilDiv((i2*i0),128)) i128"
    assert loops(b) == "i(i0/128) i128"
    assert loops(c) == "i(i0/128) i128"


def test_forwarding_through_a_chain():
    """Every merge whose other side is lacking is skipped, in order."""
    with FusionDefinition() as fd:
        c = fd.ops.set(tensor(fd, -1))
        x = tensor(fd, -1, -1, -1, -1)
        t = fd.ops.add(fd.ops.broadcast(c, [True, True, False, True]), x)
        fd.add_output(t)
        t.merge(0, 1)
        t.merge(0, 1)
        t.split(0, 5)
        t.merge(1, 2)
        propagate(fd, t)
    assert loops(c) == "i(i0/5) i5"


def test_forwarding_is_invalid_for_real_sizes():
    """The 4 of a split broadcast is real, so a merge with it is not skipped."""
    with FusionDefinition() as fd:
        c, b, t = broadcast_fusion(fd)
        b.split(0, 4)
        b.merge(1, 2)
        propagate(fd, b)
    assert loops(b) == "b1 i(i0*4)"
    assert loops(c) == "ii0"
    assert loops(t) == "i(i2/4) i(i0*4)"


def test_reduction_axes_stop_at_the_consumer():
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        s = fd.ops.sum(x, [1])
        y = fd.ops.neg(s)
        fd.add_output(y)
        s.split(1, 32)
        s.split(0, 4)
        propagate(fd, s)
    assert loops(x) == "i(i0/4) i4 i(i1/32) i32"
    assert loops(s) == "i(i0/4) i4 r(i1/32) r32"
    assert loops(y) == "i(i0/4) i4"


def test_reduction_axes_stay_when_replayed_backward():
    """From the consumer, which lacks them."""
    with FusionDefinition() as fd:
        s = fd.ops.sum(tensor(fd, -1, -1), [1])
        y = fd.ops.neg(s)
        fd.add_output(y)
        y.split(0, 4)
        propagate(fd, y)
    assert loops(s) == "i(i0/4) i4 ri1"


def test_merge_of_unlike_types():
    """Propagation that needs it names the tensor and leaves everything as it was."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        s = fd.ops.sum(fd.ops.neg(x), [1])
        fd.add_output(s)
        x.merge(0, 1)
        before = all_loops(fd)
        with pytest.raises(
            UserError, match="Merging IterDomains requires that their iteration types match"
        ) as error:
            fd.sched.transform_like(x)
    assert "T2_g_float" in str(error.value)
    assert all_loops(fd) == before


def test_rfactor_result_is_propagated():
    """Transforms that rfactor moved to its logical domain are replayed on its producer."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, -1))
        s = fd.ops.sum(x, [0])
        y = fd.ops.neg(s)
        fd.add_output(y)
        s.split(0, 128)
        f = s.rfactor([1])
        propagate(fd, f)
    assert loops(f) == "i(i0/128) r128"
    assert loops(s) == "r(i0/128)"
    assert loops(x) == "i(i0/128) i128"
    assert loops(y) == ""


def test_multi_output_reductions():
    """Siblings get every transform of each other."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        avg, m2, n = fd.ops.welford(x, [1])
        for result in (avg, m2, n):
            fd.add_output(result)
        avg.split(1, 32)
        propagate(fd, avg)
    assert loops(avg) == loops(m2) == loops(n) == "ii0 r(i1/32) r32"
    assert loops(x) == "ii0 i(i1/32) i32"


def test_siblings_of_selected_tensors():
    """Also of a tensor that alone is selected."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, -1, -1))
        avg, m2, n = fd.ops.welford(x, [1])
        for result in (avg, m2, n):
            fd.add_output(result)
        x.split(1, 32)
        fd.sched.transform_like(x, [m2])
    assert loops(avg) == loops(m2) == loops(n) == "ii0 r(i1/32) r32"


def test_path_with_most_information():
    """The way through the sum has lost the axis that the direct way keeps."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, -1, -1))
        b = fd.ops.broadcast(fd.ops.sum(x, [1]), [False, True])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        x.split(1, 32)
        propagate(fd, x)
    assert loops(t) == "ii0 i(i1/32) i32"
    assert loops(b) == "ii0 b1 b32"


def test_path_with_fewest_reshapes():
    """`back` takes loops from the sum that reads it, not through `flat`, which it splits again."""
    with FusionDefinition() as fd:
        x = fd.ops.set(fd.define_tensor([4, 6], contiguity=True))
        flat = fd.ops.reshape(x, [24])
        back = fd.ops.reshape(flat, [4, 6])
        total = fd.ops.add(fd.ops.neg(x), back)
        out = fd.ops.exp(x)
        for result in (total, out):
            fd.add_output(result)
        out.merge(0, 1)
        out.split(0, 8)
        propagate(fd, out)
    assert loops(out) == "i3 i8"
    assert [loops(tensor) for tensor in (x, flat, back, total)] == [loops(out)] * 4


def test_deeper_axes_are_kept():
    """A user's transforms beyond the reference stay, and are not propagated."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        c = fd.ops.set(x)
        t = fd.ops.neg(c)
        fd.add_output(t)
        t.split(0, 4)
        fd.sched.transform_like(t)
        c.split(1, 2)
        propagate(fd, t)
    assert loops(c) == "i(i0/4) i2 i2 ii1"
    assert loops(x) == "i(i0/4) i4 ii1"


def test_own_transforms_of_other_axes_are_kept():
    """Also of axes that the reference lacks."""
    with FusionDefinition() as fd:
        s = fd.ops.sum(tensor(fd, -1, -1), [1])
        y = fd.ops.neg(s)
        fd.add_output(y)
        s.split(1, 32)
        y.split(0, 4)
        propagate(fd, y)
    assert loops(s) == "i(i0/4) i4 r(i1/32) r32"


def chain(fd, length):
    tensors = [tensor(fd, -1, -1)]
    for _ in range(length):
        tensors.append(fd.ops.neg(tensors[-1]))
    fd.add_output(tensors[-1])
    return tensors


def test_bounded_propagation():
    """Only the first axes, only strictly inside the bounds."""
    with FusionDefinition() as fd:
        _, a, b, c, t = chain(fd, 4)
        t.split(1, 8)
        t.split(0, 4)
        t.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.bounded_transform_backward(t, 1, [a])
    assert loops(a) == "ii0 ii1"
    assert loops(b) == loops(c) == "i(i0/4) i4 ii1"


def test_bounded_propagation_of_parallel_types():
    """Only if asked, and only onto mapped axes."""
    with FusionDefinition() as fd:
        x, a, b, t = chain(fd, 3)
        t.split(0, 4)
        t.axis(0).parallelize(ParallelType.grid_x)
        t.axis(2).parallelize(ParallelType.block_x)
        fd.sched.bounded_transform_backward(t, 2, [], propagate_parallel_type=True)
    assert loops(b) == loops(a) == "i(i0/4).blockIdx.x i4 ii1"
    assert loops(x) == "ii0 ii1"


def test_bounded_propagation_forward():
    """Downstream."""
    with FusionDefinition() as fd:
        _, a, b, c, t = chain(fd, 4)
        a.split(0, 4)
        fd.sched.bounded_transform_forward(a, -1, [t])
    assert loops(b) == loops(c) == "i(i0/4) i4 ii1"
    assert loops(t) == "ii0 ii1"


def test_through_a_merging_reshape():
    """Transforms from root to logical are part of the way."""
    with FusionDefinition() as fd:
        x = tensor(fd, 3, 4)
        y = fd.ops.reshape(x, [12])
        fd.add_output(y)
        y.split(0, 5)
        propagate(fd, y)
    assert loops(x) == loops(y) == "i3 i5"


def test_through_a_splitting_reshape():
    """The reshape's own split is repeated."""
    with FusionDefinition() as fd:
        x = tensor(fd, 12)
        y = fd.ops.reshape(x, [3, 4])
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 5)
        propagate(fd, y)
    assert loops(x) == loops(y) == "i3 i5"


def test_reshape_of_other_axes_is_left_alone():
    """A producer's transform of an axis that the reshape merged cannot be repeated."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, 3, 4))
        y = fd.ops.reshape(x, [12])
        fd.add_output(y)
        x.split(1, 2)
        propagate(fd, x)
    assert loops(x) == "i3 i2 i2"
    assert loops(y) == "i12"


def test_cyclic_graph():
    """A reshape there and back is the identity."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, 3, 5))
        y = fd.ops.reshape(x, [15])
        z = fd.ops.reshape(y, [3, 5])
        t = fd.ops.add(z, x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 4)
        propagate(fd, t)
    assert loops(x) == loops(y) == loops(z) == loops(t) == "i4 i4"


def test_squeeze():
    """The axis that only the producer has stays, behind the others."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, 1, -1)
        y = fd.ops.squeeze(x, [1])
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 4)
        propagate(fd, y)
    assert loops(x) == "i(ceilDiv((i0*i2),4)) i4 b1"


def test_reversed_merge():
    """The order of a merge is part of it."""
    with FusionDefinition() as fd:
        x, t = chain(fd, 1)
        t.merge(1, 0)
        propagate(fd, t)
    assert loops(t) == loops(x) == "i(i1*i0)"


def test_permuted_neighbor():
    """A permuted tensor keeps the reference's loop order."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, -1, -1))
        t = fd.ops.permute(x, [1, 0])
        fd.add_output(t)
        t.split(0, 4)
        propagate(fd, t)
    assert loops(t) == loops(x) == "i(i1/4) i4 ii0"


def test_selected_tensors_are_reached_through_others():
    """Tensors on the way stay as they are."""
    with FusionDefinition() as fd:
        x, a, b, t = chain(fd, 3)
        t.split(0, 4)
        fd.sched.transform_like(t, [a])
    assert loops(a) == "i(i0/4) i4 ii1"
    assert loops(b) == loops(x) == "ii0 ii1"


def test_transforms_of_inlined_axes_are_refused():
    """Propagation does not break a shared loop nest."""
    with FusionDefinition() as fd:
        _, a, b, t = chain(fd, 3)
        a.inline_at(1)
        t.split(0, 4)
        before = all_loops(fd)
        with pytest.raises(
            UserError,
            match=r"Cannot transform axis within max producer position\. Axis = 0 "
            "maxProducerPosition = 1",
        ):
            fd.sched.transform_like(t)
    assert all_loops(fd) == before
    assert loops(b) == "ii0 ii1"


def test_transforms_of_parallelized_axes_are_refused():
    with FusionDefinition() as fd:
        _, a, t = chain(fd, 2)
        a.axis(0).parallelize(ParallelType.grid_x)
        t.split(0, 4)
        with pytest.raises(UserError, match="of non-Serial parallel type is not supported"):
            fd.sched.transform_like(t)


def test_position_out_of_range():
    with FusionDefinition() as fd:
        _, a, t = chain(fd, 2)
        with pytest.raises(UserError, match=r"Tried to access out of boundary index 3. total"):
            fd.sched.bounded_transform_backward(t, 3, [a])


def test_tensors_of_another_fusion_are_refused():
    with FusionDefinition() as other:
        stranger = chain(other, 1)[1]
    with FusionDefinition() as fd:
        t = chain(fd, 1)[1]
        with pytest.raises(UserError, match="was not found in the active fusion"):
            fd.sched.transform_like(t, [stranger])


def test_propagation_both_ways():
    """Siblings of the middle change once."""
    with FusionDefinition() as fd:
        _, a, b, c, t = chain(fd, 4)
        b.split(0, 4)
        fd.sched.bounded_transform_both(b, -1, [], [t])
    assert loops(a) == loops(c) == "i(i0/4) i4 ii1"
    assert loops(t) == "ii0 ii1"


def test_parallel_types_that_cannot_be_taken_change_nothing():
    """The extent of the producer's axis is not a constant."""
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1, -1))
        t = fd.ops.add(a, tensor(fd, -1, 8))
        fd.add_output(t)
        t.split(0, 4)
        t.axis(2).parallelize(ParallelType.unroll)
        before = all_loops(fd)
        with pytest.raises(UserError, match="extent as a const int"):
            fd.sched.bounded_transform_backward(t, -1, [], propagate_parallel_type=True)
        assert all_loops(fd) == before


def test_both_ways_or_none():
    """If the second direction is refused, the first is not done either."""
    with FusionDefinition() as fd:
        _, a, b, c, t = chain(fd, 4)
        b.split(0, 4)
        c.axis(0).parallelize(ParallelType.grid_x)
        before = all_loops(fd)
        with pytest.raises(UserError, match="non-Serial parallel type"):
            fd.sched.bounded_transform_both(b, -1, [], [t])
        assert all_loops(fd) == before
    assert loops(a) == "ii0 ii1"
