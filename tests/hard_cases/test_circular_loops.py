"""Circular buffers: loads that run ahead of a loop."""

from __future__ import annotations

import re

import pytest
from circular_buffers import (
    CP_ASYNC,
    EPILOG,
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
    PAIRS,
    SHARED,
    SIZES,
    TX,
    UNROLL,
    UNSWITCH,
    VECTORIZE,
    check,
    count,
    cuda_text,
    like,
    lowered,
    par,
    statements,
)

from nvfuser_direct import (
    Allocate,
    AsyncCommit,
    AsyncWait,
    BlockSync,
    FusionDefinition,
    LoadStoreOpType,
    ParallelType,
    Pipelined,
    WarpSpecialized,
    _core,
)

pytestmark = pytest.mark.sanitize


# -- which iterations are loaded where --


@pytest.mark.parametrize(("stages", "prefetch"), STRUCTURES)
@pytest.mark.parametrize("op", [SET, CP_ASYNC])
def test_loads_run_ahead(target, stages, prefetch, op):
    """First loads, then iterations that load ahead of themselves."""
    fd, a = exchange(stages, prefetch, op)
    ahead = prefetch if prefetch >= 0 else stages + prefetch
    kernel = lowered(fd.fusion)
    assert len(loops(kernel, MAIN)) == 1
    assert not loops(kernel, EPILOG)  # from global memory: loads beyond the end are predicated
    for loop in loops(kernel, PROLOG):
        assert loop.stop.value() == ahead
    assert sum(is_load(s, a) for s in statements(kernel)) == (1 if ahead == 0 else 2)
    check(fd, target, [((m, 64),) for m in EXTENTS], lambda x: -x)


@pytest.mark.parametrize(("stages", "prefetch"), STRUCTURES)
@pytest.mark.parametrize("rows", [2, 3, 7])
def test_constant_extents(target, stages, prefetch, rows):
    """No more is loaded first than there is."""
    fd, _ = exchange(stages, prefetch, CP_ASYNC, 4, rows)
    kernel = lowered(fd.fusion)
    ahead = prefetch if prefetch >= 0 else stages + prefetch
    for loop in loops(kernel, PROLOG):
        assert loop.stop.value() == min(ahead, rows)
    check(fd, target, [((rows, 64),)], lambda x: -x)


@pytest.mark.parametrize("op", [SET, CP_ASYNC])
def test_loop_that_runs_once(target, op):
    """Nothing to load ahead of, and no stages."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(op)
        a.set_memory_type(SHARED)
        for tensor in (a, t):
            tensor.split(0, 4)
        par(a, None, TX)
        par(t, None, None, TX)
        a.inline_at(1)
        a.circular_buffer(3)
    kernel = lowered(fd.fusion)
    assert not loops(kernel, MAIN)
    (storage,) = (s for s in statements(kernel) if isinstance(s, Allocate))
    assert storage.size.value() == 32
    check(fd, target, [((4, 8),)], lambda x: -x)


@pytest.mark.parametrize(("stages", "prefetch"), [(2, -1), (3, -1), (4, 2), (3, 0)])
@pytest.mark.parametrize(("op", "vector"), [(SET, 1), (SET, 4), (CP_ASYNC, 1), (CP_ASYNC, 4)])
def test_tiles_that_do_not_divide(target, stages, prefetch, op, vector):
    """A tile at the end has holes, and iterations beyond it are nothing but holes."""
    fd, _ = tiles(stages, prefetch, op, vector)
    widths = (1, 31, 32, 33, 64, 65, 97, 128, 129, 1000, 1025)
    sizes = [(m, n * vector) for m in (1, 3) for n in widths]
    check(fd, target, [(s,) for s in sizes], lambda x: x.sum(1))


def test_flat_loop(target):
    """The buffered loop is the outer part of a split that may not divide."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        t.split(0, 32)
        like(t)
        par(t, None, TX)
        fd.sched.parallelize_like(t)
        a.inline_at(1)
        a.circular_buffer(3)
    cuda_text(fd.fusion)
    check(fd, target, [((n,),) for n in (0, *SIZES)], lambda x: -x)


