"""Shared memory and synchronisation."""

import pytest
import torch
from hard_case import (
    BX,
    GLOBAL,
    PAIRS,
    SHARED,
    SIZES,
    TX,
    TY,
    Compiled,
    assert_same,
    check,
    count,
    cuda_text,
    like,
    lowered,
    numbers,
    par,
    statements,
)

from nvfuser_direct import (
    BlockSync,
    DataType,
    ForLoop,
    FusionDefinition,
    GridSync,
    UserError,
    _core,
)

pytestmark = pytest.mark.sanitize

OTHER_THREADS = "read by other threads than those that computed it, but lies in registers"


def chain(memory_type, shape=(-1,)):
    """x -> a -> t with `a` in the given memory; returns (fd, a, t)."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor(list(shape), contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        if memory_type is not None:
            a.set_memory_type(memory_type)
    return fd, a, t


@pytest.mark.parametrize("memory_type", [SHARED, GLOBAL])
def test_swapped_dims(target, memory_type):
    """The block waits, and only the block."""
    fd, a, t = chain(memory_type, (-1, -1, -1))
    with fd:
        par(a, BX, TY, TX)
        par(t, BX, TX, TY)
    kernel = lowered(fd.fusion)
    assert count(kernel, BlockSync) == 1
    assert count(kernel, GridSync) == 0
    shapes = [(s,) for s in ((1, 1, 1), (2, 3, 4), (3, 31, 8), (2, 8, 32))]
    check(fd, target, shapes, lambda x: -x)


def test_same_name_another_split(target):
    fd, a, t = chain(SHARED)
    with fd:
        a.split(0, 4)
        t.split(0, 8)
        par(a, None, TX)
        par(t, None, TX)
    assert count(lowered(fd.fusion), BlockSync) == 1
    check(fd, target, [((n,),) for n in SIZES], lambda x: -x)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_registers_cannot_pass_values_between_threads(kind):
    """An error that names both tensors and the ways out."""
    fd, a, t = chain(None)
    with fd:
        a.split(0, 4)
        t.split(0, 8)
        par(a, None, TX)
        par(t, None, TX)
    with pytest.raises(RuntimeError) as error:
        fd.fusion.print_kernel(target=kind)
    text = str(error.value)
    assert f"T{a.name()}" in text
    assert f"T{t.name()}" in text


def merged_broadcast(memory_type, is_inlined):
    fd = FusionDefinition()
    with fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        b = fd.ops.broadcast(c, [False, True])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        for tensor in (b, t):
            tensor.merge(0, 1)
            par(tensor, TX)
        if memory_type is not None:
            b.set_memory_type(memory_type)
        if is_inlined:
            b.inline_at(1)
    return fd


def test_permissive_is_not_same():
    with pytest.raises(UserError, match=OTHER_THREADS):
        lowered(merged_broadcast(None, is_inlined=False).fusion)


@pytest.mark.parametrize(("memory_type", "is_inlined"), [(None, True), (SHARED, False)])
def test_permissive_but_legal(target, memory_type, is_inlined):
    """One loop, or shared memory with a barrier."""
    fd = merged_broadcast(memory_type, is_inlined)
    assert count(lowered(fd.fusion), BlockSync) == (0 if is_inlined else 1)
    shapes = [((m,), (m, n)) for m, n in ((1, 1), (3, 4), (31, 5), (7, 33))]
    check(fd, target, shapes, lambda c, x: c[:, None] + x)


@pytest.mark.parametrize("memory_type", [None, SHARED])
@pytest.mark.parametrize("is_inlined", [False, True])
def test_part_of_a_chain_inlined(target, memory_type, is_inlined):
    with FusionDefinition() as fd:
        v = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.set(v)
        c = fd.ops.neg(a)
        b = fd.ops.broadcast(c, [False, True])
        t = fd.ops.add(b, x)
        fd.add_output(t)
        if memory_type is not None:
            a.set_memory_type(memory_type)
        t.merge(0, 1)
        t.split(0, 4)
        fd.sched.transform_like(t)
        par(t, None, TX)
        fd.sched.parallelize_like(t)
        b.inline_at(1)
        c.inline_at(1)
        if is_inlined:
            a.inline_at(1)
    if memory_type is None and not is_inlined:
        with pytest.raises(UserError, match=OTHER_THREADS):
            lowered(fd.fusion)
        return
    shapes = [((m,), (m, n)) for m, n in ((1, 1), (3, 4), (31, 5), (7, 33))]
    check(fd, target, shapes, lambda v, x: -v[:, None] + x)


def test_serial_write_parallel_read(target):
    fd, _, t = chain(SHARED, (33,))
    with fd:
        par(t, TX)
    assert count(lowered(fd.fusion), BlockSync) == 1
    check(fd, target, [((33,),)], lambda x: -x)


def test_placement_of_barriers(target):
    """After the last pending write, in no condition and no thread's loop."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        v = fd.define_tensor([32], contiguity=True)
        a, c = fd.ops.set(v), fd.ops.set(x)
        t = fd.ops.add(fd.ops.broadcast(a, [True, False]), c)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        c.set_memory_type(SHARED)
        par(a, TX)
        for tensor in (c, t):
            tensor.split(1, 8)
        par(c, None, None, TX)
        par(t, None, TX)
        c.inline_at(1)
    check(fd, target, [((m, 32), (32,)) for m in (1, 3, 33)], lambda x, v: x + v)


