"""Copying parallel types."""

from __future__ import annotations

import pytest
import torch
from loop_text import loops

from nvfuser_direct import FusionDefinition, ParallelType, UserError

BX, TX = ParallelType.grid_x, ParallelType.block_x
UNROLL, VECTORIZE = ParallelType.unroll, ParallelType.vectorize


def tensor(fd, *shape):
    return fd.define_tensor(list(shape), contiguity=True)


def copies(fd):
    """x -> c -> a -> t[.bx, .tx, V]"""
    x = tensor(fd, -1, -1)
    c = fd.ops.set(x)
    a = fd.ops.neg(c)
    t = fd.ops.set(a)
    fd.add_output(t)
    t.split(1, 4)
    fd.sched.transform_like(t)
    for axis, parallel_type in enumerate((BX, TX, VECTORIZE)):
        t.axis(axis).parallelize(parallel_type)
    return x, c, a, t


def test_vectorize_is_for_requested_tensors():
    """Arithmetic tensors are not vectorized; inputs of the fusion get nothing."""
    with FusionDefinition() as fd:
        x, c, a, t = copies(fd)
        fd.sched.parallelize_like(t)
        assert loops(c) == loops(a) == "ii0.blockIdx.x i(i1/4).threadIdx.x i4"
        assert loops(x) == "ii0 i(i1/4) i4"
        fd.sched.parallelize_like(t, -1, [c], {VECTORIZE})
        assert loops(c) == "ii0.blockIdx.x i(i1/4).threadIdx.x i4.V"
        assert loops(a) == "ii0.blockIdx.x i(i1/4).threadIdx.x i4"


def test_vectorize_without_tensors_is_for_copies():
    """Only the type is requested."""
    with FusionDefinition() as fd:
        _, c, a, t = copies(fd)
        fd.sched.parallelize_like(t, selected_parallel_types={VECTORIZE})
    assert loops(c) == "ii0 i(i1/4) i4.V"
    assert loops(a) == "ii0 i(i1/4) i4"


def test_first_axes_only():
    with FusionDefinition() as fd:
        _, c, _, t = copies(fd)
        fd.sched.parallelize_like(t, 1)
    assert loops(c) == "ii0.blockIdx.x i(i1/4) i4"


def test_resolved_broadcasts_and_forwarded_axes():
    """Axes that correspond permissively get the type."""
    with FusionDefinition() as fd:
        c = fd.ops.set(tensor(fd, -1))
        b = fd.ops.broadcast(c, [True, False])
        t = fd.ops.add(b, tensor(fd, -1, -1))
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 128)
        fd.sched.transform_like(t)
        t.axis(0).parallelize(BX)
        t.axis(1).parallelize(TX)
        fd.sched.parallelize_like(t)
    assert loops(b) == loops(c) == "i(i0/128).blockIdx.x i128.threadIdx.x"


def test_siblings_of_selected_tensors():
    with FusionDefinition() as fd:
        x_c = fd.ops.set(tensor(fd, -1, -1))
        avg, m2, n = fd.ops.welford(x_c, [1])
        fd.add_output(avg)
        x_c.axis(0).parallelize(BX)
        fd.sched.parallelize_like(x_c, selected_tensors=[avg])
    assert loops(avg) == loops(m2) == loops(n) == "ii0.blockIdx.x ri1"


