"""Asynchronous copies and which threads wait for them."""

from __future__ import annotations

import pytest
import torch
from circular_buffers import (
    CP_ASYNC,
    EXTENTS,
    MAIN,
    PROLOG,
    SET,
    STRUCTURES,
    exchange,
    is_load,
    loops,
    order,
    tiles,
)
from hard_case import (
    BX,
    SHARED,
    TX,
    TY,
    VECTORIZE,
    assert_same,
    check,
    count,
    cuda_text,
    lowered,
    numbers,
    par,
    statements,
)

from nvfuser_direct import (
    AsyncCommit,
    AsyncWait,
    BlockSync,
    CacheOp,
    DataType,
    FusionDefinition,
    KernelExecutor,
    LoadStoreOpType,
    MemoryType,
    UserError,
    _core,
)

pytestmark = pytest.mark.sanitize

PAST_L1 = CacheOp.Global


# -- which threads wait for which copies --


@pytest.mark.parametrize(
    ("stages", "prefetch", "expected"),
    [
        (2, 1, "w0blcr"),  # distance 1: the barrier is between the read of i - 1 and the load
        (3, 2, "w1blcr"),
        (4, 3, "w2blcr"),
        (3, 1, "lcw1br"),  # distance 2 and more: the barrier of the iteration before is
        (4, 2, "lcw2br"),
        (2, 0, "lcw0br"),
        (4, 0, "lcw0br"),
    ],
)
def test_waits_and_barriers(stages, prefetch, expected):
    """One commit, one wait and then one barrier in each iteration."""
    fd, a = exchange(stages, prefetch, CP_ASYNC)
    kernel = lowered(fd.fusion)
    (main,) = loops(kernel, MAIN)
    assert order(main, a) == expected
    assert all(order(loop, a) == "lc" for loop in loops(kernel, PROLOG))
    # No copy is under way after the loop.
    body = kernel.body() if callable(kernel.body) else kernel.body
    after = [s for s in body if isinstance(s, AsyncWait)]
    assert [s.keep_stages for s in after] == ([0] if prefetch else [])
    # Copies that the thread itself waits for need the barrier only.
    fd, a = exchange(stages, prefetch, SET)
    (main,) = loops(lowered(fd.fusion), MAIN)
    assert order(main, a) == "".join(c for c in expected if c in "lbr")


def test_commits_are_unconditional():
    """Groups are counted, so an iteration without loads commits one as well."""
    fd, _ = tiles(3, -1, CP_ASYNC, 4)
    source = cuda_text(fd.fusion)
    lines = [line.strip() for line in source.splitlines()]
    assert lines.count("cp_async_commit();") == 2
    depth = {"cp_async_commit();": [], "cp_async_wait<1>();": []}
    for line in source.splitlines():
        if line.strip() in depth:
            depth[line.strip()].append(len(line) - len(line.lstrip()))
    assert set(depth["cp_async_commit();"]) == set(depth["cp_async_wait<1>();"])


def test_threads_that_read_their_own():
    """No thread reads another thread's copies, so there is no barrier to wait at."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        for tensor in (a, t):
            par(tensor, None, TX)
        a.inline_at(1)
        a.circular_buffer(2)
    kernel = lowered(fd.fusion)
    (main,) = loops(kernel, MAIN)
    assert order(main, a) == "w0lcr"
    assert count(kernel, BlockSync) == 0


def test_reuse_in_an_outer_loop(target):
    """The next outer iteration's first loads wait for this one's last reads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, 64], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        par(a, None, None, TX)
        t.split(2, 16)
        par(t, None, None, None, TX)
        a.inline_at(2)
        a.circular_buffer(3)
    kernel = lowered(fd.fusion)
    (main,) = loops(kernel, MAIN)
    assert count(main, BlockSync) == 1
    assert sum(isinstance(s, BlockSync) and s.war_sync for s in statements(kernel)) == 1
    sizes = [(m, n, 64) for m in (0, 1, 3) for n in (0, 1, 2, 3, 7)]
    check(fd, target, [(s,) for s in sizes], lambda x: -x)