def test_barrier_under_a_condition(target):
    """The store is predicated, not the barrier."""
    fd, a, t = chain(SHARED)
    with fd:
        for tensor in (a, t):
            tensor.split(0, 64)
        a.split(1, 8)
        par(a, BX, TX, TY)
        t.split(1, 8)
        par(t, BX, TY, TX)
        a.inline_at(1)
    from nvfuser_direct import IfThenElse

    for statement in statements(lowered(fd.fusion)):
        if isinstance(statement, IfThenElse):
            inner = [*statement.then_body, *statement.else_body]
            assert not any(isinstance(s, BlockSync) for s in statements(inner))
    check(fd, target, [((n,),) for n in SIZES], lambda x: -x)


def test_write_after_read(target):
    """The next iteration waits for the readers of this one."""
    fd, a, t = chain(SHARED, (-1, 64))
    with fd:
        t.split(1, 8)
        a.split(1, 8)
        par(a, None, TX, TY)
        par(t, None, TY, TX)
        a.inline_at(1)
    kernel = lowered(fd.fusion)
    assert count(kernel, BlockSync) == 2
    assert sum(isinstance(s, BlockSync) and s.war_sync for s in statements(kernel)) == 1
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: -x)


@pytest.mark.parametrize("extent", [-1, 3])
def test_a_barrier_in_a_loop_that_may_be_empty(target, extent):
    """The barriers of an inner loop guard nothing where it runs zero times."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8, 8], contiguity=True)
        y = fd.define_tensor([-1, extent, 8, 8], contiguity=True)
        a = fd.ops.set(x)
        b = fd.ops.neg(a)
        z = fd.ops.relu(b)
        rows = fd.ops.broadcast(b, [False, True, False, False])
        c = fd.ops.set(y)
        t = fd.ops.add(rows, c)
        fd.add_output(z)
        fd.add_output(t)
        for tensor in (a, c):
            tensor.set_memory_type(SHARED)
        for tensor, is_written in ((a, True), (b, False), (z, False)):
            par(tensor, None, *((TX, TY) if is_written else (TY, TX)))
        for tensor, is_written in ((c, True), (rows, False), (t, False)):
            par(tensor, None, None, *((TX, TY) if is_written else (TY, TX)))
        for tensor, position in ((a, 1), (b, 1), (rows, 4), (c, 2)):
            tensor.inline_at(position)
    (loop,) = (s for s in lowered(fd.fusion).body if isinstance(s, ForLoop))
    assert isinstance(loop.body[-1], BlockSync) == (extent == -1)
    shapes = [((m, 8, 8), (m, 3 if extent > 0 else n, 8, 8)) for m, n in ((1, 1), (3, 0), (5, 3))]
    check(fd, target, shapes, lambda x, y: [torch.relu(-x), y - x[:, None]])


def test_no_write_after_read_barrier_across_blocks(target):
    """A loop bound to blocks runs once."""
    fd, a, t = chain(SHARED, (-1, 64))
    with fd:
        t.split(1, 8)
        a.split(1, 8)
        par(a, BX, TX, TY)
        par(t, BX, TY, TX)
        a.inline_at(1)
    assert count(lowered(fd.fusion), BlockSync) == 1
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: -x)


def test_write_after_read_through_several_buffers(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        a = fd.ops.set(x)
        b = fd.ops.neg(a)
        c = fd.ops.set(b)
        t = fd.ops.relu(c)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        c.set_memory_type(SHARED)
        for tensor in (a, b, c, t):
            tensor.split(1, 8)
        par(a, None, TX, TY)
        par(b, None, TY, TX)
        par(c, None, TY, TX)
        par(t, None, TX, TY)
        for tensor in (a, b, c):
            tensor.inline_at(1)
    check(fd, target, [((m, 32),) for m in (1, 3, 33)], lambda x: torch.relu(-x))


def test_global_intermediate_across_blocks(target):
    """A grid barrier and a cooperative launch."""
    fd, a, t = chain(GLOBAL)
    with fd:
        a.split(0, 4)
        t.split(0, 8)
        par(a, BX, TX)
        par(t, BX, TX)
    assert count(lowered(fd.fusion), GridSync) == 1
    check(fd, target, [((n,),) for n in (1, 3, 33, 999)], lambda x: -x)


def test_repeated_row_is_read_by_other_blocks(target):
    """Only the first threads have computed what the repeats read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=[None, True])
        row = fd.ops.neg(x)
        out = fd.ops.repeat(row, [3, 1])
        fd.add_output(out)
        row.set_memory_type(GLOBAL)
        for tensor in (row, out):
            tensor.merge(0, 1)
            tensor.split(0, 32)
            par(tensor, BX, TX)
    assert count(lowered(fd.fusion), GridSync) == 1
    check(fd, target, [((1, n),) for n in (1, 33, 999)], lambda x: -x.repeat(3, 1))


