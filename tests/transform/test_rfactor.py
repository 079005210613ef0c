"""rfactor: reductions in two steps."""

from __future__ import annotations

import pytest
from loop_text import axis_text, loops

from nvfuser_direct import FusionDefinition, ParallelType, SwizzleType, UserError


def texts(axes):
    return " ".join(axis_text(axis) for axis in axes)


def reduced(fd, shape, axes):
    s = fd.ops.sum(fd.define_tensor(list(shape), contiguity=True), axes)
    fd.add_output(fd.ops.neg(s))
    return s


def test_transforms_move_to_the_producer():
    """The split stands between root and logical domain of the new tensor."""
    with FusionDefinition() as fd:
        s = reduced(fd, [-1], [0])
        consumers = s.consumers()
        s.split(0, 128)
        f = s.rfactor([1])
    assert texts(f.get_root_domain()) == "ri0"
    assert texts(f.get_logical_domain()) == loops(f) == "i(i0/128) r128"
    assert not s.has_root()
    assert texts(s.get_logical_domain()) == loops(s) == "r(i0/128)"
    assert s.producers() == [f]
    assert s.consumers() == consumers


def test_transforms_of_all_reductions_move():
    with FusionDefinition() as fd:
        s = reduced(fd, [-1, -1, -1], [1, 2])
        s.split(2, 4)
        s.split(1, 3)
        s.merge(2, 3)
        f = s.rfactor([-1])
    assert texts(f.get_root_domain()) == "ii0 ii1 ri2"
    assert loops(f) == "ii0 i(i1/3) i((i2/4)*3) r4"
    assert texts(f.get_logical_domain()) == loops(f)
    assert loops(s) == "ii0 r(i1/3) r((i2/4)*3)"
    assert f.get_logical_domain()[0] is f.get_root_domain()[0]


def test_intermediate_axes_with_reduced_parts_stay_reductions():
    with FusionDefinition() as fd:
        s = reduced(fd, [-1, -1, -1], [1, 2])
        s.merge(1, 2)
        s.split(1, 4)
        f = s.rfactor([-1])
    merge_output = f.axis(2).definition().input(0)
    assert merge_output.is_reduction()
    assert [axis_text(axis)[0] for axis in f.get_loop_domain()] == ["i", "i", "r"]
    assert texts(f.get_root_domain()) == "ii0 ri1 ri2"


def test_broadcast_merges_stay_broadcasts():
    with FusionDefinition() as fd:
        s = reduced(fd, [256, 1, 1, 4], [3])
        s.merge(1, 2).merge(0, 1).split(-1, 2)
        f = s.rfactor([-2])
    assert loops(f) == "i256 r2 i2"
    assert loops(s) == "i256 r2"
    assert f.axis(0).definition().input(1).is_broadcast()


def test_transforms_of_other_axes_and_parallel_types_are_kept():
    with FusionDefinition() as fd:
        s = reduced(fd, [-1, -1], [1])
        s.split(1, 32)
        s.split(0, 4)
        s.reorder({3: 0})
        s.axis(0).parallelize(ParallelType.block_x)
        s.axis(1).parallelize(ParallelType.grid_x)
        s.axis(3).parallelize(ParallelType.block_y)
        f = s.rfactor([3])
    assert loops(f) == "i32.threadIdx.x i(i0/4).blockIdx.x i4 r(i1/32).threadIdx.y"
    assert loops(s) == "r32.threadIdx.x i(i0/4).blockIdx.x i4"
    assert texts(f.get_logical_domain()) == "ii0 r(i1/32).threadIdx.y i32.threadIdx.x"


def test_factoring_the_producer_again():
    with FusionDefinition() as fd:
        s = reduced(fd, [-1], [0])
        s.split(0, 128)
        f = s.rfactor([1])
        f.split(1, 4)
        g = f.rfactor([2])
    assert texts(g.get_root_domain()) == "ri0"
    assert loops(g) == "i(i0/128) i32 r4"
    assert loops(f) == "i(i0/128) r32"
    assert not f.has_root()
    assert loops(s) == "r(i0/128)"
    assert [tensor.producers() for tensor in (s, f)] == [[f], [g]]


