"""Small fusions whose schedules use every primitive between them, to be printed and run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import (
    CacheHint,
    CacheOp,
    DataType,
    FusionDefinition,
    IterDomain,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    Pipelined,
    SwizzleType,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def define_x(fd: FusionDefinition, shape: tuple[int, ...] = (-1, -1), **options: Any) -> Any:
    return fd.define_tensor(list(shape), contiguity=True, **options)


def split_merge_reorder(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.neg(define_x(fd)))
    y.merge(0, 1)
    y.split(0, 128)
    y.split(0, 4, inner_split=False)
    y.reorder({0: 2, 1: 0})
    y.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.block_x)


def propagated(fd: FusionDefinition) -> None:
    x = define_x(fd)
    fd.add_output(y := fd.ops.neg(z := fd.ops.exp(x)))
    x.cache_after()
    y.split(1, 32)
    fd.sched.bounded_transform_backward(y, -1, [x])
    fd.sched.bounded_transform_forward(z, -1, [y])
    fd.sched.bounded_transform_both(y, -1, [x], [])
    y.axis(2).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(y)
    fd.sched.inline_at(y, 1)
    z.clear_compute_position()


def symbolic_factors(fd: FusionDefinition) -> None:
    x, n = define_x(fd), fd.define_scalar(DataType.Int)
    fd.add_output(y := fd.ops.mul(x, n))
    y.split(1, n)
    y.split(0, fd.ops.ceilDiv(x.size(1), n))
    y.broadcast(0)
    y.broadcast(-1, x.size(1))


def swizzled(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.neg(x := define_x(fd, (32, 32))))
    tile = x.cache_after()
    tile.set_memory_type(MemoryType.shared)
    tile.swizzle(0, 1)
    tile.swizzle(SwizzleType.CyclicShift, 0, 1)
    tile.set_allocation_domain(tile.get_loop_domain(), True)
    tile.split(1, 8)
    y.swizzle1d(0, ParallelType.mesh_x)


def allocations(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, -1, 1], contiguity=[False, None, True], stride_order=[0, 2, 1])
    fd.add_output(y := fd.ops.stride_order(fd.ops.neg(x), [0, 1, 2]))
    inner = x.cache_after(propagate_allocation_domain=False)
    outer = inner.cache_after()
    outer.set_allocation_domain([outer.axis(2), outer.axis(0), outer.axis(1)], [None, True, True])
    y.set_contiguity(False)
    local = y.cache_before()
    local.split(0, 4)
    a, b, c, d = local.get_loop_domain()
    local.set_allocation_domain([b, a, c, d], [True, False, True, None])
    local.merge(0, 2)


def own_axes(fd: FusionDefinition) -> None:
    """Loops and allocation that no sequence of methods makes."""
    x = define_x(fd, (-1, 32))
    fd.add_output(y := fd.ops.neg(fd.ops.reshape(x, [-1, 4, 8])))
    t = y.definition().inputs()[0]
    t.set_loop_domain(t.get_root_domain())
    z = y.cache_before()
    outer, inner = IterDomain.split(z.axis(0), 2)
    merged = IterDomain.merge(z.axis(1), z.axis(2))
    z.set_loop_domain([merged, outer, inner])
    z.set_allocation_domain(z.get_logical_domain(), False)
    rows, part = IterDomain.split(y.axis(2), 4)
    y.set_allocation_domain([y.axis(1), y.axis(0), rows, part], True)


def memory_of_a_late_loop(fd: FusionDefinition) -> None:
    """Inlining stops at unrolled axes: the loop is bound after it, its parts before."""
    x = define_x(fd, (32,))
    fd.add_output(y := fd.ops.neg(x))
    copy = y.cache_before().cache_after()
    copy.compute_with(-1)
    copy.axis(0).parallelize(ParallelType.unroll)
    outer, inner = IterDomain.split(copy.axis(0), 3)
    copy.set_allocation_domain([outer, inner], True)


def caches(fd: FusionDefinition) -> None:
    x = define_x(fd, dtype=DataType.Float)
    a, b = fd.ops.neg(x), fd.ops.exp(x)
    c = fd.ops.add(a, b)
    fd.add_output(c)
    fd.add_output(fd.ops.sin(c))
    first = x.cache_after(cached_uses=[a.definition()])
    x.cache_after(LoadStoreOpType.cp_async, CacheOp.all_levels, cached_uses=[b.definition()])
    last = first.cache_after(cache_op=CacheOp.streaming)
    first.set_memory_type(MemoryType.shared)
    first.promote_reuse()
    last.cache_after()
    fork = c.cache_fork()
    fork.cache_before()
    c.cache_before().set_memory_type(MemoryType.shared)


def twice_factored(fd: FusionDefinition) -> None:
    x = define_x(fd, (-1, -1, -1))
    fd.add_output(y := fd.ops.sum(x, [0, 2]))
    y.merge(0, 2)
    y.split(0, 32)
    y.split(0, 8)
    y.reorder({3: 0})
    partial = y.rfactor([2, 3])  # [i, r, r, r]
    partial.cache_before().set_memory_type(MemoryType.shared)
    y.split(0, 4)
    inner = y.definition().inputs()[0]
    assert inner is partial
    x.cache_after()


def factored_partial_results(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.sum(define_x(fd), [1]))
    y.split(1, 32)
    partial = y.rfactor([1])
    partial.split(1, 4)
    first = partial.rfactor([2])
    y.split(0, 2)
    first.split(0, 2)
    y.cache_before()


def factored_welford(fd: FusionDefinition) -> None:
    mean, squares, count = fd.ops.welford(define_x(fd), [1])
    fd.add_output(fd.ops.add(mean, squares))
    mean.split(1, 64)
    mean.split(1, 2)
    partial, _, _ = mean.rfactor([1, 3], [mean, squares, count])
    fd.sched.transform_like(partial)
    partial.axis(2).parallelize(ParallelType.unroll)
    fd.sched.inline_most()


def grouped(fd: FusionDefinition) -> None:
    x = define_x(fd)
    a, b, c = fd.ops.sum(x, [1]), fd.ops.max(x, [1]), fd.ops.sum(fd.ops.exp(x), [1])
    fd.add_output(fd.ops.add(fd.ops.add(a, b), c))
    for tensor in (a, c):
        tensor.split(1, 128)
        tensor.rfactor([1])
    fd.sched.group_reductions([a, c])
    for tensor in (a, c):
        tensor.axis(0).parallelize(ParallelType.grid_x)
        tensor.axis(1).parallelize(ParallelType.block_x)
    b.split(1, 16)


def grouped_after_inlining(fd: FusionDefinition) -> None:
    """Where operands are computed inside is the same in whatever order both are said."""
    x = define_x(fd)
    a, c = fd.ops.sum(fd.ops.neg(x), [0, 1]), fd.ops.sum(fd.ops.exp(x), [0, 1])
    fd.add_output(fd.ops.add(a, c))
    operand = a.definition().inputs()[0]
    operand.inline_at(1, True)
    fd.sched.group_reductions([a, c])


def serial_grid(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.sum(define_x(fd), [0]))
    y.split(0, 4, inner_split=False)
    y.rfactor([1])
    y.axis(0).parallelize(ParallelType.grid_y)
    y.definition().request_serial_grid_reduction()


def scanned_over_threads(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.neg(fd.ops.cumsum(x := fd.ops.exp(define_x(fd)), 1)))
    y.split(1, 3)
    y.split(1, 32)
    fd.sched.transform_like(y)
    y.axis(2).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(y)
    fd.sched.inline_most()
    x.axis(3).parallelize(ParallelType.unroll)


def paddings(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.sum(define_x(fd, (-1, 40, -1)), [1]))
    z = y.cache_before()
    for tensor, size in ((y, None), (z, 64)):
        tensor.axis(0).parallelize(ParallelType.grid_x)
        tensor.axis(0).set_clustered_blocks()
        tensor.axis(1).parallelize(ParallelType.block_x)
        tensor.axis(1).pad_to_multiple_of_warp(size)


def positions(fd: FusionDefinition) -> None:
    x = define_x(fd, (-1, 32))
    copy = fd.ops.set(x)
    total = fd.ops.max(copy, [1])
    y = fd.ops.sub(copy, fd.ops.broadcast(total, [False, True]))
    fd.add_output(y)
    fd.sched.inline_most()
    copy.compute_with(-1)


def bound_after_inlining(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.neg(z := fd.ops.exp(define_x(fd, (-1, 4)))))
    fd.sched.inline_most()
    for tensor in (y, z):
        tensor.axis(1).parallelize(ParallelType.unroll)


def loaded_ahead(fd: FusionDefinition) -> None:
    x = define_x(fd, (-1, 64))
    fd.add_output(y := fd.ops.neg(x))
    tile = x.cache_after()
    tile.set_memory_type(MemoryType.shared)
    y.axis(1).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(y)
    tile.inline_at(1)
    tile.circular_buffer(3, -1)


def loaded_by_others(fd: FusionDefinition) -> None:
    x = define_x(fd, (-1, 64))
    fd.add_output(y := fd.ops.neg(x))
    tile = x.cache_after(LoadStoreOpType.tma)
    tile.set_memory_type(MemoryType.shared)
    tile.axis(1).parallelize(ParallelType.tma)
    y.split(1, 32)
    y.axis(2).parallelize(ParallelType.block_x)
    tile.inline_at(1)
    fd.sched.warp_specialize(tile, 3, 2, ParallelType.block_y, (24, 40))


def handed_back(fd: FusionDefinition) -> None:
    x = define_x(fd, (-1, 64))
    fd.add_output(y := fd.ops.neg(x))
    tile = x.cache_after(LoadStoreOpType.tma)
    tile.set_memory_type(MemoryType.shared)
    tile.axis(1).parallelize(ParallelType.tma)
    y.axis(1).parallelize(ParallelType.block_x)
    tile.inline_at(1)
    tile.circular_buffer(3, 2, Pipelined(uses_mbarrier_for_war=True))


def resized(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.pad(z := fd.ops.neg(define_x(fd, (-1, 30))), [1, 1]))
    z.resize(1, 1, 1)
    z.split(1, 4)
    y.split(1, 4)
    fd.sched.inline_most()


def committed(fd: FusionDefinition) -> None:
    fd.add_output(y := fd.ops.neg(define_x(fd, (8, -1))))
    y.split(0, 4)
    y.reorder({1: 2})
    y.commit_leaf_to_logical()
    y.split(2, 2)


def swizzled_after_another(fd: FusionDefinition) -> None:
    """The swizzle is passed on to axes that `swizzle` itself refuses."""
    x = define_x(fd, (-1, 1))
    fd.add_output(y := fd.ops.neg(fd.ops.sum(z := fd.ops.add(x, define_x(fd)), [0, 1])))
    z.split(0, 4)
    z.split(2, 4)
    z.swizzle(1, 3)
    fd.sched.transform_like(z)
    z.axis(1).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(z)
    fd.sched.inline_most([z])
    assert y.ndims() == 0


def updated_in_place(fd: FusionDefinition) -> None:
    """Layouts of inputs, chosen when outputs follow them already."""
    set_layouts: list[Callable[[Any], None]] = [
        lambda x: x.set_contiguity(False),
        lambda x: x.set_allocation_domain(x.get_loop_domain(), False),
        lambda x: x.set_allocation_domain([x.axis(1), x.axis(0)], True),
    ]
    for set_layout in set_layouts:
        x = define_x(fd)
        fd.add_output(fd.ops.neg(x), x)
        set_layout(x)


def equal_sizes_in_shared_memory(fd: FusionDefinition) -> None:
    """The parts of a `cat` share their size's value, which the text computes for each."""
    x = define_x(fd, (-1,))
    head, tail = fd.ops.slice(x, [0], [1]), fd.ops.slice(x, [1], [x.size(0)])
    y = fd.ops.cat([tail, head])
    fd.add_output(y)
    padded = y.definition().inputs()
    for tensor in (head, tail, *padded, padded[0].cache_after()):
        tensor.set_memory_type(MemoryType.shared)


def kept_in_caches(fd: FusionDefinition) -> None:
    x = define_x(fd)
    fd.add_output(y := fd.ops.sum(x, [1]))
    x.cache_after().set_cache_hint(CacheHint.evict_first)
    y.cache_before()
    y.set_cache_hint(CacheHint.evict_last)


SCHEDULES = [
    split_merge_reorder,
    propagated,
    symbolic_factors,
    swizzled,
    swizzled_after_another,
    updated_in_place,
    equal_sizes_in_shared_memory,
    allocations,
    own_axes,
    memory_of_a_late_loop,
    caches,
    twice_factored,
    factored_partial_results,
    factored_welford,
    grouped,
    grouped_after_inlining,
    serial_grid,
    scanned_over_threads,
    paddings,
    positions,
    bound_after_inlining,
    loaded_ahead,
    loaded_by_others,
    handed_back,
    resized,
    committed,
    kept_in_caches,
]


def scheduled(schedule: Callable[[FusionDefinition], None]) -> FusionDefinition:
    with FusionDefinition() as fd:
        schedule(fd)
    return fd
