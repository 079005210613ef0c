"""Resized axes and the loops of others: what is cached, shared, rotated or reduced. Inputs lie
between NaNs, so that a read outside of them shows."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hard_case import (
    BX,
    GLOBAL,
    LENGTHS,
    SHARED,
    TX,
    UNROLL,
    UNSWITCH,
    check,
    count,
    cuda_text,
    lengths,
    lowered,
    par,
)

from nvfuser_direct import (
    BlockSync,
    FusionDefinition,
    IdMappingMode,
    IterType,
    schedule,
)
from nvfuser_direct.idm import IdModel


@pytest.mark.parametrize("extent", [9, -1])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_cache_of_a_padded_tensor_has_its_holes(target, extent, position):
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent], contiguity=True)
        y = fd.ops.pad(x, [1, 1])
        fd.add_output(y)
        x_c = x.cache_after()
        y.split(0, 4)
        schedule.transform_like(y)
        x_c.inline_at(position)
        if position == 0 and extent < 0:
            x_c.set_memory_type(SHARED)  # registers need a constant size
    graph = IdModel(fd.fusion).maybe_build_graph(IdMappingMode.exact)
    for own, read in zip(x_c.get_loop_domain(), y.get_loop_domain(), strict=True):
        assert graph.disjoint_val_sets().strict_are_mapped(own, read)
    check(fd, target, [[[9]]] if extent == 9 else lengths(1), lambda x: F.pad(x, [1, 1]))


def test_unshifted_loops_are_not_shared(target):
    """A cache with tiles of its own is not inlined into the padded tensor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([12], contiguity=True)
        y = fd.ops.pad(x, [4, 0])
        fd.add_output(y)
        x_c = x.cache_after()
        y.split(0, 4)
        x_c.split(0, 4)
    with pytest.raises(RuntimeError, match="Invalid inline position"):
        x_c.inline_at(1)
    check(fd, target, [[[12]]], lambda x: F.pad(x, [4, 0]))


def rotation(fd, extent, half):
    x = fd.define_tensor([extent], contiguity=True)
    left = fd.ops.slice(x, [0], [half])
    right = fd.ops.slice(x, [half], [2 * half])
    y = fd.ops.cat([right, left])
    t = fd.ops.add(fd.ops.mul(x, 100.0), y)
    fd.add_output(t)
    return x, left, right, y, t


@pytest.mark.parametrize("extent", [32, -1])
def test_rotation_keeps_both_positions_of_an_axis(target, extent):
    with FusionDefinition() as fd:
        *_, t = rotation(fd, extent, 16)
        t.split(0, 4)
        schedule.transform_like(t)
        schedule.inline_most()
        for tv in fd.fusion.tensors():
            if tv.definition() is not None and tv is not t and tv.compute_at_position() == 0:
                tv.set_memory_type(GLOBAL)
    check(fd, target, [[[32]]], lambda x: x * 100 + torch.cat([x[16:], x[:16]]))


def test_rotation_maps_resized_ids_only_when_asked(target):
    with FusionDefinition() as fd:
        _, left, right, *_ = rotation(fd, 32, 16)
    ids = [left.get_root_domain()[0], left.get_logical_domain()[0]]
    others = [right.get_root_domain()[0], right.get_logical_domain()[0]]
    model = IdModel(fd.fusion, build_graphs=True)
    for mode in (
        IdMappingMode.exact,
        IdMappingMode.almost_exact,
        IdMappingMode.broadcast,
        IdMappingMode.permissive,
    ):
        sets = model.maybe_build_graph(mode).disjoint_val_sets()
        assert sets.strict_are_mapped(ids[0], others[0])
        assert not sets.strict_are_mapped(ids[0], ids[1])
        assert not sets.strict_are_mapped(ids[1], others[1])
    sets = model.maybe_build_graph(IdMappingMode.permissive_resize).disjoint_val_sets()
    assert sets.strict_are_mapped(ids[0], ids[1])


def computed(fd):
    return [tv for tv in fd.fusion.tensors() if tv.definition() is not None]


@pytest.mark.parametrize("extent", [32, -1])
def test_rotation_in_one_loop_nest(target, extent):
    """The loops of both slices are those of their pads."""
    with FusionDefinition() as fd:
        _, left, right, _, t = rotation(fd, extent, 16)
        size = t.size(0)
        right.resize(0, 0, fd.ops.sub(size, right.size(0)) if extent < 0 else 16)
        left.resize(0, right.size(0) if extent < 0 else 16, 0)
        if extent > 0:
            t.split(0, 4)
            schedule.transform_like(t)
            schedule.inline_most()
            assert all(tv is t or tv.compute_at_position() == 2 for tv in computed(fd))
        else:
            left.set_memory_type(GLOBAL)
            right.set_memory_type(GLOBAL)
            schedule.inline_most()
    check(fd, target, [[[32]]], lambda x: x * 100 + torch.cat([x[16:], x[:16]]))


def test_rotated_reads_wait_for_other_threads(target):
    """Thread i reads what thread i + 16 wrote, though both axes are one in the graph."""
    with FusionDefinition() as fd:
        x, left, right, *_ = rotation(fd, 32, 16)
        x_c = x.cache_after()
        right.resize(0, 0, 16)
        left.resize(0, 16, 0)
        for tv in computed(fd):
            par(tv, TX)
        schedule.inline_most()
    with pytest.raises(RuntimeError, match="read by other threads than those that computed it"):
        fd.fusion.lower()
    x_c.set_memory_type(SHARED)
    assert count(lowered(fd.fusion), BlockSync) == 1
    check(fd, target, [[[32]]], lambda x: x * 100 + torch.cat([x[16:], x[:16]]))


