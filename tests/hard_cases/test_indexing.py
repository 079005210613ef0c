"""Indexing."""

import re

import pytest
import torch
from hard_case import (
    BX,
    PAIRS,
    SHARED,
    SIZES,
    TX,
    TY,
    VECTORIZE,
    Compiled,
    assert_same,
    check,
    guarded,
    like,
    numbers,
    par,
)

from nvfuser_direct import DataType, FusionDefinition


def kernel_body(fd, target="cuda"):
    return fd.fusion.print_kernel(target=target)


def test_contiguous_merge(target):
    """No division where loops and memory agree."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 128)
        par(t, BX, TX)
        like(t)
        fd.sched.inline_most()
    body = kernel_body(fd)
    body = body[body.index("CUDAGeneratedKernel") :]
    assert "%" not in body
    assert not re.search(r"(?<!/)/(?![/*])(?<!\*/)", re.sub(r"//.*", "", body))
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: -x)


def test_reversed_merge(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.neg(fd.ops.set(x))
        fd.add_output(t)
        t.merge(1, 0)
        t.split(0, 32)
        par(t, BX, TX)
        like(t)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: -x)


@pytest.mark.parametrize("contiguity", [[False, True], [True, False], [False, False]])
def test_gaps_break_a_run(target, contiguity):
    """The flag of the outer dimension says whether both are one run."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=contiguity)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 64)
        par(t, BX, TX)
    compiled = Compiled(fd)
    for m, n in PAIRS:
        inner = 1 if contiguity[1] else 2
        outer = (n + 3) * inner if not contiguity[0] else n * inner
        x = guarded(numbers(m, n, device=target), (outer, inner))
        assert_same(compiled(x), [-x])


def test_merge_around_an_axis(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        t = fd.ops.neg(fd.ops.set(x))
        fd.add_output(t)
        t.merge(0, 2)
        t.split(0, 3)
        like(t)
        fd.sched.inline_most()
    check(fd, target, [(s,) for s in ((1, 1, 1), (2, 3, 4), (5, 31, 3), (33, 1, 2))], lambda x: -x)


def test_concretized_broadcast_in_between(target):
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1, -1], contiguity=True)
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        t = fd.ops.add(fd.ops.broadcast(c, [False, True, False]), x)
        fd.add_output(t)
        t.merge(0, 1)
        t.merge(0, 1)
        t.split(0, 128)
        par(t, BX, TX)
        like(t)
        fd.sched.inline_most()
    shapes = [((i, k), (i, j, k)) for i, j, k in ((1, 1, 1), (2, 3, 4), (5, 31, 3), (3, 7, 33))]
    check(fd, target, shapes, lambda c, x: c[:, None, :] + x)


def test_non_divisible_split_in_between(target):
    """Rows have 12 slots, memory 10."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 10], contiguity=True)
        t = fd.ops.neg(fd.ops.set(x))
        fd.add_output(t)
        t.split(1, 4)
        t.merge(0, 1)
        like(t)
        fd.sched.inline_most()
    check(fd, target, [((m, 10),) for m in (1, 3, 33)], lambda x: -x)


def test_expanded_input(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([2, 5, 3], contiguity=[True, None, True])
        y = fd.define_tensor([2, 5, 3], contiguity=True)
        fd.add_output(fd.ops.add(x, y))
    narrow = numbers(2, 1, 3, device=target)
    y = numbers(2, 5, 3, device=target, seed=1)
    x = narrow.expand(2, 5, 3)
    assert_same(Compiled(fd)(x, y), [x + y])


def test_broadcast_with_real_extent(target):
    """A split broadcast has loops but one element."""
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        b = fd.ops.broadcast(c, [True, False])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        b.set_memory_type(SHARED)
        b.split(0, 4)
        b.merge(1, 2)
        par(b, None, TX)
    check(fd, target, [((n,), (m, n)) for m, n in ((1, 1), (3, 4), (5, 31))], lambda c, x: c + x)


@pytest.mark.parametrize("inner_split", [False, True])
def test_split_broadcast_has_one_position(target, inner_split):
    """Its consumer's loops go beyond it, and its own loop is merged: nothing else is read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 7], contiguity=[None, True])
        turned = fd.ops.permute(fd.ops.set(x), [1, 0])
        y = fd.ops.set(turned)
        fd.add_output(y)
        y.split(1, 2, inner_split)
        turned.merge(0, 1)
    check(fd, target, [((1, 7),)], lambda x: x.t())