def test_inner_part_of_a_split(target):
    """Loading ahead must not run into the next outer iteration's elements."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 16], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after()
        a.set_memory_type(SHARED)
        t.split(0, 4)
        a.split(0, 4)
        par(t, BX, None, TX)
        par(a, BX, None)
        a.inline_at(2)
        a.circular_buffer(3)
    check(fd, target, [((m, 16),) for m in SIZES], lambda x: -x)


# -- which loop --


def test_innermost_serial_axis(target):
    """Threads and blocks right of the buffered axis are passed over."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, 32, 4], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after()
        a.set_memory_type(SHARED)
        for tensor in (a, t):
            par(tensor, BX, None, TX)
        a.inline_at(3)
        a.circular_buffer(2)
    (main,) = loops(lowered(fd.fusion), MAIN)
    assert "iS" in str(main.iter_domain)
    check(fd, target, [((m, n, 32, 4),) for m, n in PAIRS], lambda x: -x)


def copied(position=1, shape=(-1, 8)):
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(shape), contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after()
        if position:
            a.inline_at(position)
    return fd, x, a, t


def test_no_serial_axis():
    """The error says which axes were considered."""
    fd, _, a, t = copied()
    with fd:
        par(a, BX)
        par(t, BX)
        with pytest.raises(RuntimeError, match="needs a serial axis") as error:
            a.circular_buffer(2)
    assert "iblockIdx.x" in str(error.value)
    assert a.circular_buffer_options() is None


def test_not_inlined():
    fd, _, a, _ = copied(position=0)
    with fd, pytest.raises(RuntimeError, match="needs a serial axis"):
        a.circular_buffer(2)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_axis_bound_afterwards(kind):
    """Lowering asks again."""
    fd, _, a, t = copied()
    with fd:
        a.circular_buffer(2)
        par(a, TX)
        par(t, TX)
    with pytest.raises(RuntimeError, match="needs a serial axis"):
        lowered(fd.fusion, kind)


def test_only_copies():
    """Neither an operation nor an input."""
    fd, x, _, t = copied()
    with fd:
        for tensor in (x, t):
            with pytest.raises(RuntimeError, match="Only a copy can be circular buffered"):
                tensor.circular_buffer(2)


def test_producer_inside_the_loop():
    """A tensor that is loaded ahead must be there already."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        y = fd.ops.neg(x)
        t = fd.ops.relu(y)
        fd.add_output(t)
        a = y.cache_after()
        a.inline_at(1)
        y.inline_at(1)
        with pytest.raises(RuntimeError, match="computed inside of its loop") as error:
            a.circular_buffer(2)
    assert "produce position 1" in str(error.value)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
@pytest.mark.parametrize("is_computed_with", [False, True])
def test_producer_found_inside_the_loop_by_lowering(kind, is_computed_with):
    """Computed with the copy, or beside what `shared` is inlined into."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        shared = fd.ops.neg(x)
        made = fd.ops.relu(shared)
        copy = fd.ops.set(made)
        fd.add_output(fd.ops.neg(copy) if is_computed_with else fd.ops.add(copy, shared))
        for tensor in (shared, made, copy):
            tensor.set_memory_type(SHARED)
        copy.inline_at(1)
        if is_computed_with:
            made.compute_with(1)
        else:
            shared.inline_at(1)
        copy.circular_buffer(3, 1)
    with pytest.raises(RuntimeError, match="is computed inside of its loop"):
        fd.fusion.lower(target=kind)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_one_loop_has_one_structure(kind):
    """Tensors of one loop share prologue, main loop, epilogue and stages."""

    def build(stages):
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, 8], contiguity=True)
            y = fd.define_tensor([-1, 8], contiguity=True)
            t = fd.ops.add(x, y)
            fd.add_output(t)
            for tensor, n in zip((x, y), stages, strict=True):
                a = tensor.cache_after()
                a.set_memory_type(SHARED)
                a.inline_at(1)
                a.circular_buffer(n)
        return fd

    with pytest.raises(RuntimeError, match="Circular buffers of one loop differ"):
        lowered(build((2, 3)).fusion, kind)
    kernel = lowered(build((3, 3)).fusion, kind)
    assert len(loops(kernel, PROLOG)) == len(loops(kernel, MAIN)) == 1