def test_other_shared_tensors_in_the_loop(target):
    """They keep the barriers that they need."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        u = fd.ops.neg(x)
        t = fd.ops.relu(u)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        for tensor in (a, u):
            tensor.set_memory_type(SHARED)
        for tensor, split in ((a, 4), (u, 8), (t, 16)):
            tensor.split(1, split)
            par(tensor, None, None, TX)
            tensor.axis(1).parallelize(TY)
        for tensor in (u, a):
            tensor.inline_at(1)
        a.circular_buffer(3)
    check(fd, target, [((m, 32),) for m in EXTENTS], lambda x: torch.relu(-x))


# -- copies that fill --


def test_holes_are_filled():
    """Zeros for holes, from an address that is legal."""
    fd, a = tiles(2, -1, CP_ASYNC, 4)
    kernel = lowered(fd.fusion)
    loads = [s for s in statements(kernel) if is_load(s, a)]
    assert loads
    assert all(load.predicate() is not None for load in loads)
    source = cuda_text(fd.fusion)
    lines = [line for line in source.splitlines() if "cp_async_ca<16>(&" in line]
    assert len(lines) == 2
    assert all(", T0.data, " in line for line in lines)


def test_idle_threads_do_not_fill(target):
    """A thread beyond the buffer would write zeros into its neighbour's elements."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 24], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        par(a, None, TX)  # 24 of 32 threads
        t.split(1, 32)
        par(t, None, None, TX)
        a.inline_at(1)
        a.circular_buffer(2)
    source = cuda_text(fd.fusion)
    assert "if (thread_x < 24) {" in source
    check(fd, target, [((m, 24),) for m in EXTENTS], lambda x: -x)


def test_explicit_allocation(target):
    """A hole of the split has the place of an element of another thread."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 6, 8], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        a.set_allocation_domain([a.axis(0), a.axis(2), a.axis(1)], True)
        for tensor in (a, t):
            tensor.split(1, 4)
        par(a, None, None, TX, TY)
        par(t, None, None, TY, TX)
        a.inline_at(1)
        a.circular_buffer(3)
    kernel = lowered(fd.fusion)
    assert all(s.predicate() is None for s in statements(kernel) if is_load(s, a))
    check(fd, target, [((m, 6, 8),) for m in EXTENTS], lambda x: -x)


@pytest.mark.parametrize("vector", [1, 2, 4])
def test_without_circular_buffer(target, vector):
    """Committed, waited for, and then the barrier."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        a.split(1, vector)
        par(a, BX, TX, VECTORIZE)
        t.split(1, 16)
        par(t, BX, None, TX)
        a.inline_at(1)
    kernel = lowered(fd.fusion)
    text = order(kernel, a)
    assert text == "lcw0br"
    assert f"cp_async_ca<{4 * vector}>(&" in cuda_text(fd.fusion)
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: -x)


def test_barrier_for_another_tensor(target):
    """Copies under way when a barrier comes are waited for before it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.define_tensor([-1, 64], contiguity=True)
        a, b = fd.ops.set(x), fd.ops.set(y)
        u = fd.ops.neg(b)
        t = fd.ops.add(u, a)
        fd.add_output(t)
        c = x.cache_after(CP_ASYNC)
        for tensor in (c, b):
            tensor.set_memory_type(SHARED)
        for tensor in (c, b):
            par(tensor, BX, TX)
        for tensor in (a, u, t):
            tensor.split(1, 16)
            par(tensor, BX, None, TX)
        for tensor in (c, b):
            tensor.inline_at(1)
        for tensor in (a, u):
            tensor.inline_at(3)
    text = order(lowered(fd.fusion), c)
    assert text.index("w0") < text.index("b") < text.index("r")
    check(fd, target, [((m, 64), (m, 64)) for m in (1, 3, 33)], lambda x, y: x - y)


def test_plain_copies_on_the_cpu():
    """Nothing to wait for; stages and predicates stay."""
    fd, _ = tiles(3, -1, CP_ASYNC, 4)
    kernel = lowered(fd.fusion, "cpu")
    assert count(kernel, AsyncWait) == count(kernel, AsyncCommit) == 0
    assert len(loops(kernel, PROLOG)) == len(loops(kernel, MAIN)) == 1
    assert "% 3" in fd.fusion.print_kernel(target="cpu")


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
@pytest.mark.parametrize(
    ("dtype", "vector", "memory", "cache_op", "headline"),
    [
        (DataType.Half, 1, SHARED, CacheOp.unspecified, "cp.async copies 4, 8 or 16 bytes"),
        (DataType.Float, 1, None, CacheOp.unspecified, "from global to shared memory"),
        (DataType.Float, 2, SHARED, PAST_L1, "cp.async.cg copies 16 bytes"),
    ],
)
def test_what_cp_async_cannot_copy(kind, dtype, vector, memory, cache_op, headline):
    """Refused alike on both targets."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True, dtype=dtype)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC, cache_op)
        if memory is not None:
            a.set_memory_type(memory)
        a.split(1, vector)
        par(a, None, None, VECTORIZE)
        a.inline_at(1)
    with pytest.raises(RuntimeError, match=headline):
        lowered(fd.fusion, kind)


