"""Predicates. Integer sums count every visited element exactly once."""

import re

import pytest
import torch
from hard_case import (
    BX,
    BY,
    GLOBAL,
    PAIRS,
    SHARED,
    SIZES,
    TX,
    TY,
    UNROLL,
    UNSWITCH,
    VECTORIZE,
    Compiled,
    assert_same,
    check,
    like,
    numbers,
    par,
)

from nvfuser_direct import CompileParams, DataType, FusionDefinition, KernelExecutor, UserError


def count_visits(target, shape, transform, axes=None, constant=True):
    """Sum of ones through a transformed reduction: the number of elements, if each counts once."""
    with FusionDefinition() as fd:
        sizes = list(shape) if constant else [-1] * len(shape)
        x = fd.define_tensor(sizes, contiguity=True)
        s = fd.ops.sum(x, list(range(len(shape))) if axes is None else axes)
        fd.add_output(s)
        transform(s)
    x = torch.ones(shape, device=target)
    assert_same(Compiled(fd)(x), [x.sum(axes) if axes is not None else x.sum()])


@pytest.mark.parametrize("constant", [True, False])
def test_chain_of_non_divisible_splits(target, constant):

    def transform(s):
        s.split(0, 5)
        s.split(1, 3)

    count_visits(target, (999,), transform, constant=constant)


def chain(*steps):
    """A transform of (name, arguments...) steps."""

    def transform(s):
        for name, *arguments in steps:
            getattr(s, name)(*arguments)

    return transform


@pytest.mark.parametrize(
    ("shape", "transform"),
    [
        ((1000,), chain(("split", 0, 32), ("split", 0, 8))),
        ((20,), chain(("split", 0, 8), ("split", 1, 2), ("split", 1, 3))),
        ((15,), chain(("split", 0, 6), ("split", 0, 2), ("split", 2, 4))),
        ((7, 10), chain(("split", 0, 5), ("merge", 1, 2), ("split", 1, 3))),
        ((8,), chain(("split", 0, 1), ("split", 1, 4))),
        ((8,), chain(("split", 0, 1), ("split", 1, 1), ("split", 2, 4))),
        ((7, 11, 3), chain(("merge", 0, 2), ("split", 0, 4), ("merge", 1, 2), ("split", 1, 3))),
        ((31,), chain(("split", 0, 4, False), ("split", 1, 3, False), ("merge", 0, 2))),
    ],
    ids=["outer-only", "inner-twice", "both", "merged", "by-1", "by-1-twice", "around", "outer"],
)
@pytest.mark.parametrize("constant", [True, False], ids=["static", "symbolic"])
def test_which_ids_to_test(target, shape, transform, constant):
    count_visits(target, shape, transform, constant=constant)


def test_unswitch_needs_extrema_not_loop_ends(target):

    def transform(s):
        s.split(1, 4)
        s.merge(0, 1)
        s.split(0, 4)
        s.split(0, 1)
        s.axis(1).parallelize(UNSWITCH)

    count_visits(target, (4, 10), transform)


@pytest.mark.parametrize("parallel_type", [UNSWITCH, UNROLL])
def test_unswitch_over_all_sizes(target, parallel_type):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(1, 4)
        t.merge(0, 1)
        t.split(0, 8)
        t.split(1, 4)
        par(t, BX, parallel_type, TX)
        like(t)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: -x)