def test_outputs_keep_their_layout():
    with FusionDefinition() as fd:
        s = fd.ops.sum(fd.define_tensor([-1, -1, -1], contiguity=True), [2])
        fd.add_output(s)
        rows, columns, _ = s.get_logical_domain()
        s.set_allocation_domain([columns, rows], False)
        s.split(2, 8)
        s.rfactor([-1])
    rows, columns, rest = s.get_logical_domain()
    assert s.get_allocation_domain() == [columns, rows, rest]
    assert s.get_contiguity() == [False, False, None]


def test_welford_has_three_producers_with_one_definition():
    """The results that were not scheduled get the transforms of the one that was."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        results = list(fd.ops.welford(x, [1]))
        fd.add_output(results[0])
        fd.add_output(results[1])
        results[0].split(1, 32)
        producers = results[0].rfactor([-1], results)
    assert [loops(t) for t in producers] == ["ii0 i(i1/32) r32"] * 3
    assert [loops(t) for t in results] == ["ii0 r(i1/32)"] * 3
    assert all(t.definition() is producers[0].definition() for t in producers)
    assert results[2].producers() == producers


def test_a_swizzle_of_reductions_with_other_axes_is_not_factored():
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        y, s = fd.ops.set(x), fd.ops.sum(x, [1])
        fd.add_output(y)
        fd.add_output(s)
        y.swizzle(SwizzleType.XOR, 0, 1)
        y.split(1, 2)
        fd.sched.transform_like(y)
        with pytest.raises(UserError, match="joins a reduction axis with one that is none"):
            s.rfactor([2])


def test_what_rfactor_refuses():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        fd.add_output(s)
        before = str(s)
        with pytest.raises(UserError, match="not a reduction axis"):
            s.rfactor([0])
        with pytest.raises(UserError, match="all reduction axes"):
            s.rfactor([1])
        with pytest.raises(UserError, match="no axes are given"):
            s.rfactor([])
        with pytest.raises(UserError, match=r"Error rfactoring T0.* definition is not a reduction"):
            x.rfactor([0])
        assert str(s) == before
        avg, var, n = fd.ops.welford(x, [1])
        with pytest.raises(UserError, match="needs all of them"):
            avg.rfactor([1], [avg, var])
        var.split(1, 4)
        avg.split(1, 8)
        before = [str(t) for t in (avg, var, n)]
        with pytest.raises(UserError, match="Results of one expression are scheduled differently"):
            avg.rfactor([2], [avg, var, n])
        assert [str(t) for t in (avg, var, n)] == before


def test_siblings_follow_the_one_that_is_scheduled_furthest():
    with FusionDefinition() as fd:
        results = list(fd.ops.welford(fd.define_tensor([-1, -1], contiguity=True), [1]))
        fd.add_output(results[0])
        for result in results:
            result.split(1, 32)
        results[1].split(0, 8)
        before = [str(t) for t in results]
        with pytest.raises(UserError, match="Results of one expression are scheduled differently"):
            results[0].rfactor([-1], results)
        assert [str(t) for t in results] == before
        producers = results[1].rfactor([-1], results)
    assert [loops(t) for t in producers] == ["i(i0/8) i8 i(i1/32) r32"] * 3
    assert [loops(t) for t in results] == ["i(i0/8) i8 r(i1/32)"] * 3


def test_siblings_that_are_not_transformed_yet_do_not_keep_others_from_being_inlined():
    with FusionDefinition() as fd:
        x = fd.ops.neg(fd.define_tensor([8, 16], contiguity=True))
        results = list(fd.ops.welford(x, [1]))
        y = fd.ops.neg(results[0])
        fd.add_output(y)
        results[0].split(1, 4)
        x.inline_at(1)
    assert x.compute_at_position() == 1


def test_siblings_bound_differently_change_nothing():
    with FusionDefinition() as fd:
        results = list(fd.ops.welford(fd.define_tensor([-1, -1], contiguity=True), [1]))
        fd.add_output(results[0])
        avg, var, n = results
        avg.split(1, 32)
        avg.axis(1).parallelize(ParallelType.grid_x)
        n.axis(0).parallelize(ParallelType.block_y)
        var.split(1, 32)
        var.axis(1).parallelize(ParallelType.grid_y)
        before = [str(t) for t in results]
        with pytest.raises(UserError, match="Results of one expression are scheduled differently"):
            avg.rfactor([-1], results)
        assert [str(t) for t in results] == before