def test_two_buffers_of_one_loop(target):
    """One wait and one barrier for both, also if only one is asynchronous."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        y = fd.define_tensor([-1, 32], contiguity=True)
        t = fd.ops.add(x, y)
        fd.add_output(t)
        t.split(1, 8)
        par(t, None, None, TX)
        for tensor, op in ((x, CP_ASYNC), (y, SET)):
            a = tensor.cache_after(op)
            a.set_memory_type(SHARED)
            a.split(1, 16)
            par(a, None, None, TX)
            a.inline_at(1)
            a.circular_buffer(3)
    kernel = lowered(fd.fusion)
    (main,) = loops(kernel, MAIN)
    assert count(main, BlockSync) == count(main, AsyncWait) == count(main, AsyncCommit) == 1
    check(fd, target, [((m, 32), (m, 32)) for m in EXTENTS], lambda x, y: x + y)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_loop_in_between(kind):
    """An unrolled loop between the buffered one and the load would share its stages."""
    fd, _, a, t = copied(position=2, shape=(-1, 4, 8))
    with fd:
        a.circular_buffer(2)
    lowered(fd.fusion, kind)
    with fd:
        t.axis(1).parallelize(UNROLL)
    with pytest.raises(RuntimeError, match="A loop stands between"):
        lowered(fd.fusion, kind)


@pytest.mark.parametrize(
    ("stages", "prefetch", "headline"),
    [
        (1, -1, "Unsupported stage number"),
        (0, 0, "Unsupported stage number"),
        (2, 2, "Invalid prefetch distance"),
        (2, -3, "Invalid prefetch distance"),
    ],
)
def test_invalid_structure(stages, prefetch, headline):
    """Loads must not overwrite elements that are still read."""
    fd, _, a, _ = copied()
    with fd, pytest.raises(RuntimeError, match=headline):
        a.circular_buffer(stages, prefetch)


def test_not_computed_with_one_consumer():
    """Stages are shared by all consumers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        a = fd.ops.set(x)
        fd.add_output(fd.ops.neg(a))
        fd.add_output(fd.ops.relu(a))
        a.inline_at(1)
        a.compute_with(-1)
        with pytest.raises(RuntimeError, match="computed with its first consumer only"):
            a.circular_buffer(2)


def test_options_belong_to_the_tensor():
    """They are asked for, compared and copied with it."""
    fd, _, a, _ = copied()
    plain = fd.fusion.clone()
    with fd:
        a.circular_buffer(4, -2)
    options = a.circular_buffer_options()
    assert (options.stages, options.prefetch, options.type) == (4, 2, Pipelined())
    assert fd.fusion != plain
    clone = fd.fusion.clone()
    assert clone == fd.fusion
    assert clone.hash() == fd.fusion.hash() != plain.hash()
    (copy,) = (t for t in clone.tensors() if t.name() == a.name())
    assert copy.circular_buffer_options() == options
    assert "circular_buffer(4, 2)" in [text for text, _ in a.schedule_steps()]


# -- producers that are not global, registers --


@pytest.mark.parametrize(("stages", "prefetch"), [(2, -1), (3, 1), (4, -1)])
def test_registers_loaded_ahead(target, stages, prefetch):
    """Stages in registers; no barriers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32, 4], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after()
        for tensor in (a, t):
            par(tensor, None, TX)
        a.axis(2).parallelize(VECTORIZE)
        a.inline_at(2)
        a.circular_buffer(stages, prefetch)
    kernel = lowered(fd.fusion)
    assert count(kernel, BlockSync) == 0
    (storage,) = (s for s in statements(kernel) if isinstance(s, Allocate))
    assert storage.size.value() == 4 * stages
    cuda_text(fd.fusion)
    check(fd, target, [((m, 32, 4),) for m in EXTENTS], lambda x: -x)


@pytest.mark.parametrize(("stages", "prefetch"), [(2, -1), (3, 1), (4, -1), (3, 0)])
def test_shared_producer(target, stages, prefetch):
    """The last iterations are a loop without loads, whose reads would overrun."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after()
        a.set_memory_type(SHARED)
        b = a.cache_after()
        par(a, None, TX)
        for tensor in (b, t):
            tensor.split(1, 4)
            par(tensor, None, TX)
        b.inline_at(2)
        b.circular_buffer(stages, prefetch)
    kernel = lowered(fd.fusion)
    assert len(loops(kernel, EPILOG)) == (0 if prefetch == 0 else 1)
    assert all("l" not in order(loop, b) for loop in loops(kernel, EPILOG))
    check(fd, target, [((m, 32),) for m in EXTENTS], lambda x: -x)


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_producer_in_registers(target, rows):
    """First loads beyond the end of an array of registers would read what is not there."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([rows, 4], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after()
        b = a.cache_after()
        b.inline_at(1)
        b.circular_buffer(4)
    check(fd, target, [((rows, 4),)], lambda x: -x)


def test_nested_circular_loops(target):
    """Tiles ahead into shared memory, and rows of a tile ahead into registers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, 32], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        b = a.cache_after()
        for tensor in (a, b, t):
            tensor.split(1, 4)
        par(a, BX, None, None, TX)
        for tensor in (b, t):
            tensor.split(3, 2)
            par(tensor, BX, None, None, TX)
        a.inline_at(2)
        b.inline_at(4)
        a.circular_buffer(3)
        b.circular_buffer(2)
    kernel = lowered(fd.fusion)
    assert len(loops(kernel, MAIN)) == 2
    assert len(loops(kernel, EPILOG)) == 1
    cuda_text(fd.fusion)
    sizes = [(m, n, 32) for m in (1, 3) for n in (0, 1, 3, 4, 5, 13, 33)]
    check(fd, target, [(s,) for s in sizes], lambda x: -x)