def test_reduction_without_predicate_holds_the_identity(target):
    """`max` and `sum` of one tensor want different fillers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.sub(x, 10.0)
        a.set_memory_type(SHARED)
        total, largest = fd.ops.sum(a, [1]), fd.ops.max(a, [1])
        fd.add_output(total)
        fd.add_output(largest)
        for s in (total, largest):
            s.split(1, 8)
            par(s, BX, None, TX)
        fd.sched.transform_like(total)
        fd.sched.parallelize_like(total)
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: ((x - 10).sum(1), (x - 10).amax(1)))


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_identities_in_holes(target, op):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        s = getattr(fd.ops, op)(fd.ops.set(fd.ops.set(x)), [0])
        fd.add_output(s)
        s.split(0, 32)
        s.split(0, 4)
        partial = s.rfactor([0, 1])
        fd.sched.transform_like(partial)
        par(s, TX)
        par(partial, None, None, TX)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    for n in SIZES:
        x = torch.full((n,), -2.0, device=target)
        x[:: max(n // 3, 1)] = 1.0
        if op == "prod":
            x = x.sign()
        expected = {"sum": x.sum, "prod": x.prod, "max": x.amax, "min": x.amin}[op]()
        assert_same(compiled(x), [expected])


def test_oversubscribed_parallel_type(target):
    """More threads than the smaller tensor has elements."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([20], contiguity=True)
        y = fd.define_tensor([10], contiguity=True)
        u = fd.ops.neg(x)
        a = fd.ops.set(y)
        t = fd.ops.relu(a)
        fd.add_output(u)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        for tensor in (u, a, t):
            par(tensor, TX)
    check(fd, target, [((20,), (10,))], lambda x, y: (-x, torch.relu(y)))


@pytest.mark.parametrize("order", ["outer", "inner"])
def test_oversubscription_under_unswitch(target, order):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        t, other = fd.ops.neg(x), fd.ops.relu(y)
        fd.add_output(t)
        fd.add_output(other)
        t.split(0, 128)
        t.split(0, 1, inner_split=order == "inner")
        t.axis(1 if order == "inner" else 0).parallelize(UNSWITCH)
        t.axis(2).parallelize(TX)
        par(other, TX)
    shapes = [((n,), (k,)) for n, k in ((1, 1), (300, 200), (127, 129), (129, 127), (1000, 999))]
    check(fd, target, shapes, lambda x, y: (-x, torch.relu(y)))


def test_several_tensors_in_one_unswitch(target):
    """One test for each distinct combination of parallel types."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        a, b = fd.ops.set(x), fd.ops.set(y)
        t = fd.ops.add(a, b)
        fd.add_output(t)
        for tensor in (t, a, b):
            tensor.split(0, 16)
            tensor.split(0, 8)
            tensor.split(0, 1)
            tensor.axis(0).parallelize(BX)
            tensor.axis(1).parallelize(UNSWITCH)
        par(t, None, None, TY, TX)
        par(a, None, None, TY, TX)
        par(b, None, None, TX, TY)
        b.set_memory_type(SHARED)
        fd.sched.inline_at(t, 2)
    check(fd, target, [((n,), (n,)) for n in SIZES], lambda x, y: x + y)


def test_thread_predicate_after_a_reduction(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.neg(s)
        fd.add_output(y)
        s.split(1, 64)
        partial = s.rfactor([1])
        par(partial, BX, None, TX)
        par(s, BX, TX)
        par(y, BX)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: -x.sum(1))


def test_rfactor_result(target):
    """`f` tests its root, starts from the identity of `min`."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        one_more = fd.ops.add(x, 1.0)
        one_more.set_memory_type(SHARED)
        m = fd.ops.min(one_more, [0])
        other = fd.ops.neg(z)
        fd.add_output(m)
        fd.add_output(other)
        m.split(0, 4)
        f = m.rfactor([1])
        par(m, TX)
        par(f, TX)
        par(other, TX)
    shapes = [((n,), (k,)) for n, k in ((1, 1), (3, 9), (33, 5), (999, 300), (5, 1000))]
    check(fd, target, shapes, lambda x, z: ((x + 1).amin(), -z))