def test_producer_of_cp_async_is_global():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(fd.ops.relu(y))
        y.cache_after(CP_ASYNC).set_memory_type(SHARED)
    with pytest.raises(RuntimeError, match="from global to shared memory"):
        lowered(fd.fusion)


@pytest.mark.parametrize(
    ("op", "cache_op", "headline"),
    [
        (CP_ASYNC, CacheOp.streaming, "cp.async only takes .ca or .cg. as cache operator"),
        (
            LoadStoreOpType.load_matrix,
            CacheOp.all_levels,
            "Only Set and CpAsync take a cache operator.",
        ),
    ],
)
def test_cache_operators(op, cache_op, headline):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        fd.add_output(fd.ops.neg(x))
        with pytest.raises(RuntimeError, match=headline):
            x.cache_after(op, cache_op)


@pytest.mark.parametrize("cache", ["all_levels", "global"])
def test_cache_operators_in_source(target, cache):
    """.ca goes through all caches, .cg past the first."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 66], contiguity=False, dtype=DataType.Double)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC, getattr(CacheOp, cache))
        a.set_memory_type(SHARED)
        x.set_contiguity([False, True])
        for tensor in (a, t):
            tensor.split(1, 2)
        a.axis(2).parallelize(VECTORIZE)
        par(a, None, TX)
        par(t, None, None, TX)
        a.inline_at(1)
        a.circular_buffer(3)
    function = "cp_async_ca<16>" if cache == "all_levels" else "cp_async_cg<16>"
    assert function in cuda_text(fd.fusion)
    check(fd, target, [((m, 66),) for m in (1, 3, 33)], lambda x: -x, dtype=torch.float64)


# -- races --


def checked(function):
    """`function` with the checks of kernel_debug in kernels for the CPU."""
    return _core.call_with_options(function, ["kernel_debug"], [])


@pytest.mark.parametrize(("stages", "prefetch"), STRUCTURES)
@pytest.mark.parametrize("op", [SET, CP_ASYNC])
def test_no_races(stages, prefetch, op):
    """With threads in reverse and every access checked."""

    def run():
        fd, _ = exchange(stages, prefetch, op)
        check(fd, "cpu", [((m, 64),) for m in EXTENTS], lambda x: -x)
        fd, _ = tiles(stages, prefetch, op)
        check(fd, "cpu", [((3, n),) for n in (31, 64, 1000)], lambda x: x.sum(1))

    checked(run)


def test_every_structure_compiles_for_cuda():
    """Also where there is no GPU."""
    for stages, prefetch in STRUCTURES:
        for op, vector in ((SET, 1), (CP_ASYNC, 1), (CP_ASYNC, 4)):
            cuda_text(exchange(stages, prefetch, op, vector)[0].fusion)
            cuda_text(tiles(stages, prefetch, op, vector)[0].fusion)


def test_same_inputs_same_bits(target):
    """A missing wait shows as a result that changes."""
    fd, _ = tiles(3, -1, CP_ASYNC, 4)
    executor = KernelExecutor()
    x = numbers(64, 4096, device=target)
    executor.compile(fd.fusion, [x])
    for _ in range(20):
        assert_same(executor.run([x]), [x.double().sum(1)])


@pytest.mark.parametrize("op", [LoadStoreOpType.cp_async, LoadStoreOpType.set])
def test_the_way_out_for_a_copy_that_other_blocks_read_is_one_that_it_has(
    op: LoadStoreOpType,
) -> None:
    """There is no cp.async into global memory, where an error told users to put the copy."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        padded = fd.ops.pad(x, [4, 4])
        fd.add_output(padded)
        copy = x.cache_after(op)
        copy.set_memory_type(SHARED)
        par(copy, BX)
        par(padded, BX)
    with pytest.raises(
        UserError, match="read by other blocks than those that computed it"
    ) as error:
        fd.fusion.lower()
    if op is LoadStoreOpType.set:
        assert "fix:      set_memory_type(MemoryType.Global) on the producer" in str(error.value)
        copy.set_memory_type(MemoryType.Global)
        fd.fusion.lower()
    else:
        assert "or copy with LoadStoreOpType.set and set_memory_type" in str(error.value)
