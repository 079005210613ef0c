"""Scans over the threads of a block.

The scanned axis is split into [rounds, threads, items]: one thread dimension, a chunk of
neighbouring items for each thread, and a serial loop that carries the total from round to round.
Refusals are in test_scans.py.
"""

from __future__ import annotations

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
    TZ,
    UNROLL,
    UNSWITCH,
    Compiled,
    assert_same,
    check,
    count,
    cuda_text,
    like,
    lowered,
    numbers,
    par,
)

from nvfuser_direct import (
    BinaryOpType,
    BlockScan,
    BlockSync,
    DataType,
    FusionDefinition,
    UserError,
    _core,
)

pytestmark = pytest.mark.sanitize

ROWS = [[(1, n)] for n in SIZES] + [[pair] for pair in PAIRS] + [[(0, 5)], [(3, 0)]]


def rows(op="cumsum", dtype=DataType.Float):
    """y = neg(op(x + x, 1)) of a matrix: the definition, the scan, and the output."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        doubled = fd.ops.add(x, x)
        s = getattr(fd.ops, op)(doubled, 1)
        y = fd.ops.neg(s)
        fd.add_output(y)
    return fd, s, y


def spread(fd, y, threads, items, kind=TX, item_kind=None):
    """[rows, n] -> [rows, rounds, threads, items], everything inlined."""
    with fd:
        y.split(1, items)
        y.split(1, threads)
        par(y, BX, None, kind, item_kind)
        like(y)
        fd.sched.inline_most()


def shared_bytes(kernel):
    """Shared memory of a kernel whose sizes are known."""
    return kernel.shared_bytes().value()


def check_all(fd, target, shapes, reference, **options):
    """Compiles for CUDA; right on the target; on the CPU also with the check for races."""
    cuda_text(fd.fusion)
    check(fd, target, shapes, reference, **options)
    if target == "cpu":
        _core.call_with_options(
            lambda: check(fd, target, shapes, reference, **options), ["kernel_debug"], []
        )


# -- shapes of blocks --


@pytest.mark.parametrize("items", [1, 2, 3])
@pytest.mark.parametrize("threads", [1, 7, 32, 50, 64, 128])
@pytest.mark.parametrize("kind", [TX, TY, TZ])
def test_rounds_threads_and_items(target, kind, threads, items):
    """Warps and segments of any size; holes at the end of the last round do not count."""
    fd, _, y = rows()
    spread(fd, y, min(threads, 64) if kind is TZ else threads, items, kind)
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


def test_one_block_holds_the_axis(target):
    """Cumsum(x{50}, 0) over 64 threads with 2 items each."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([50], contiguity=True)
        s = fd.ops.cumsum(x, 0)
        fd.add_output(s)
        s.split(0, 2)
        s.split(0, 64)
        par(s, None, TX)
    kernel = lowered(fd.fusion)
    assert count(kernel, BlockScan) == 1
    check_all(fd, target, [[(50,)]], lambda x: x.cumsum(0))


def test_as_many_threads_as_the_axis_has_chunks(target):
    """The launch follows the size: no rounds."""
    fd, _, y = rows()
    with fd:
        y.split(1, 4)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_most()
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


@pytest.mark.parametrize("kinds", [(TY, TX), (TX, TY), (TZ, TX), (TX, TZ), (TZ, TY)])
@pytest.mark.parametrize("threads", [5, 32])
def test_rows_on_other_threads(target, kinds, threads):
    """Segments side by side, each with a scan of its own."""
    fd, _, y = rows()
    with fd:
        y.split(1, 2)
        y.split(1, threads)
        y.split(0, 4)
        par(y, BX, kinds[0], None, kinds[1])
        like(y)
        fd.sched.inline_most()
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