@pytest.mark.parametrize("inner_split", [False, True])
@pytest.mark.parametrize("types", [(None, None), (TX, None), (BX, TX), (BX, None)])
def test_split_broadcast_does_not_repeat_a_reduction(target, inner_split, types):
    """The slots of a broadcast beyond its one element are holes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None])
        s = fd.ops.sum(fd.ops.set(x), [0], True)
        y = fd.ops.neg(s)
        fd.add_output(y)
        s.split(1, 2, inner_split)
        like(s)
        par(s, types[0], *((None, types[1]) if inner_split else (types[1],)))
        fd.sched.parallelize_like(s)
        fd.sched.inline_most()
    check(fd, target, [((n, 1),) for n in (1, 3, 33)], lambda x: -x.sum(0, keepdim=True))


@pytest.mark.parametrize("inner_split", [False, True])
@pytest.mark.parametrize("is_merged", [False, True])
@pytest.mark.parametrize("types", [(None, None), (TX, None), (None, TX), (BX, TX)])
def test_reduced_broadcast_counts_once(target, inner_split, is_merged, types):
    """Also where the broadcast is reduced itself, by Welford's algorithm."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=[None, True])
        _, squares, _ = fd.ops.welford(fd.ops.set(x), [0, 1])
        fd.add_output(squares)
        squares.split(0, 7, inner_split)
        if is_merged:
            squares.merge(1, 2)
        else:
            squares.reorder({1: 2})
        like(squares)
        par(squares, *types)
        fd.sched.parallelize_like(squares)
        fd.sched.inline_most()

    def reference(x):
        return x.var(correction=0) * x.numel()

    check(fd, target, [((1, n),) for n in (1, 3, 33)], reference, rtol=1e-5)


@pytest.mark.parametrize("inner_split", [False, True])
def test_factored_broadcast_counts_once(target, inner_split):
    """Its parts beyond the one element are holes of the partial results."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=[None, True])
        members = fd.ops.welford(fd.ops.set(x), [0, 1])
        squares = members[1]
        fd.add_output(squares)
        squares.split(0, 7, inner_split)
        like(squares)
        squares.rfactor([1, 2], list(members))
        fd.sched.inline_most()

    def reference(x):
        return x.var(correction=0) * x.numel()

    check(fd, target, [((1, n),) for n in (1, 3, 33)], reference, rtol=1e-5)


def test_trivial_mapping_loses_a_factor(target):
    """8 additions, not 32."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        s = fd.ops.sum(x, [0])
        fd.add_output(s)
        s.split(0, 10)
        s.split(0, 4)
    check(fd, target, [((8,),)], lambda x: x.sum())


def test_merge_of_two_size_1_axes(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 1], contiguity=[None, None])
        y = fd.define_tensor([3, 3], contiguity=True)
        u = fd.ops.neg(x)
        fd.add_output(u)
        fd.add_output(fd.ops.add(fd.ops.set(u), y))
        u.merge(0, 1)
    check(fd, target, [((1, 1), (3, 3))], lambda x, y: (-x, y - x))


@pytest.mark.parametrize("vector", [False, True])
def test_channels_last_allocation(target, vector):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8, -1, -1], contiguity=True, stride_order=[3, 0, 2, 1])
        t = fd.ops.neg(x)
        fd.add_output(t)
        if vector:
            cached = x.cache_after()
            t.reorder({1: 3})
            t.split(3, 4)
            fd.sched.transform_like(t)
            cached.axis(-1).parallelize(VECTORIZE)
            fd.sched.inline_most()
    compiled = Compiled(fd)
    for n, h, w in ((1, 1, 1), (2, 3, 5), (3, 31, 2)):
        x = numbers(n, 8, h, w, device=target)
        x = guarded(x, (h * w * 8, 1, w * 8, 8))
        assert_same(compiled(x), [-x])


def test_allocation_of_a_split_axis(target):
    """Shared memory addressed by [N/8, 8] with padded strides."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 21], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        a.split(1, 8)
        a.reorder({1: 2})
        a.set_allocation_domain(a.get_loop_domain(), True)
        t.axis(0).parallelize(BX)
        a.axis(0).parallelize(BX)
    check(fd, target, [((m, 21),) for m in (1, 3)], lambda x: -x)


def test_allocation_with_loops_removed(target):
    """Shared dimensions are not allocated, whichever axis expresses them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 3, 64], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        t.split(2, 16)
        fd.sched.transform_like(t)
        a.set_memory_type(SHARED)
        axes = a.get_loop_domain()
        a.set_allocation_domain([axes[1], axes[2], axes[0], axes[3]], True)
        par(t, BX, None, None, TX)
        fd.sched.parallelize_like(t)
        a.inline_at(2)
    check(fd, target, [((m, 3, 64),) for m in (1, 2, 5)], lambda x: -x)