def test_initialisation_of_a_shared_accumulator(target):
    """The initial store has the thread predicate of the update."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 5], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [1])
        s.set_memory_type(SHARED)
        fd.add_output(fd.ops.neg(s))
        other = fd.ops.neg(z)
        fd.add_output(other)
        par(other, TX)
        s.inline_at(1)
    check(fd, target, [((3, 5), (256,)), ((1, 5), (7,))], lambda x, z: (-x.sum(1), -z))


def test_redundant_stores(target):
    """One writer where a tensor is not bound to a type that others use."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [0])
        other = fd.ops.neg(z)
        fd.add_output(total)
        fd.add_output(other)
        par(other, BX, TX)
    shapes = [((n,), (5, 64)) for n in (1, 3, 33, 999)]
    check(fd, target, shapes, lambda x, z: (x.sum(), -z))


def test_redundant_stores_through_merged_broadcasts(target):
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1, -1], contiguity=True)
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        b = fd.ops.broadcast(c, [False, True, False])
        b1 = fd.ops.add(b, 1.0)
        fd.add_output(b1)
        t = fd.ops.add(b1, x)
        fd.add_output(t)
        t.merge(0, 1)
        t.merge(0, 1)
        t.split(0, 32)
        fd.sched.transform_like(t)
        par(t, BX, TX)
        fd.sched.parallelize_like(t)
        fd.sched.inline_most()
    shapes = [((i, k), (i, j, k)) for i, j, k in ((1, 1, 1), (2, 3, 4), (5, 7, 33))]
    check(fd, target, shapes, lambda c, x: (c[:, None] + 1, c[:, None] + 1 + x))


def test_predicate_of_vector_stores(target):
    """One test for the whole vector; a size that does not divide is refused."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.set(x)
        fd.add_output(t)
        t.split(0, 4)
        t.split(0, 32)
        par(t, BX, TX, VECTORIZE)
    compiled = Compiled(fd)
    for n in (4, 124, 128, 132, 1000):
        x = numbers(n, device=target)
        assert_same(compiled(x), [x])
    with pytest.raises(UserError, match=r"by 4 needs a multiple of it as extent of iS\d\{i0\}"):
        compiled(numbers(999, device=target))


def test_padded_warps(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 50], contiguity=True)
        s = fd.ops.sum(x, [1])
        fd.add_output(s)
        par(s, BX, TX)
        s.axis(1).pad_to_multiple_of_warp()
    check(fd, target, [((m, 50),) for m in (1, 3, 33)], lambda x: x.sum(1))


def test_division_in_holes_does_not_trap(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        y = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        q = fd.ops.div(fd.ops.set(x), fd.ops.set(y))
        r = fd.ops.sum(fd.ops.mod(fd.ops.set(x), fd.ops.set(y)), [0])
        fd.add_output(q)
        fd.add_output(r)
        for tensor in (q, r):
            tensor.split(0, 32)
        fd.sched.transform_like(q)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    for n in SIZES:
        x = torch.arange(n, device=target) - n // 2
        y = torch.arange(n, device=target) % 5 + 1
        expected = torch.div(x, y, rounding_mode="trunc"), torch.fmod(x, y).sum()
        assert_same(compiled(x, y), expected)


def test_elimination_when_the_index_overruns(target):
    """A local chain with one tensor that is not inlined."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([2, 3], contiguity=True)
        a = fd.ops.set(x)
        b = fd.ops.neg(a)
        t = fd.ops.relu(b)
        fd.add_output(t)
        t.split(1, 5)
        t.reorder({0: 1})
        fd.sched.transform_like(t)
        b.inline_at(1)
    check(fd, target, [((2, 3),)], lambda x: torch.relu(-x))


def test_holes_beyond_an_array(target):
    """The loops of the reader have holes that the array has no elements for."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([10], contiguity=True)
        a = fd.ops.set(x)
        b = fd.ops.neg(a)
        fd.add_output(fd.ops.relu(b))
        a.split(0, 4)  # twelve elements
        b.split(0, 7)  # fourteen
    text = fd.fusion.print_kernel()
    assert re.search(r"if \((\w+) < 10\) {\n *T2\[\1\] = -T1\[\1\]", text), text
    check(fd, target, [((10,),)], lambda x: torch.relu(-x))


def test_calls_that_contain_a_barrier(target):
    """Every thread makes the call, whatever its predicate."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        s = fd.ops.sum(x, [2])
        fd.add_output(s)
        s.split(2, 32)
        s.split(1, 4)
        partial = s.rfactor([3])
        par(partial, BX, BY, TY, None, TX)
        par(s, BX, BY, TY, TX)
        fd.sched.inline_most()
    shapes = [(t,) for t in ((1, 1, 1), (2, 3, 4), (5, 7, 33), (3, 9, 100))]
    check(fd, target, shapes, lambda x: x.sum(2))