def test_more_threads_than_the_scan_has(target):
    """Threads that another tensor launched come along and have nothing."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(x, 0)
        fd.add_output(s)
        s.split(0, 24)
        par(s, None, TX)
        y = fd.ops.neg(z)
        fd.add_output(y)
        y.split(1, 96)
        y.split(0, 2)
        par(y, None, TY, None, TX)
    check_all(fd, target, [[(n,), (5, 7)] for n in SIZES], lambda x, z: [x.cumsum(0), -z])


@pytest.mark.parametrize("kind", [UNROLL, UNSWITCH])
def test_unrolled_items(target, kind):
    """The chunk of a thread as an unrolled loop."""
    fd, _, y = rows()
    spread(fd, y, 32, 4, item_kind=kind)
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


@pytest.mark.parametrize("kind", [UNROLL, UNSWITCH])
def test_unrolled_rounds(target, kind):
    """No condition is hoisted around what every thread calls."""
    fd, _, y = rows()
    with fd:
        y.split(1, 16)
        y.split(1, 3)
        par(y, BX, None, kind, TX)
        like(y)
        fd.sched.inline_most()
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


def test_holes_between_the_parts_of_a_split(target):
    """Items of 4 split by 3, and threads of 8 split by 3: positions that do not count."""
    fd, _, y = rows()
    with fd:
        y.split(1, 4)
        y.split(2, 3)
        y.split(1, 8)
        y.split(2, 3)
        par(y, BX, None, None, TX)
        like(y)
        fd.sched.inline_most()
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


def test_where_the_thread_index_stands_does_not_matter(target):
    """Threads left of the rounds are the same loop."""
    fd, _, y = rows()
    with fd:
        y.split(1, 3)
        y.split(1, 32)
        y.reorder({2: 0})
        par(y, TX, BX)
        like(y)
        fd.sched.inline_most()
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


@pytest.mark.parametrize("position", [1, 2, 3, 4])
def test_other_axes_inside(target, position):
    """[rows, rounds, threads, items, 3] with the 3 anywhere: as many scans as that has."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1, 3], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        y = fd.ops.mul(s, 3)
        fd.add_output(y)
        y.split(1, 2)
        y.split(1, 16)
        y.reorder({4: position})
        types = [BX, None, None, None]
        types.insert(position, None)
        types[2 if position > 2 else 3] = TX
        par(y, *types)
        like(y)
        fd.sched.inline_most()
    shapes = [[(m, n, 3)] for m, n in PAIRS]
    check_all(fd, target, shapes, lambda x: x.cumsum(1) * 3)


def test_an_outer_dimension(target):
    """Columns in x, neighbours in memory; the scan runs over y."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(fd.ops.cumsum(x, 0))
        fd.add_output(y)
        y.split(1, 16)
        y.split(0, 8)
        y.reorder({0: 1, 1: 2, 2: 0})
        par(y, BX, None, TY, TX)
        like(y)
        fd.sched.inline_most()
    check_all(fd, target, [[pair] for pair in PAIRS], lambda x: -x.cumsum(0))


def test_more_chunks_than_a_block_has_threads(target):
    """Without rounds, the launch refuses what the block cannot hold."""
    fd, _, y = rows()
    with fd:
        y.split(1, 2)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    x = numbers(2, 2048, device=target)
    assert_same(compiled(x), [-(2 * x).cumsum(1)])
    with pytest.raises(UserError, match="threads"):
        compiled(numbers(2, 2049, device=target))


# -- operations, types, initial values --

OPERATIONS = {
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(1),
    "cummax": lambda x: x.cummax(1).values,
    "cummin": lambda x: x.cummin(1).values,
}
DTYPES = {
    torch.float32: DataType.Float,
    torch.float64: DataType.Double,
    torch.float16: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
    torch.int64: DataType.Int,
    torch.int32: DataType.Int32,
    torch.complex64: DataType.ComplexFloat,
    torch.complex128: DataType.ComplexDouble,
}


@pytest.mark.parametrize("threads", [32, 24, 96])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", OPERATIONS)
def test_operations_and_types(target, op, dtype, threads):
    """Holes hold the identity of each operation and type."""
    if dtype.is_complex and op in ("cummax", "cummin"):
        pytest.skip("complex numbers have no order")
    fd, _, y = rows(op, DTYPES[dtype])
    spread(fd, y, threads, 3)
    cuda_text(fd.fusion)
    compiled = Compiled(fd)
    for n in (1, 2, 31, 33, 250):
        # Sums are exact in 16 bits, products are 1 and -1 (of integers: powers of two).
        values = torch.randint(0, 2, (2, n), generator=torch.Generator().manual_seed(n)) * 2 - 1
        is_integer = not (dtype.is_floating_point or dtype.is_complex)
        if op == "cumprod" and is_integer:
            values = values[:, :30]
        x = (values if is_integer else values / 2).to(dtype).contiguous().to(target)
        wide = x if not dtype.is_floating_point else x.double()
        expected = -OPERATIONS[op](wide + wide)
        assert_same(compiled(x), [expected.to(dtype)])


@pytest.mark.parametrize("threads", [20, 32, 64])
def test_not_a_number_reaches_what_follows(target, threads):
    """NaN and infinities in any thread, none before them."""
    for op in ("cumsum", "cummax", "cummin"):
        fd, _, y = rows(op)
        spread(fd, y, threads, 2)
        compiled = Compiled(fd)
        for position in (0, 1, 45, 150):
            for value in (float("nan"), float("inf"), -float("inf")):
                x = numbers(2, 200, device=target)
                x[0, position] = value
                assert_same(compiled(x), [-OPERATIONS[op](2 * x)])


@pytest.mark.parametrize("op", ["FMax", "FMin"])
def test_not_a_number_is_ignored(target, op):
    """If all values are NaN, FMax makes NaN, over threads as in one."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.scan(x, 1, BinaryOpType[op])
        fd.add_output(s)
        s.split(1, 2)
        s.split(1, 33)
        par(s, BX, None, TX)
    cuda_text(fd.fusion)
    x = numbers(3, 100, device=target)
    x[:, ::2] = float("nan")
    x[0] = float("nan")
    x[1, :70] = float("nan")
    number = -float("inf") if op == "FMax" else float("inf")
    running = OPERATIONS["cummax" if op == "FMax" else "cummin"](x.nan_to_num(nan=number))
    assert_same(Compiled(fd)(x), [torch.where(running == number, float("nan"), running)])


