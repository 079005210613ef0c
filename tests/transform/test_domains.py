"""Axes and domains: what they are, making them, and editing those of a tensor directly."""

from __future__ import annotations

import pytest
import torch
from loop_text import loops

from nvfuser_direct import (
    FusionDefinition,
    IterDomain,
    IterType,
    KernelExecutor,
    ParallelType,
    SwizzleType,
    TensorDomain,
    UserError,
)

BX, TX = ParallelType.grid_x, ParallelType.block_x


@pytest.fixture
def fd():
    with FusionDefinition() as definition:
        yield definition


# -- rotating, repeating --


def test_swizzle1d_rotates_by_a_device_index(fd):
    x = fd.define_tensor([8, 4], contiguity=True)
    y = fd.ops.neg(x)
    fd.add_output(y)
    before = y.axis(-1)
    assert y.swizzle1d(-1, ParallelType.mesh_x) is y
    swizzle = y.axis(1).definition()
    assert swizzle.in_ is before
    assert "= Swizzle1D(" in str(swizzle)
    assert "parallelType=deviceIdx.x)" in str(swizzle)
    assert y.schedule_steps()[-1][0] == "swizzle1d(-1, DIDx)"
    with pytest.raises(UserError, match="Swizzle1D only supports device parallel types, given: "):
        y.swizzle1d(0, ParallelType.block_x)
    with pytest.raises(UserError, match=r"out of boundary index 2\. total index: 2"):
        y.swizzle1d(2, ParallelType.mesh_x)


@pytest.mark.parametrize(("axis", "text"), [(0, "b3 i8 i4"), (1, "i8 b3 i4"), (-1, "i8 i4 b3")])
def test_broadcast_inserts_a_loop(fd, target, axis, text):
    x = fd.define_tensor([8, 4], contiguity=True)
    y = fd.ops.neg(x)
    fd.add_output(y)
    assert y.broadcast(axis, 3) is y
    assert loops(y) == text
    y.axis(axis).parallelize(TX)
    executor = KernelExecutor()
    value = torch.rand(8, 4, device=target)
    executor.compile(fd.fusion, [value])
    assert torch.equal(executor.run([value])[0], -value)


def test_broadcast_of_a_reduction_adds_once(fd, target):
    x = fd.define_tensor([8, 4], contiguity=True)
    y = fd.ops.sum(x, [1])
    fd.add_output(y)
    y.broadcast(1, 3)
    executor = KernelExecutor()
    value = torch.rand(8, 4, device=target)
    executor.compile(fd.fusion, [value])
    torch.testing.assert_close(executor.run([value])[0], value.sum(1))


def test_broadcast_refuses_bad_arguments(fd):
    x = fd.define_tensor([8, 4], contiguity=True)
    y = fd.ops.neg(x)
    fd.add_output(fd.ops.exp(y))
    with pytest.raises(UserError, match=r"Extent must be greater than 0\. Extent = 0"):
        y.broadcast(0, 0)
    with pytest.raises(UserError, match="out of boundary index 4"):
        y.broadcast(4)
    y.inline_at(1)
    with pytest.raises(UserError, match="Cannot broadcast axis within compute at position"):
        y.broadcast(0)


# -- domains --


def test_contiguity_is_replaced(fd, target):
    x = fd.define_tensor([-1, 1, -1], contiguity=False)
    y = fd.ops.neg(x)
    fd.add_output(y)
    x.set_contiguity(True)
    assert x.get_contiguity() == [True, None, True]
    x.set_contiguity([False, None, True])
    assert x.get_contiguity() == [False, None, True]
    assert x.schedule_steps()[-1][0] == "set_contiguity([False, None, True])"
    with pytest.raises(UserError, match="Length of contiguity argument"):
        x.set_contiguity([True])
    with pytest.raises(UserError, match="contiguity of a broadcast/reduction dimension must be"):
        x.set_contiguity([True, True, True])


def test_the_loop_domain_becomes_the_shape(fd, target):
    x = fd.define_tensor([12, 4], contiguity=True)
    y = fd.ops.neg(x)
    fd.add_output(y)
    y.split(0, 3)
    y.reorder([1, 0, 2])
    y.commit_leaf_to_logical()
    assert y.get_logical_domain() == y.get_loop_domain()
    assert [size.value() for size in y.shape()] == [3, 4, 4]
    assert y.has_root()
    executor = KernelExecutor()
    value = torch.rand(12, 4, device=target)
    executor.compile(fd.fusion, [value])
    (out,) = executor.run([value])
    assert torch.equal(out, -value.reshape(4, 3, 4).transpose(0, 1))