@pytest.mark.parametrize("shape", [(5, 0), (0, 5), (0, 0)])
def test_zero_extents(target, shape):
    """Empty outputs are not launched for, a reduction over nothing is the identity."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.neg(x)
        s = fd.ops.sum(x, [1])
        fd.add_output(t)
        fd.add_output(s)
        t.merge(0, 1)
        t.split(0, 32)
        t.split(0, 4)
        t.axis(1).parallelize(UNSWITCH)
        s.split(1, 8)
    check(fd, target, [(shape,), ((3, 4),), (shape,)], lambda x: (-x, x.sum(1)))


@pytest.mark.parametrize("shape", [(5, 0), (0, 64)])
def test_zero_extents_inside_of_a_thread_axis(target, shape):
    """One thread is launched; its index divided by 0 is not in range of anything."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        fd.add_output(fd.ops.neg(y))
        t.split(1, 5)
        t.merge(2, 0)
        t.split(0, 2)
        par(t, TX, BX, BY)
    shapes = [(shape, (3,)), ((3, 4), (3,)), (shape, (3,))]
    check(fd, target, shapes, lambda x, y: (-x, -y))


def test_global_intermediates_without_elements(target):
    """Beside an output that has some."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        a = fd.ops.neg(x)
        a.set_memory_type(GLOBAL)
        fd.add_output(fd.ops.neg(a))
        fd.add_output(fd.ops.neg(y))
    check(fd, target, [((0, 4), (3,)), ((3, 4), (3,))], lambda x, y: (x, -y))


def test_constant_empty_axes_of_threads_leave_other_results(target):
    with FusionDefinition() as fd:
        empty = fd.define_tensor([6, 0], contiguity=True)
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(empty)
        fd.add_output(y)
        fd.add_output(fd.ops.neg(x))
        par(y, None, TX)
    x = numbers(5, device=target)
    empty = torch.empty(6, 0, device=target)
    assert_same(Compiled(fd)(empty, x), [empty, -x])


def test_registers_for_a_constant_empty_axis(target):
    """An array without elements is none in C++."""
    with FusionDefinition() as fd:
        empty = fd.define_tensor([6, 0], contiguity=True)
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.neg(empty)))
        fd.add_output(fd.ops.neg(x))
    KernelExecutor().compile(fd.fusion, compile_params=CompileParams(device="cuda:0"))
    x = numbers(5, device=target)
    empty = torch.empty(6, 0, device=target)
    assert_same(Compiled(fd)(empty, x), [empty, -x])


def test_broadcasts_in_shared_memory_have_room_for_fewer_threads_than_there_are(target):
    """The first loop runs over rows of `y`, and so do all that its split and merge lead to."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        c = fd.define_tensor([], contiguity=[])
        b = fd.ops.broadcast(c, [True, True])
        y = fd.ops.add(x, b)
        fd.add_output(y)
        b.set_memory_type(SHARED)
        y.split(0, 2)
        y.split(0, 8)
        y.merge(1, 3)
        fd.sched.transform_like(y)
        par(y, None, TY)
        fd.sched.parallelize_like(y)
        fd.sched.inline_at(y, 1, True)
    shapes = [((3, 4), ()), ((33, 7), ()), ((16, 40), ())]
    check(fd, target, shapes, lambda x, c: x + c)
    cuda = fd.fusion.print_kernel(target="cuda")
    assert re.search(r"thread_y < 8\) {\s*T2_s", cuda)
