"""How much memory a tensor has."""

import pytest
import torch
from hard_case import (
    BX,
    GLOBAL,
    SHARED,
    SIZES,
    TX,
    UNROLL,
    Compiled,
    assert_same,
    check,
    lowered,
    numbers,
    par,
    statements,
)

from nvfuser_direct import (
    Allocate,
    FusionDefinition,
    IterDomain,
    KernelExecutor,
    UserError,
    _core,
)


def allocated(fusion, tensor):
    """Number of elements that the kernel allocates for a tensor."""
    sizes = [
        s.size
        for s in statements(lowered(fusion))
        if isinstance(s, Allocate) and s.buffer.name() == tensor.name()
    ]
    assert len(sizes) == 1
    (size,) = sizes
    return size.value() if size.is_const() else str(size)


def test_halo_of_a_non_divisible_split(target):
    """Two tiles of 4 for 6 elements."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([6], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        for tensor in (a, t):
            tensor.split(0, 4)
    assert allocated(fd.fusion, a) in (6, 8)
    check(fd, target, [((6,),)], lambda x: -x)


def test_halo_through_an_allocation_domain(target):
    """The loop domain as memory needs its holes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([6], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        a.split(0, 4)
        a.set_allocation_domain(a.get_loop_domain(), True)
        t.split(0, 4)
        for tensor in (a, t):
            par(tensor, None, TX)
    assert allocated(fd.fusion, a) == 8
    check(fd, target, [((6,),)], lambda x: -x)


def test_promoted_extents(target):
    """3 elements, not 1."""
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
    assert allocated(fd.fusion, a) == 3
    check(fd, target, [((1, 4), (3, 4))], lambda x, y: x + y)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_registers_of_symbolic_size(kind):
    """An error that says what to do."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.set(x)))
    with pytest.raises(RuntimeError) as error:
        fd.fusion.print_kernel(target=kind)
    assert "inline" in str(error.value)
    assert "shared" in str(error.value)


def test_registers_of_a_size_known_from_another_tensor(target):
    """Constants of exactly mapped tensors count."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([8], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.set(x), y))
    check(fd, target, [((8,), (8,))], lambda x, y: x + y)


def test_unrolled_producer_axes(target):
    """The unroll of the loop decides, also where the tensor has no such axis."""
    with FusionDefinition() as fd:
        v = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, 4], contiguity=True)
        a = fd.ops.set(v)
        b = fd.ops.broadcast(a, [False, True])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        par(t, None, UNROLL)
        fd.sched.inline_most()
    check(fd, target, [((m,), (m, 4)) for m in (1, 3, 33)], lambda v, x: v[:, None] + x)


def test_unrolled_axis_left_of_the_position(target):
    """An unrolled loop left of the position moves the allocation out."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        for tensor in (a, t):
            tensor.split(0, 4)
            tensor.split(0, 8)
            par(tensor, BX)
        t.axis(1).parallelize(UNROLL)
        a.inline_at(2)
    check(fd, target, [((n,),) for n in SIZES], lambda x: -x)


def test_initial_store_outside_the_loops_of_the_update(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([6, -1, 5], contiguity=True)
        s = fd.ops.sum(x, [1])
        t = fd.ops.neg(s)
        fd.add_output(t)
        s.reorder({1: 0})
    check(fd, target, [((6, m, 5),) for m in (1, 3, 33)], lambda x: -x.sum(1))


@pytest.mark.parametrize("position", [0, 1])
def test_explicit_allocation_domain(target, position):
    """Order and transforms are kept, what shared loops cover is not allocated."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 3, 10], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        axes = a.get_loop_domain()
        a.set_allocation_domain([axes[2], axes[0], axes[1]], True)
        a.inline_at(position)
    assert allocated(fd.fusion, a) == (120 if position == 0 else 30)
    check(fd, target, [((4, 3, 10),)], lambda x: -x)