def test_global_intermediate_in_a_loop(target):
    """Every iteration writes elements of its own, which no other iteration reads."""
    fd, a, t = chain(GLOBAL, (-1, 64))
    with fd:
        t.split(1, 8)
        par(a, None, BX)
        par(t, None, None, BX)
        a.inline_at(1)
    assert count(lowered(fd.fusion), GridSync) == 1
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: -x)


def test_grid_barrier_after_a_block_barrier(target):
    """A barrier of the block does not let other blocks wait."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.define_tensor([32, 32], contiguity=True)
        g, s = fd.ops.set(x), fd.ops.set(y)
        u = fd.ops.neg(s)  # other threads of the block read s
        t = fd.ops.add(u, g)  # other blocks read g
        fd.add_output(t)
        g.set_memory_type(GLOBAL)
        s.set_memory_type(SHARED)
        par(g, BX, TX)
        for tensor in (s, u, t):
            tensor.reorder({0: 1})
        s.split(1, 8)
        par(s, BX, None, TX)
        par(u, BX, TX)
        par(t, BX, TX)
    kernel = lowered(fd.fusion)
    assert count(kernel, BlockSync) == count(kernel, GridSync) == 1
    check(fd, target, [((32, 32), (32, 32))], lambda x, y: x - y)


def test_block_workspace_of_two_reductions(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 100], contiguity=True)
        y = fd.define_tensor([-1, 100], contiguity=True)
        s, m = fd.ops.sum(x, [1]), fd.ops.max(y, [1])
        fd.add_output(fd.ops.add(s, m))
        for tensor in (s, m):
            tensor.axis(1).parallelize(TX)
        fd.sched.inline_most()
    check(fd, target, [((m, 100), (m, 100)) for m in (1, 3, 33)], lambda x, y: x.sum(1) + y.amax(1))


def test_reuse_after_the_last_read(target):
    """Three stages through shared memory, whatever overlays what."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        tensors = [x]
        for _ in range(6):
            tensors.append(fd.ops.add(tensors[-1], 1.0))
        fd.add_output(tensors[-1])
        for i, tensor in enumerate(tensors[1:]):
            tensor.split(1, 8)
            par(tensor, BX, *((TX, TY) if i % 2 else (TY, TX)))
        for tensor in tensors[1:-1]:
            tensor.set_memory_type(SHARED)
            tensor.inline_at(1)
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: x + 6)


def test_register_aliasing(target):
    with FusionDefinition() as fd:
        c = fd.define_tensor([4], contiguity=True)
        x = fd.define_tensor([-1, 4], contiguity=True)
        t2 = fd.ops.neg(c)
        t3 = fd.ops.broadcast(t2, [True, False])
        t5 = fd.ops.add(t3, x)
        t6 = fd.ops.mul(t5, t5)
        fd.add_output(t6)
        t3.inline_at(1)
        t5.inline_at(1)
    check(fd, target, [((4,), (m, 4)) for m in (1, 3, 33)], lambda c, x: (x - c) ** 2)