def test_loop_order_is_not_memory_order(target):
    """The lane axis innermost in memory, outermost among the inner loops."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 24], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        cached = x.cache_after()
        t.split(1, 4)
        t.reorder({-1: 0})
        fd.sched.transform_like(t)
        fd.sched.inline_at(t, 1)
    assert cached.compute_at_position() == 1
    with fd:
        cached.set_memory_type(SHARED)
    check(fd, target, [((m, 24),) for m in (1, 3, 33)], lambda x: -x)


def test_register_arrays_have_static_indices(target):
    """The loop that addresses registers is unrolled, that of shared memory is not."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        par(t, TX)
        par(a, TX)
        a.inline_at(1)
    assert "#pragma unroll" in kernel_body(fd)
    check(fd, target, [((m, 8),) for m in (1, 3, 33)], lambda x: -x)


def test_rfactor_through_merge_and_split(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        s = fd.ops.sum(x, [1, 2])
        fd.add_output(s)
        s.split(2, 4)
        s.split(1, 3)
        s.merge(2, 3)
        s.rfactor([-1])
        fd.sched.inline_most()
    shapes = [(t,) for t in ((1, 1, 1), (3, 4, 5), (2, 31, 33), (33, 3, 7))]
    check(fd, target, shapes, lambda x: x.sum((1, 2)))


def test_swizzle_by_a_position_that_one_operand_lacks(target):
    """Threads count along an axis that `b` repeats: its writers and its readers must agree."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        b = fd.define_tensor([-1, 1], contiguity=[True, None])
        z = fd.ops.mul(x, fd.ops.neg(b))
        fd.add_output(z)
        z.reorder({0: 1})
        z.split(0, 8)
        z.split(2, 8)
        z.reorder({2: 0})  # [rows / 8, columns / 8, 8 columns, 8 rows]
        z.swizzle(2, 3)
        like(z)
        z.axis(0).parallelize(BX)
        z.axis(2).parallelize(TX)
        fd.sched.parallelize_like(z)
    shapes = [((m, n), (m, 1)) for m, n in PAIRS]
    check(fd, target, shapes, lambda x, b: -x * b)


def test_swizzled_shared_memory(target):
    """Element (x, y) stands at (x, y ^ x), for writer and reader."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.permute(x, [1, 0])
        fd.add_output(t)
        a = x.cache_after()
        a.set_memory_type(SHARED)
        t.split(1, 32)
        t.split(0, 32)
        t.reorder({1: 2})
        fd.sched.transform_like(t)
        a.reorder({2: 3})
        a.swizzle(2, 3)
        a.set_allocation_domain(a.get_loop_domain(), True)
        for tensor in (a, t):
            tensor.split(2, 8)
            par(tensor, BX, None, None, TY, TX)
        a.inline_at(2)
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.t())


def test_index_width_counts_strides(target):
    """Eight elements, the last of them 2^31 elements away."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True], dtype=DataType.Bool)
        fd.add_output(fd.ops.logical_not(x))
    base = torch.empty((1 << 31) + 8, dtype=torch.bool, device=target)
    x = base.as_strided((2, 4), (1 << 31, 1))
    x.copy_(torch.tensor([[True, False, True, True], [False, False, True, False]]))
    assert_same(Compiled(fd)(x), [~x])


def test_large_constant_in_user_math_is_64_bit(target):
    """Whatever the index type."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.add(x, 1 << 40))
    x = torch.arange(5, device=target)
    assert_same(Compiled(fd)(x), [x + (1 << 40)])


def test_magic_of_division_by_a_symbolic_extent(target):
    """Rules that need divisibility are not applied without."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=[False, False, True])
        t = fd.ops.neg(fd.ops.set(x))
        fd.add_output(t)
        t.merge(0, 1)
        t.merge(0, 1)
        t.split(0, 6)
        t.split(0, 5)
        t.merge(1, 2)
        t.split(1, 4)
        like(t)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    for shape in ((1, 1, 1), (2, 3, 4), (5, 7, 3), (1, 31, 33)):
        _, j, k = shape
        x = guarded(numbers(*shape, device=target), ((j * (k + 1) + 2), k + 1, 1))
        assert_same(compiled(x), [-x])


def test_rank_0(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        total = fd.ops.sum(y, [0])
        fd.add_output(fd.ops.add(x, total))
        fd.sched.inline_most()
    check(fd, target, [((), (n,)) for n in SIZES[:6]], lambda x, y: x + y.sum())


def test_cpu_scalar(target):
    """Passed by value."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        c = fd.define_tensor([], is_cpu=True)
        fd.add_output(fd.ops.mul(x, c))
    x = numbers(33, device=target)
    assert_same(Compiled(fd)(x, torch.tensor(3.0)), [x * 3])
