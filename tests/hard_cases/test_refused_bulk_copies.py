"""Bulk copies that are refused, by a schedule and by a launch."""

from __future__ import annotations

import re

import pytest
import torch
from bulk_copies import BULK, TMA, bind_box, bind_threads, loaded, tile
from hard_case import BX, SHARED, TX, VECTORIZE, lowered, numbers, par, refusal

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, UserError

pytestmark = pytest.mark.sanitize

# -- by a schedule --


def refused(change, boxes=(16, 32), dtype=DataType.Float) -> str:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(boxes), contiguity=True, dtype=dtype)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        tile(y, boxes)
        tile(a, boxes)
        bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
        change(fd, x, a, y)
    return refusal(fd.fusion)


@pytest.mark.parametrize(
    ("boxes", "dtype", "headline"),
    [
        ((16, 257), DataType.Float, "A box has more than 256 elements along an axis"),
        ((16, 3), DataType.Float, "A box consists of pieces of 16 bytes"),
        ((16, 4), DataType.BFloat16, "A box consists of pieces of 16 bytes"),
        ((16, 32), DataType.ComplexDouble, "A bulk copy does not move elements of this size"),
        ((2, 2, 2, 2, 2, 4), DataType.Float, "A bulk copy has at most 5 axes"),
    ],
)
def test_sizes_that_are_refused(boxes, dtype, headline):
    assert refused(lambda *_: None, boxes, dtype).startswith(headline)


def test_threads_cannot_share_a_copy():
    def change(fd, x, a, y):
        a.axis(1).parallelize(TX)

    assert refused(change).startswith("One thread begins a bulk copy")


def test_a_box_needs_axes():
    def change(fd, x, a, y):
        for axis in (1, 2):
            a.axis(axis).parallelize(type(BX).serial)

    assert refused(change).startswith("A bulk copy has no box")


def test_a_broadcast_is_no_axis_of_a_box():
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=[None, True])
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        a.split(1, 32)
        par(a, BULK, None, BULK)
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError, match="The axis of a box is a broadcast"):
            lowered(fd.fusion, target)


def test_vectors_are_no_boxes():
    def change(fd, x, a, y):
        a.axis(2).parallelize(VECTORIZE)

    assert refused(change).startswith("A bulk copy has no axis bound to V")


def test_only_bulk_copies_have_boxes():
    def change(fd, x, a, y):
        y.axis(1).parallelize(BULK)

    text = refused(change)
    assert text.startswith("An axis is bound to tma, but its tensor is no bulk copy")


def test_the_innermost_axis_is_contiguous():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, stride_order=[0, 1])
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tile(tensor, (16, 32))
        a.set_allocation_domain(a.get_loop_domain(), True)
        bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    with pytest.raises(UserError, match="The innermost axis of a box is not contiguous in global"):
        lowered(fd.fusion)


def test_what_is_stored_lies_without_gaps():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        s = y.cache_before(TMA)
        s.set_memory_type(SHARED)
        for tensor in (s, y):
            tile(tensor, (16, 32))
        bind_box(y)
        s.reorder({1: 2})
        bind_threads(s)
        fd.sched.inline_at(y, 1, selected_tensors=[s])
    with pytest.raises(UserError, match="A box lies in shared memory with gaps, or in another"):
        lowered(fd.fusion)


def test_copies_within_a_memory_are_refused():
    def change(fd, x, a, y):
        a.set_memory_type(type(SHARED).local)

    assert refused(change).startswith("A bulk copy is one between global and shared memory")


def test_parts_of_a_split_with_remainder_are_refused():
    """The hardware would not see where the part ends."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([100, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.split(0, 32)
            tensor.split(1, 8)
            par(tensor, BX)
        bind_box(a, 2)
        y.merge(2, 3)
        par(y, None, None, TX)
        fd.sched.inline_at(y, 2, selected_tensors=[a])
    with pytest.raises(UserError, match="A box would reach beyond a part of a split"):
        lowered(fd.fusion)


@pytest.mark.parametrize("is_split", [False, True])
def test_merged_axes_with_gaps_between_are_refused(target, is_split):
    """A split that divides may stand between: then the merge counts boxes only."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 16, 32], contiguity=[False, False, True])
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            if is_split:
                tensor.split(1, 8)
                tensor.merge(0, 1)
            else:
                tensor.merge(0, 1)
                tensor.split(0, 8)
            par(tensor, BX)
        bind_box(a)
        par(y, None, None, TX)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    if not is_split:
        assert refusal(fd.fusion).startswith(
            "A box has an axis whose parts do not follow each other in memory"
        )
        return
    x = numbers(5, 20, 36, device=target)[:, :16, :32]
    assert torch.equal(run(fd, x)[0], -x)


# -- by a launch --


def test_strides_of_a_launch(target):
    """Multiples of 16 bytes, on every target."""
    fd = loaded((16, 32))
    x = numbers(20, 33, device=target).clone()
    with pytest.raises(UserError, match=re.escape("not possible due to invalid stride")):
        run(fd, x)


def test_addresses_of_a_launch(target):
    """Multiples of 16 bytes, on every target."""
    fd = loaded((64,))
    x = numbers(65, device=target).clone()[1:]
    with pytest.raises(UserError, match=re.escape("the memory address is not aligned")):
        run(fd, x)


def run(fd: FusionDefinition, x: torch.Tensor) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x])
    return executor.run([x])