def test_dynamic_shared_memory(target):
    """Sizes and offsets of several tensors known at launch."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        a, b = fd.ops.set(x), fd.ops.set(y)
        t, u = fd.ops.neg(a), fd.ops.relu(b)
        fd.add_output(t)
        fd.add_output(u)
        for tensor in (a, b):
            tensor.set_memory_type(SHARED)
        for tensor in (t, u):
            par(tensor, TX)
    shapes = [((n,), (k,)) for n, k in ((1, 1), (33, 5), (127, 129), (1000, 999))]
    check(fd, target, shapes, lambda x, y: (-x, torch.relu(y)))


def test_too_much_shared_memory(target):
    fd, _, t = chain(SHARED)
    with fd:
        t.split(0, 128)
        par(t, None, TX)
    compiled = Compiled(fd)
    limit = 227 * 1024 // 4
    x = numbers(10_000, device=target)
    assert_same(compiled(x), [-x])
    x = torch.ones(limit, device=target)
    assert_same(compiled(x), [-x])
    with pytest.raises(RuntimeError, match="shared memory allocation is larger than available"):
        compiled(torch.ones(limit + 1024, device=target))


def test_unallocated_thread_dims(target):
    """Shared memory has thread axes on both sides of the position."""
    fd, a, t = chain(SHARED, (-1, 4))
    with fd:
        for tensor in (a, t):
            par(tensor, TX)
        a.inline_at(1)
    check(fd, target, [((m, 4),) for m in (1, 3, 33, 129)], lambda x: -x)


def test_transposed_through_shared_memory(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.permute(x, [1, 0])
        fd.add_output(t)
        a = x.cache_after()
        a.set_memory_type(SHARED)
        t.split(1, 16)
        t.split(0, 16)
        t.reorder({1: 2})
        fd.sched.transform_like(t)
        par(t, BX, None, TY, TX)
        par(a, BX, None, TX, TY)
        a.inline_at(2)
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.t())


def test_broadcast_over_threads(target):
    """A value of one thread, read by all."""
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, 64], contiguity=True)
        a = fd.ops.set(c)
        t = fd.ops.add(fd.ops.broadcast(a, [False, True]), x)
        fd.add_output(t)
        par(t, BX, TX)
        like(t)
        fd.sched.inline_most()
    assert count(lowered(fd.fusion), BlockSync) == 0
    check(fd, target, [((m,), (m, 64)) for m in (1, 3, 33)], lambda c, x: c[:, None] + x)


@pytest.mark.parametrize("kind", ["directly", "merged"])
def test_broadcast_that_every_thread_copies_has_an_element_for_each(target, kind):
    """Also where an allocation domain leaves it out; a fast thread overwrites no other thread's."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([3, 2, 1], contiguity=[None, True, True], stride_order=[0, 1, 2])
        y = fd.define_tensor([3, 2, 13], contiguity=True)
        t = fd.ops.add(fd.ops.neg(x), y)
        fd.add_output(t)
        a = x.cache_after()
        a.set_memory_type(SHARED)
        if kind == "merged":
            t.merge(1, 2)
        fd.sched.transform_like(t)
        t.axis(-1).parallelize(TX)
        fd.sched.parallelize_like(t)
        fd.sched.inline_most()
    assert count(lowered(fd.fusion), BlockSync) == 0
    x = numbers(3, 2, 1, device=target).permute(2, 1, 0).contiguous().permute(2, 1, 0)
    y = numbers(3, 2, 13, device=target)
    outputs = _core.call_with_options(lambda: Compiled(fd)(x, y), ["kernel_debug"], [])
    assert_same(outputs, [-x + y])


@pytest.mark.parametrize("kind", ["broadcast", "gather", "allocation"])
def test_tensor_that_every_thread_computes_anew_has_an_element_for_each(target, kind):
    """In a thread loop that is no axis of its own, before the broadcast."""
    with FusionDefinition() as fd:
        if kind == "gather":
            x = fd.define_tensor([1, 64], contiguity=True)
            y = fd.define_tensor([8, 64], contiguity=True, dtype=DataType.Int)
            a = fd.ops.neg(x)
            a.merge(0, 1)
            t = fd.ops.take_along_axis(a, y, 0)
        else:
            x = fd.define_tensor([64], contiguity=True)
            y = fd.define_tensor([8, 64], contiguity=True)
            a = fd.ops.neg(x)
            t = fd.ops.add(fd.ops.broadcast(a, [True, False]), y)
        if kind == "allocation":
            a.set_allocation_domain(a.get_logical_domain(), True)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        t.axis(0).parallelize(TX)
        fd.sched.parallelize_like(t)
        fd.sched.inline_most()
    assert count(lowered(fd.fusion), BlockSync) == 0
    x = numbers(*((1, 64) if kind == "gather" else (64,)), device=target)
    y = numbers(8, 64, device=target)
    if kind == "gather":
        y = torch.zeros(8, 64, dtype=torch.int64, device=target)
    outputs = _core.call_with_options(lambda: Compiled(fd)(x, y), ["kernel_debug"], [])
    assert_same(outputs, [-x.expand(8, 64) if kind == "gather" else y - x])


def test_shared_memory_without_elements(target):
    """The size is the constant 0."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 0], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        x.cache_after().set_memory_type(SHARED)
    cuda_text(fd.fusion)
    check(fd, target, [((4, 0),)], lambda x: -x)