def test_what_cannot_become_a_shape(fd):
    x = fd.define_tensor([-1, 5], contiguity=True)
    y = fd.ops.neg(x)
    z = fd.ops.exp(y)
    fd.add_output(z)
    with pytest.raises(
        UserError, match="logical domain of an intermediate tensor is not supported"
    ):
        y.commit_leaf_to_logical()
    z.split(1, 2)
    with pytest.raises(UserError, match="split that may not divide its axis"):
        z.commit_leaf_to_logical()


def test_reductions_are_dropped_where_nothing_reduces(fd):
    x = fd.define_tensor([-1, 5], contiguity=True)
    y = fd.ops.sum(x, [1])
    fd.add_output(y)
    with pytest.raises(UserError, match="axes that a reduction reduces cannot be dropped"):
        y.clear_reduction_iter_domains()
    y.split(0, 4)
    with pytest.raises(UserError, match="already transformed"):
        y.clear_reduction_iter_domains()
    x.clear_reduction_iter_domains()
    assert len(x.get_loop_domain()) == 2


# -- questions --


def test_questions_about_domains(fd):
    x = fd.define_tensor([-1, 1, 8], contiguity=True, stride_order=[0, 2, 1])
    s = fd.ops.sum(x, [2])
    fd.add_output(s)
    domain = s.domain()
    assert (domain.has_reduction(), domain.has_broadcast()) == (True, True)
    assert s.reduction_axis() == domain.reduction_axis() == 2
    assert x.reduction_axis() is None
    assert not domain.has_block_reduction()
    s.axis(2).parallelize(TX)
    s.axis(1).parallelize(BX)
    assert (s.has_block_reduction(), s.has_grid_reduction()) == (True, False)
    assert (s.has_grid_broadcast(), s.has_block_broadcast()) == (True, False)
    assert not s.has_cluster_reduction()
    s.axis(1).set_clustered_blocks()
    assert s.axis(1).is_clustered_grid_dim()
    with pytest.raises(UserError, match="only supported on grid_x"):
        s.axis(2).set_clustered_blocks()
    assert x.domain().stride_order() == [0, 2, 1]
    assert domain.stride_order() == []
    first = s.axis(0)
    assert domain.axis(0) is first
    assert (domain.pos_of(first), domain.root_pos_of(first)) == (0, 0)
    flags = [domain.is_root, domain.is_logical, domain.is_allocation, domain.is_loop]
    assert all(is_in(first) for is_in in flags)
    s.split(0, 4)
    assert not domain.is_loop(first)
    assert domain.is_logical(first)
    with pytest.raises(UserError, match="not an axis of the loop domain"):
        domain.pos_of(first)
    assert not domain.has_symbolic_axis()
    assert not domain.has_view_like_rfactor()
    matrix = fd.define_tensor([4, 8], contiguity=True)
    assert fd.ops.reshape(matrix, [2, 16]).domain().has_view_like_rfactor()
    assert s.get_initial_loop_domain()[0] is first


def test_questions_about_axes(fd):
    x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, None])
    axis, one, expanded = x.get_logical_domain()
    assert one.is_implicit_broadcast()
    assert expanded.is_broadcast()
    assert not expanded.is_implicit_broadcast()
    for question in ("stride", "gather_scatter", "vector_component", "mma", "bulk"):
        assert not getattr(axis, "is_" + question)()
    assert not axis.maybe_partial()
    axis.parallelize(ParallelType.mma)
    assert axis.is_mma()
    assert TensorDomain.no_devices([axis, one]) == [axis, one]
    one.parallelize(ParallelType.mesh_x)
    assert TensorDomain.no_devices([axis, one]) == [axis]


def test_axes_are_made_from_axes(fd):
    x = fd.define_tensor([-1, 8, 8], contiguity=True)
    rows, i, j = x.get_logical_domain()
    four, two = fd.define_scalar(4), fd.define_scalar(2)
    outer, inner = IterDomain.split(rows, four)
    assert inner.extent().value() == 4
    outer, inner = IterDomain.split(rows, four, inner_split=False)
    assert outer.extent().value() == 4
    assert IterDomain.merge(i, j).extent().value() == 64
    a, b = IterDomain.swizzle(SwizzleType.XOR, i, j)
    assert a.definition() is b.definition()
    grown = IterDomain.resize(i, two, two)
    assert grown.extent().value() == 12
    assert grown.iter_type() == IterType.Iteration
    assert x.get_loop_domain() == [rows, i, j]
    with pytest.raises(UserError, match="iteration types match"):
        IterDomain.merge(i, fd.ops.sum(x, [1]).axis(1))