@pytest.mark.parametrize("op", ["cumsum", "cumprod", "cummax"])
def test_an_initial_value_counts_once(target, op):
    """Not in each thread, and not in each round."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        init = fd.define_scalar(dtype=DataType.Double)
        s = getattr(fd.ops, op)(x, 1, init=init)
        fd.add_output(s)
        s.split(1, 2)
        s.split(1, 32)
        par(s, BX, None, TX)
    cuda_text(fd.fusion)
    compiled = Compiled(fd)
    for n in SIZES:
        x = numbers(2, n, device=target)
        x = x.sign() if op == "cumprod" else x
        first = torch.full_like(x[:, :1], 3.0)
        expected = OPERATIONS[op](torch.cat([first, x], 1))[:, 1:]
        compiled.executor.is_compiled() or compiled.executor.compile(fd.fusion, [x, 3.0])
        assert_same(compiled.executor.run([x, 3.0]), [expected])


def test_random_floats(target):
    """Against float64; sums in a fixed order, so that runs are equal bit for bit."""
    fd, _, y = rows()
    spread(fd, y, 128, 4)
    compiled = Compiled(fd)
    generator = torch.Generator().manual_seed(0)
    for n in (5, 511, 513, 20000):
        x = torch.rand(3, n, generator=generator).to(target)
        first, second = compiled(x), compiled(x)
        assert_same(first, [-(2 * x.double()).cumsum(1)], rtol=1e-5)
        assert_same(first, second)


# -- memory, barriers, neighbours --


@pytest.mark.parametrize("memory", [SHARED, GLOBAL])
def test_the_result_in_memory(target, memory):
    """Other threads read what the scan stored."""
    fd, s, y = rows()
    with fd:
        s.split(1, 2)
        par(s, BX, TX)
        y.split(1, 32)
        par(y, BX, None, TX)
        s.set_memory_type(memory)
        s.producers()[0].set_memory_type(GLOBAL)
        s.producers()[0].axis(0).parallelize(BX)
        if memory == SHARED:
            s.inline_at(1)
    check_all(fd, target, [[(m, n)] for m, n in PAIRS], lambda x: -(2 * x).cumsum(1))


def test_the_operand_in_shared_memory(target):
    """Loaded side by side, scanned in chunks."""
    fd, s, y = rows()
    with fd:
        tile = s.producers()[0]
        tile.set_memory_type(SHARED)
        y.split(1, 128)
        y.split(2, 4)
        tile.split(1, 128)
        tile.split(2, 32)
        s.split(1, 128)
        s.split(2, 4)
        par(y, BX, None, TX)
        par(s, BX, None, TX)
        par(tile, BX, None, None, TX)
        tile.inline_at(2)
        s.inline_at(3)
    check_all(fd, target, ROWS, lambda x: -(2 * x).cumsum(1))


def test_in_place(target):
    """Every thread has read its items before they are overwritten."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        fd.add_output(s, x)
        s.split(1, 3)
        s.split(1, 32)
        par(s, BX, None, TX)
    cuda_text(fd.fusion)
    x = torch.randint(-4, 5, (13, 237)).float().to(target)
    wanted = x.cumsum(1)
    Compiled(fd)(x)
    assert_same([x], [wanted])


