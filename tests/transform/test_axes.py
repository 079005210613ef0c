"""split, merge, reorder, swizzle: what they do to the loop domain, and what they refuse.

A refused transform leaves the tensor as it was.
"""

from __future__ import annotations

import pytest
from loop_text import loops

from nvfuser_direct import DataType, FusionDefinition, ParallelType, UserError


@pytest.fixture
def scheduled():
    """x[i0, i2] -> s[i0, r2] -> y[i0]; the fusion stays active."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        copy = fd.ops.set(x)
        s = fd.ops.sum(copy, [1])
        y = fd.ops.neg(s)
        fd.add_output(y)
        yield fd, copy, s, y


def refused(tensor, text, act):
    before = str(tensor)
    steps = len(tensor.schedule_steps())
    with pytest.raises(UserError, match=text):
        act()
    assert str(tensor) == before
    assert len(tensor.schedule_steps()) == steps


def test_split_inner_and_outer(scheduled):
    _, copy, _, _ = scheduled
    assert copy.split(0, 4) is copy
    copy.split(-1, 8, inner_split=False)
    assert loops(copy) == "i(i0/4) i4 i8 i(i1/8)"
    copy.inner_split(1, 2).outer_split(0, 3)
    assert loops(copy) == "i3 i(ceilDiv((i0/4),3)) i2 i2 i8 i(i1/8)"


def test_merge_puts_the_first_named_axis_outside(scheduled):
    """Axis 1 varies slower; the result sits at position 0."""
    _, copy, _, _ = scheduled
    copy.merge(1, 0)
    assert loops(copy) == "i(i1*i0)"


def test_flatten_takes_its_range_by_name():
    with FusionDefinition() as fd:
        t = fd.ops.set(fd.define_tensor([2, 3, 4]))
        t.flatten(**{"from": 1}, to=-1)
        assert loops(t) == "i2 i12"


def test_flatten_merges_a_range():
    with FusionDefinition() as fd:
        t = fd.ops.neg(fd.define_tensor([2, 3, 4, 5], contiguity=True))
        fd.add_output(t)
        t.flatten(1, 2)
        assert loops(t) == "i2 i12 i5"
        t.flatten()
        assert loops(t) == "i120"


def test_reorder_keeps_the_order_of_other_axes():
    with FusionDefinition() as fd:
        t = fd.ops.neg(fd.define_tensor([2, 3, 4, 5], contiguity=True))
        fd.add_output(t)
        t.reorder({3: 0})
        assert loops(t) == "i5 i2 i3 i4"
        t.reorder({0: -1, -1: 0})
        assert loops(t) == "i4 i2 i3 i5"
        refused(t, "axis 0 is given twice", lambda: t.reorder({0: 1, -4: 2}))
        refused(t, "position 1 is given twice", lambda: t.reorder({0: 1, 2: 1}))


def test_axes_of_unlike_types_do_not_merge(scheduled):
    _, _, s, _ = scheduled
    text = "Merging IterDomains requires that their iteration types match. Outer: i.*, Inner: r"
    refused(s, text, lambda: s.merge(0, 1))
    refused(s, "Merging IterDomains requires", lambda: s.flatten())


def test_axes_out_of_range(scheduled):
    _, copy, _, _ = scheduled
    for act in (
        lambda: copy.split(2, 4),
        lambda: copy.merge(0, 2),
        lambda: copy.reorder({2: 0}),
        lambda: copy.swizzle(0, 2),
    ):
        refused(copy, r"Tried to access out of boundary index 2. total index: 2", act)
    refused(copy, "index -3", lambda: copy.split(-3, 4))
    refused(copy, "axes provided are the same axis", lambda: copy.merge(1, -1))


@pytest.mark.parametrize("factor", [0, -2])
def test_split_factors_are_positive(scheduled, factor):
    _, copy, _, _ = scheduled
    text = f"Invalid factor for split. Factor must be greater than 0. Factor = {factor}"
    refused(copy, text, lambda: copy.split(0, factor))


def test_parallelized_axes(scheduled):
    _, copy, _, _ = scheduled
    copy.axis(0).parallelize(ParallelType.grid_x)
    refused(copy, r"Splitting an axis \(iblockIdx.x.*\) of non-Serial", lambda: copy.split(0, 2))
    copy.merge(0, 1)
    assert loops(copy) == "i(i0*i1).blockIdx.x"
    copy.axis(0).parallelize(ParallelType.serial)
    copy.split(0, 2)
    copy.axis(0).parallelize(ParallelType.grid_x)
    copy.axis(1).parallelize(ParallelType.block_x)
    refused(copy, "Merging axes of non-Serial parallel type", lambda: copy.merge(0, 1))


def test_inlined_axes_are_protected(scheduled):
    _, _, s, y = scheduled
    s.inline_at(1)
    for tensor, words in (
        (s, "compute at position. Axis = 0 computePosition = 1"),
        (y, "max producer position. Axis = 0 maxProducerPosition = 1"),
    ):
        refused(tensor, f"Cannot split axis within {words}", lambda t=tensor: t.split(0, 2))
    refused(s, "Cannot merge axis within compute at position", lambda: s.merge(0, 1))
    refused(s, "Cannot reorder axis within compute at position", lambda: s.reorder({0: 1}))
    s.axis(0).parallelize(ParallelType.block_x)
    s.clear_compute_position()
    s.axis(0).parallelize(ParallelType.serial)
    s.split(0, 2)


def test_rank_zero():
    with FusionDefinition() as fd:
        t = fd.ops.neg(fd.define_tensor([]))
        fd.add_output(t)
        refused(t, "Tried to do split on a 0-dim TensorView", lambda: t.split(0, 2))
        refused(t, "Tried to do merge on a 0-dim TensorView", lambda: t.merge(0, 1))
        refused(t, "Tried to do reorder on a 0-dim TensorView", lambda: t.reorder({0: 0}))
        refused(
            t, "Tried to do rFactor on a 0-dim TensorView|not a reduction", lambda: t.rfactor([0])
        )
        assert t.reorder({}) is t


def test_swizzle_permutes_a_square_of_constant_size():
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8, 4, 6, 6], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        before = t.get_loop_domain()
        t.swizzle(0, 1)
        assert loops(t) == "i8 i8 i4 i6 i6"
        assert str(t.get_loop_domain()[1].definition()).startswith("Xor(2D): iS")
        assert t.get_loop_domain()[0] is not before[0]
        refused(t, "Swizzle: equal dim iterdomains only", lambda: t.swizzle(0, 2))
        refused(t, "XOR swizzle only support power of 2", lambda: t.swizzle(3, 4))


def test_swizzle_refuses_other_axes(scheduled):
    fd, copy, s, _ = scheduled
    refused(copy, "Only constant iterdomains supported", lambda: copy.swizzle(0, 1))
    s.split(1, 4)
    refused(s, "swizzled reduction not yet supported", lambda: s.swizzle(1, 2))
    b = fd.ops.broadcast(copy, [False, False, True])
    refused(b, "swizzling broadcast axes not yet supported", lambda: b.swizzle(2, 0))


def test_steps_are_recorded_with_their_lines(scheduled):
    _, copy, _, _ = scheduled
    copy.split(0, 4).merge(1, 2).reorder({0: 1}).split(0, 2, inner_split=False)
    assert [text for text, _ in copy.schedule_steps()] == [
        "split(0, 4)",
        "merge(1, 2)",
        "reorder({0: 1})",
        "split(0, 2, inner_split=False)",
    ]
    assert all("test_axes.py:" in place for _, place in copy.schedule_steps())


def test_sizes_do_not_wrap(scheduled):
    fd, *_ = scheduled
    large = fd.define_tensor([2**40, 2**40], contiguity=True)
    copy = fd.ops.set(large)
    refused(copy, "The size of merged axes does not fit in 64 bits", lambda: copy.merge(0))
    longest = fd.ops.set(fd.define_tensor([2**63 - 1], contiguity=True))
    with pytest.raises(UserError, match="The size of a resized axis does not fit in 64 bits"):
        fd.ops.pad(longest, [1, 1])


def test_an_axis_whose_size_is_a_long_sum_can_be_resized(scheduled):
    fd, x, _, _ = scheduled
    size = total = x.size(0)
    for _ in range(100_000):
        total = fd.ops.add(total, size)
    padded = fd.ops.pad(fd.ops.full([total], 1.0, DataType.Float), [1, 2])
    assert padded.axis(0).extent().definition().rhs.value() == 3


def test_sizes_of_new_loops_are_integer_scalars(scheduled):
    fd, copy, s, _ = scheduled
    text = fd.fusion.print_math()
    for wrong in (s, s.axis(0), fd.define_scalar(2.5)):
        refused(copy, "Invalid extent for broadcast", lambda wrong=wrong: copy.broadcast(0, wrong))
        refused(copy, "Invalid factor for split", lambda wrong=wrong: copy.split(0, wrong))
    refused(copy, "Invalid width for resize", lambda: copy.resize(0, 1.5, 0))
    assert fd.fusion.print_math() == text