def test_padded_reads_wait_for_other_threads(target):
    """Tiles of the cache are not those of the padded tensor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.pad(x, [1, 1])
        fd.add_output(y)
        x_c = x.cache_after()
        for tv in (x_c, y):
            tv.split(0, 32)
            par(tv, None, TX)
    with pytest.raises(RuntimeError, match="read by other threads than those that computed it"):
        fd.fusion.lower()
    x_c.set_memory_type(SHARED)
    check(fd, target, lengths(1), lambda x: F.pad(x, [1, 1]))


def test_a_loop_may_grow_but_not_shrink(target):
    """By hand, what propagation does for the cache of a padded tensor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([9], contiguity=True)
        y = fd.ops.pad(x, [2, 1])
        fd.add_output(y)
        x_c = x.cache_after()
        with pytest.raises(RuntimeError, match="A loop cannot be resized to less than its axis"):
            x_c.resize(0, -1, 0)
        x_c.resize(0, 2, 1)
        for tv in (x_c, y):
            tv.split(0, 5)
        x_c.inline_at(2)
        with pytest.raises(RuntimeError, match="Cannot resize axis within compute at position"):
            x_c.resize(0, 1, 1)
    check(fd, target, [[[9]]], lambda x: F.pad(x, [2, 1]))


@pytest.mark.parametrize("parallel_type", [None, UNSWITCH, UNROLL])
def test_reduction_of_an_inlined_pad(target, parallel_type):
    """Every element counts once, holes and padding apart."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.pad(x, [3, 2, 1, 1], 1.0)
        s = fd.ops.sum(y, [1])
        fd.add_output(s)
        s.split(1, 32)
        s.split(1, 4)
        partial = s.rfactor([1, 2])
        schedule.transform_like(partial)
        for tv in (partial, s):
            par(tv, BX)
            tv.axis(-1).parallelize(TX)
        par(partial, None, None, parallel_type)
        schedule.parallelize_like(partial)
        schedule.inline_most()
    shapes = [[(3, n)] for n in LENGTHS]
    check(fd, target, shapes, lambda x: F.pad(x, [3, 2, 1, 1], value=1.0).sum(1))


def test_one_element_resized_to_loops_has_holes_around_it(target):
    """A slice of size 1 is a broadcast; in the loops of its pad it is read once."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([31], contiguity=True)
        cached = fd.ops.set(x)
        one = fd.ops.slice(cached, [0], [1])
        y = fd.ops.pad(one, [30, 0])
        fd.add_output(y)
        cached.set_memory_type(SHARED)
        one.resize(0, 30, 0, IterType.Iteration)
        one.inline_at(1)
    assert "- 30 < 1" in cuda_text(fd.fusion)
    check(fd, target, [((31,),)], lambda x: F.pad(x[:1], (30, 0)))


@pytest.mark.parametrize("memory", [None, SHARED])
@pytest.mark.parametrize("extent", [7, 1])
def test_copies_whose_loops_are_resized_differently(target, extent, memory):
    """X and f(x) behind each other, in the loops of the result: iteration i is element i of
    the one and element i - n of the other."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent], contiguity=True)
        a = fd.ops.neg(x)
        b = fd.ops.set(a)
        t = fd.ops.cat([a, b], 0)
        fd.add_output(t)
        fd.sched.transform_like(t)
        for copy in (a, b):
            if memory is not None:
                copy.set_memory_type(memory)
    check(fd, target, [((extent,),)], lambda x: torch.cat([-x, -x]))


def test_broadcast_in_resized_loops_is_resolved_beside_them(target):
    """Its one element is that of iteration 0, whichever iteration reads it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1], contiguity=[None])
        a = fd.ops.neg(x)
        c = fd.ops.cat([a, a], 0)
        fd.add_output(fd.ops.mul(c, a))
        fd.sched.transform_like(c)
        a.set_memory_type(SHARED)
    check(fd, target, [((1,),)], lambda x: torch.cat([x * x, x * x]))


@pytest.mark.parametrize("axis", [0, 1])
def test_threads_share_a_broadcast_that_is_padded(target, axis):
    """The loops that they share are named after an axis that the pad has made."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1], contiguity=[None])
        a = fd.ops.neg(x)
        p = fd.ops.pad(a, [0, 16])
        y = fd.ops.add(p, 1.0)
        fd.add_output(y)
        y.split(0, 4)
        fd.sched.transform_like(y)
        y.axis(axis).parallelize(TX)
        fd.sched.parallelize_like(y)
        for tensor in (a, p):
            tensor.set_memory_type(SHARED)
        fd.sched.inline_most()
    assert a.compute_at_position() > 0
    check(fd, target, [((1,),)], lambda x: F.pad(-x, [0, 16]) + 1)


def test_threads_share_a_broadcast_that_is_repeated(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([3, 1], contiguity=[True, None])
        a = fd.ops.neg(x)
        r = fd.ops.repeat(a, [2, 4])
        y = fd.ops.add(r, 1.0)
        fd.add_output(y)
        y.axis(1).parallelize(TX)
        fd.sched.parallelize_like(y)
        for tensor in (a, r):
            tensor.set_memory_type(SHARED)
        fd.sched.inline_most()
    check(fd, target, [((3, 1),)], lambda x: (-x).repeat(2, 4) + 1)