def test_scans_in_a_row_use_one_scratch(target):
    """Each call waits for those that still read; no barrier is added between."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.cumsum(x, 1)
        b = fd.ops.cummax(a, 1)
        c = fd.ops.cummin(x, 1)
        y = fd.ops.add(fd.ops.add(a, b), c)
        fd.add_output(y)
        y.split(1, 2)
        y.split(1, 48)
        par(y, BX, None, TX)
        like(y)
        fd.sched.inline_most()
    kernel = lowered(fd.fusion)
    assert count(kernel, BlockScan) == 3
    assert count(kernel, BlockSync) == 0
    assert shared_bytes(kernel) == 48 * 4

    def reference(x):
        sums = x.cumsum(1)
        return sums + sums.cummax(1).values + x.cummin(1).values

    check_all(fd, target, ROWS[:-1], reference)


def test_scratch_of_scans_and_reductions(target):
    """The widest use decides the size."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(fd.ops.cast(x, DataType.Double), 1)
        r = fd.ops.sum(x, [1])
        y = fd.ops.add(s, fd.ops.broadcast(r, [False, True]))
        fd.add_output(y)
        for tensor in (y, s, r, *s.producers()):
            tensor.split(1, 40)
        for tensor in (y, s, *s.producers()):
            par(tensor, BX, None, TX)
        partial = r.rfactor([1])
        par(partial, BX, None, TX)
        par(r, BX, TX)
        for tensor in r.consumers():
            tensor.axis(0).parallelize(BX)
        fd.sched.inline_most()
    assert shared_bytes(lowered(fd.fusion)) == 40 * 8
    check_all(fd, target, ROWS[:-2], lambda x: x.cumsum(1) + x.sum(1, keepdim=True))


def test_what_does_not_depend_on_the_scan_shares_its_loop(target):
    """X is inlined into the loop over the items; what reads the scan stands outside."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        doubled = fd.ops.mul(x, 2)
        s = fd.ops.cumsum(doubled, 1)
        other = fd.ops.neg(doubled)
        fd.add_output(s)
        fd.add_output(other)
        for tensor in (s, other, doubled):
            tensor.split(1, 4)
            tensor.split(1, 32)
            par(tensor, BX, None, TX)
        doubled.inline_at(4)
    check_all(fd, target, ROWS, lambda x: [(2 * x).cumsum(1), -2 * x])


def test_inline_most_stops_where_the_scan_is_not_finished(target):
    """Also what the scan and its reader have in common."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        doubled = fd.ops.mul(x, 2)
        s = fd.ops.cumsum(doubled, 1)
        y = fd.ops.sub(s, doubled)
        fd.add_output(y)
        y.split(1, 4)
        y.split(1, 32)
        par(y, BX, None, TX)
        like(y)
        fd.sched.inline_most()
    assert s.compute_at_position() == 3
    assert doubled.compute_at_position() == 3
    check_all(fd, target, ROWS, lambda x: (2 * x).cumsum(1) - 2 * x)


def test_a_reduction_of_the_scan(target):
    """Sum(cumsum(x)) over the same threads."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        r = fd.ops.sum(s, [1])
        fd.add_output(r)
        for tensor in (s, r):
            tensor.split(1, 2)
            tensor.split(1, 32)
        partial = r.rfactor([1, 3])
        par(r, BX, TX)
        par(s, BX, None, TX)
        par(partial, BX, None, TX)
        fd.sched.inline_most()
    check_all(fd, target, ROWS[:-2], lambda x: x.cumsum(1).sum(1))