def test_ambiguous_axes():
    """X + x.T maps both axes of x to each other; the error names the two axes."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, -1, -1))
        t = fd.ops.add(x, fd.ops.permute(x, [1, 0]))
        fd.add_output(t)
        t.axis(0).parallelize(BX)
        with pytest.raises(UserError, match="An axis corresponds to several axes") as error:
            fd.sched.parallelize_like(t)
    assert str(t.axis(0)) in str(error.value)
    assert str(t.axis(1)) in str(error.value)
    assert loops(x) == "ii0 ii1"


def test_outer_product_is_not_ambiguous():
    """I0 and i1 correspond only through forwarding, which decides nothing here."""
    with FusionDefinition() as fd:
        a = fd.ops.set(tensor(fd, -1))
        b = fd.ops.set(tensor(fd, -1))
        t = fd.ops.mul(fd.ops.broadcast(a, [False, True]), fd.ops.broadcast(b, [True, False]))
        fd.add_output(t)
        t.axis(0).parallelize(BX)
        t.axis(1).parallelize(TX)
        fd.sched.parallelize_like(t)
    assert loops(a) == "ii0.blockIdx.x"
    assert loops(b) == "ii2.threadIdx.x"


def test_a_padding_that_does_not_fit_changes_nothing():
    with FusionDefinition() as fd:
        x = tensor(fd, 1, -1)
        y = tensor(fd, 48, -1)
        small = fd.ops.set(x)
        t = fd.ops.add(small, y)
        fd.add_output(t)
        small.axis(1).parallelize(BX)
        small.axis(0).parallelize(TX)
        small.axis(0).pad_to_multiple_of_warp(32)
        before = [loops(tv) for tv in (small, t)]
        with pytest.raises(UserError, match="Padded size is smaller than the axis"):
            fd.sched.parallelize_like(small)
        assert [loops(tv) for tv in (small, t)] == before
        fd.sched.parallelize_like(small, propagate_padding=False)
    assert loops(t) == "i48.threadIdx.x ii1.blockIdx.x"


def test_a_call_after_an_edit_sees_the_edited_axes() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.relu(x)
        y = fd.ops.neg(t)
        fd.add_output(y)
        y.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.parallelize_like(y)
        y.split(1, 4)
        fd.sched.transform_like(y)
        y.axis(2).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(y)
        assert t.axis(2).parallel_type() == ParallelType.block_x
        between = t.cache_after()
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    assert between.axis(2).parallel_type() == ParallelType.block_x
    assert between.compute_at_position() == t.compute_at_position() == 3


def test_calls_before_there_are_outputs_see_every_tensor() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.relu(x)
        fd.sched.parallelize_like(t)
        y = fd.ops.neg(t)
        y.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.parallelize_like(y)
    assert t.axis(0).parallel_type() == ParallelType.grid_x


def test_one_fusion_where_another_was_is_seen_anew() -> None:
    for factor in (2, 3, 4, 5):
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1], contiguity=True)
            t = fd.ops.relu(x)
            y = fd.ops.neg(t)
            fd.add_output(y)
            y.split(0, factor)
            fd.sched.transform_like(y)
            y.axis(1).parallelize(ParallelType.block_x)
            fd.sched.parallelize_like(y)
        assert t.axis(1).parallel_type() == ParallelType.block_x
        del fd, x, t, y


def split_by_one(fd, x):
    first = fd.ops.exp(x)
    y = fd.ops.set(first)
    y.split(0, 4)
    first.split(0, 4)
    first.split(1, 1)
    return first, y, (y.axis(1), first.axis(1))


def merged_with_a_broadcast(fd, x):
    first = fd.ops.exp(x)
    y = fd.ops.broadcast(first, [False, True])
    y.merge(0, 1)
    y.split(0, 4)
    first.split(0, 4)
    return first, y, (y.axis(1), first.axis(1))


@pytest.mark.parametrize("make", [split_by_one, merged_with_a_broadcast])
def test_steps_that_leave_an_index_as_it_is_part_no_threads(target: str, make) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([10], contiguity=True)
        first, y, bound = make(fd, x)
        fd.add_output(y)
        for axis in bound:
            axis.parallelize(ParallelType.block_x)
    assert first.compute_at_position() == 0
    assert "barrier" not in fd.fusion.print_kernel(target=target)
    value = torch.linspace(-1, 1, 10, device=target)
    (result,) = fd.manual_execute([value])
    torch.testing.assert_close(result.flatten(), value.exp())