# -- stages --


def test_storage_has_stages():
    """As many times the size, outside of the loop; the stage is the outermost dimension."""
    fd, a = exchange(3, -1)
    kernel = lowered(fd.fusion)
    body = kernel.body
    (storage,) = (s for s in (body() if callable(body) else body) if isinstance(s, Allocate))
    assert storage.size.value() == 3 * 64
    source = cuda_text(fd.fusion)
    name = f"T{a.name()}_s"
    assert re.search(rf"{name}\[.*\(i\d+ \+ 2\) % 3 \* 64.*\] = ", source)
    assert re.search(rf"= -{name}\[.* i\d+ % 3 \* 64.*\];", source)


def test_text_names_the_parts():
    """Kernel IR and source say which part of which loop they show."""
    fd, _ = exchange(3, -1)
    text = lowered(fd.fusion).print_kernel_ir()
    assert " Prolog of 3 stages to 2:\n" in text
    assert " Main of 3 stages to i0:\n" in text
    assert ", Main of 3 stages\n" in fd.fusion.print_kernel()


# -- loads under conditions, and reductions --


@pytest.mark.parametrize("memory", [None, SHARED])
def test_unswitched(target, memory):
    """The test before an unswitched loop holds for the loads that run ahead as well."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after()
        if memory is not None:
            a.set_memory_type(memory)
        t.split(0, 8)
        t.split(0, 4)
        t.split(0, 1)
        like(t)
        for tensor in (a, t):
            par(tensor, None, UNSWITCH, None, TX)
        a.inline_at(3)
        a.circular_buffer(3)
    cuda_text(fd.fusion)
    check(fd, target, [((n,),) for n in (0, *SIZES)], lambda x: -x)


def test_block_reduction_inside(target):
    """A block reduction in every iteration."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        b = fd.ops.broadcast(s, [False, True])
        t = fd.ops.add(x, b)
        fd.add_output(t)
        a = x.cache_after(CP_ASYNC)
        a.set_memory_type(SHARED)
        par(a, None, TX)
        par(t, None, TX)
        par(s, None, TX)
        par(b, None, TX)
        for tensor in (s, b, a):
            tensor.inline_at(1)
        a.circular_buffer(2)
    cuda_text(fd.fusion)
    sizes = [(m, n) for m in (0, 1, 2, 5) for n in (1, 33, 128)]
    check(fd, target, [(s,) for s in sizes], lambda x: x + x.sum(1, keepdim=True))


@pytest.mark.parametrize("kind", [WarpSpecialized(TX), Pipelined(uses_mbarrier_for_war=True), None])
def test_holes_of_a_stage_are_not_looked_for_in_the_next_one(target, kind):
    """Threads beyond the end of a row would read what is being loaded, and leave the last stage."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 72], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        row = x.cache_after(LoadStoreOpType.tma)
        row.set_memory_type(SHARED)
        copy = y.cache_before()
        for tensor in (y, copy):
            tensor.split(1, 2)
            tensor.split(1, 64)
            tensor.split(0, 4, inner_split=False)
            par(tensor, BX, None, None, TX)
        y.axis(4).parallelize(ParallelType.vectorize)
        row.split(1, 32)
        row.split(0, 4, inner_split=False)
        par(row, BX)
        row.axis(3).parallelize(ParallelType.tma)
        fd.sched.inline_at(y, 2, selected_tensors=[row])
        copy.inline_at(4)
        row.circular_buffer(4, 3, *([kind] if kind is not None else []))
    shapes = [((rows, 72),) for rows in (1, 10, 40)]
    _core.call_with_options(lambda: check(fd, target, shapes, lambda x: -x), ["kernel_debug"], [])