def test_threads_that_repeat_a_broadcast_have_elements_of_their_own():
    """Eight positions of one: the allocation domain has a place for one of them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 16], contiguity=[None, True])
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        outer, inner = IterDomain.split(a.get_logical_domain()[1], 3)
        a.set_allocation_domain([outer, a.get_logical_domain()[0], inner], True)
        for tensor in (a, t):
            tensor.split(0, 8)
            tensor.merge(1, 2)
            tensor.split(1, 32)  # [1, 4, 32]
            par(tensor, None, None, TX)
    x = torch.randn(1, 16)

    def run():
        executor = KernelExecutor()
        executor.compile(fd.fusion, [x])
        return executor.run([x])

    (result,) = _core.call_with_options(run, ["kernel_debug"], [])
    assert torch.equal(result, -x)


def test_outputs_with_an_allocation_domain(target):
    """Strides of the allocation, sizes of the logical domain."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        axes = t.get_logical_domain()
        t.set_allocation_domain([axes[2], axes[0], axes[1]], True)
    compiled = Compiled(fd)
    for shape in ((1, 1, 1), (2, 3, 4), (5, 31, 3)):
        x = numbers(*shape, device=target)
        (out,) = compiled(x)
        assert_same([out], [-x])
        i, j, _ = shape
        if min(shape) > 1:
            assert out.stride() == (j, 1, i * j)


@pytest.mark.parametrize("parts", [(1, 3), (2, 2), (3, 2)])
def test_outputs_with_holes_between_their_elements(target, parts):
    """Parts that are split further, which need not divide; strides know their real sizes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, parts[0])
        t.split(1, parts[1])
        t.set_allocation_domain(t.get_loop_domain(), True)
    x = numbers(6, device=target)
    if parts == (3, 2):  # rows of 3 elements that take 4 in memory
        with pytest.raises(UserError, match="does not fit its strides"):
            Compiled(fd)(x)
        return
    (out,) = Compiled(fd)(x)
    assert_same([out], [-x])
    assert out.stride() == ((3,) if parts == (1, 3) else (1,))


def test_expanded_outputs_that_merge_the_expanded_dimension(target):
    """Stride 0, whatever the allocation domain merges it with."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([5, 2, 1], contiguity=[True, True, None])
        t = fd.ops.expand(x, [5, 2, 7])
        fd.add_output(t)
        t.merge(2, 1)
        t.set_allocation_domain([t.axis(1), t.axis(0)], True)
    x = numbers(5, 2, 1, device=target)
    (out,) = Compiled(fd)(x)
    assert_same([out], [x.expand(5, 2, 7)])
    assert out.stride()[2] == 0


@pytest.mark.parametrize("parts", ["inner", "both"])
def test_outputs_that_merge_a_padded_broadcast(target, parts):
    """A broadcast that was split takes room beside every element; its own stride is free."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True)
        t = fd.ops.broadcast(x, [True, False])
        fd.add_output(t)
        t.split(0, 2)
        if parts == "both":
            t.split(0, 3, inner_split=False)
        t.reorder({-1: 0})
        while t.ndims() > 1:
            t.merge(0, 1)
        t.set_allocation_domain(t.get_loop_domain(), True)
    x = numbers(4, device=target)
    (out,) = Compiled(fd)(x)
    assert_same([out], [x[None]])
    assert out.stride()[1] == (2 if parts == "inner" else 6)


def test_expanded_outputs(target):
    """Stride 0 and one element where nothing has to be written."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None])
        t = fd.ops.neg(fd.ops.expand(x, [-1, 7]))
        fd.add_output(t)
        fd.sched.inline_most()
    x = numbers(5, 1, device=target)
    assert_same(Compiled(fd)(x), [-x.expand(5, 7)])


def test_outputs_of_rank_0(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([], contiguity=True)
        fd.add_output(fd.ops.neg(x))
    check(fd, target, [((),)], lambda x: -x)


@pytest.mark.parametrize("memory_type", [GLOBAL, SHARED])
def test_intermediates_of_symbolic_size(target, memory_type):
    """Sizes are computed when launched."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.set(x)
        a.set_memory_type(memory_type)
        t = fd.ops.permute(a, [1, 0])
        fd.add_output(t)
    shapes = [((m, n),) for m, n in ((1, 1), (3, 4), (33, 31))]
    check(fd, target, shapes, lambda x: x.t())


def test_bool_in_shared_memory(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([33], contiguity=True)
        y = fd.define_tensor([33], contiguity=True)
        a = fd.ops.gt(x, 0.0)
        b = fd.ops.set(y)
        a.set_memory_type(SHARED)
        b.set_memory_type(SHARED)
        t = fd.ops.where(a, b, 0.0)
        fd.add_output(t)
        par(t, TX)
    check(fd, target, [((33,), (33,))], lambda x, y: torch.where(x > 0, y, 0.0))
