"""Scans in one thread, and what no scan can do.

Scans over the threads of a block have a file of their own.
"""

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
    check,
    count,
    cuda_text,
    like,
    lowered,
    par,
)

from nvfuser_direct import (
    Allocate,
    DataType,
    FusionDefinition,
    ParallelType,
    UserError,
)

pytestmark = pytest.mark.sanitize

SHAPES = [[(1, n)] for n in SIZES] + [[pair] for pair in PAIRS]


def rows(op="cumsum", dtype=DataType.Float):
    """y = neg(cumsum(2 x, 1)) of a matrix: the definition, its tensors, and what it computes."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        doubled = fd.ops.mul(x, 2)
        s = getattr(fd.ops, op)(doubled, 1)
        y = fd.ops.neg(s)
        fd.add_output(y)
    return fd, s, y


def expected(x):
    return -(2 * x).cumsum(1)


@pytest.mark.parametrize("factor", [None, 1, 4, 32])
@pytest.mark.parametrize("kind", [None, UNROLL, UNSWITCH])
def test_a_thread_runs_through_a_row(target, factor, kind):
    """The scanned axis is serial, also split and unrolled; holes come last."""
    fd, _, y = rows()
    with fd:
        y.split(0, 32)
        par(y, BX, TX)
        if factor is not None:
            y.split(2, factor)
        if kind is not None and factor is not None:
            y.axis(-1).parallelize(kind)
        like(y)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    check(fd, target, SHAPES, expected)


def test_holes_between_the_parts_of_a_split(target):
    """An inner part of 4 split by 3 visits positions twice; only one of them counts."""
    fd, _, y = rows()
    with fd:
        y.split(0, 8)
        par(y, BX, TX)
        y.split(2, 4)
        y.split(3, 3)
        like(y)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    check(fd, target, SHAPES, expected)


def test_holes_in_registers_do_not_count(target):
    """A tile in registers has elements beyond the end, and beyond the end of a part."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        tile = fd.ops.mul(x, 2)
        s = fd.ops.cumprod(tile, 1)
        y = fd.ops.neg(s)
        fd.add_output(y)
        y.split(1, 6)
        y.split(2, 4)
        y.split(0, 8)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_at(y, 3)
    cuda_text(fd.fusion)
    check(
        fd,
        target,
        [[(m, n)] for m, n in ((1, 1), (9, 5), (17, 13), (3, 6))],
        lambda x: -(2 * x).cumprod(1),
    )


def test_a_running_value_for_each_inner_position(target):
    """The scanned loop outside of another: as many running values as that has positions."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1, 4], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        y = fd.ops.mul(s, 3)
        fd.add_output(y)
        par(y, BX)
        y.axis(2).parallelize(UNROLL)
        like(y)
        fd.sched.inline_at(y, 2)
    assert "float T3[4];" in cuda_text(fd.fusion)
    check(fd, target, [[(m, n, 4)] for m, n in PAIRS], lambda x: x.cumsum(1) * 3)


def test_threads_inside_of_the_scanned_loop(target):
    """A column for each thread; the loop over rows stands around the thread index."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(x, 0)
        y = fd.ops.neg(s)
        fd.add_output(y)
        y.split(1, 32)
        par(y, None, BX, TX)
        like(y)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    check(fd, target, [[pair] for pair in PAIRS], lambda x: -x.cumsum(0))


@pytest.mark.parametrize("memory", [SHARED, GLOBAL])
def test_the_result_in_memory(target, memory):
    """Other threads read what one thread combined."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, 33], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        y = fd.ops.mul(s, 2)
        fd.add_output(y)
        par(s, BX)
        par(y, BX, TX)
        s.set_memory_type(memory)
        if memory == SHARED:
            s.inline_at(1)
    cuda_text(fd.fusion)
    check(fd, target, [[(n, 33)] for n in (1, 2, 31)], lambda x: x.cumsum(1) * 2)


def test_scans_share_a_loop(target):
    """A scan of a scan, and a sum of both, in one loop."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.cumsum(x, 1)
        b = fd.ops.cummax(a, 1)
        y = fd.ops.add(a, b)
        fd.add_output(y)
        y.split(0, 16)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    assert count(lowered(fd.fusion), Allocate) == 4  # two results, two running values
    check(fd, target, SHAPES, lambda x: x.cumsum(1) + x.cumsum(1).cummax(1).values)


def test_a_broadcast_result_is_not_combined_twice(target):
    """Inlined into the loop of a consumer that resolves a broadcast inside of the axis."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1, -1, 3], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        y = fd.ops.add(fd.ops.broadcast(s, [False, False, True]), z)
        fd.add_output(y)
        y.split(0, 4)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    shapes = [[(m, n), (m, n, 3)] for m, n in PAIRS]
    check(fd, target, shapes, lambda x, z: x.cumsum(1)[..., None] + z)


def test_a_reduction_over_the_scanned_axis_shares_its_loop(target):
    """Sum(cumsum(x)) needs no storage for the running sums."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        y = fd.ops.sum(s, [1])
        fd.add_output(y)
        y.split(0, 16)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    check(fd, target, SHAPES, lambda x: x.cumsum(1).sum(1), rtol=1e-5)


def test_redundant_threads_write_once(target):
    """Threads that hold the same value combine for themselves, and one stores."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.cumsum(x, 0))
        y = fd.ops.neg(z)
        fd.add_output(y)
        par(y, BX, TY)
    cuda_text(fd.fusion)
    check(fd, target, [[(n,), (3, 5)] for n in SIZES], lambda x, z: [x.cumsum(0), -z])


def test_in_place(target):
    """An element is read, combined and stored in one iteration."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        fd.add_output(s, x)
        s.split(0, 8)
        par(s, BX, TX)
    cuda_text(fd.fusion)
    x = torch.randint(-4, 5, (13, 37)).float().to(target)
    wanted = x.cumsum(1)
    Compiled(fd)(x)
    torch.testing.assert_close(x, wanted)


# -- what is refused, naming the axis --


@pytest.mark.parametrize("kind", [BX, BY])
def test_the_axis_is_not_spread_over_blocks(kind):
    """A block would wait for all before it."""
    fd, s, y = rows()
    with fd:
        for tensor in (s, y):
            tensor.axis(1).parallelize(kind)
        s.inline_at(2)
    axis = re.escape(str(s.get_logical_domain()[1]))
    with pytest.raises(UserError, match=f"The axis {axis} of a scan cannot be bound to"):
        fd.fusion.lower()


def test_the_axis_is_not_vectorized():
    """Lanes would combine side by side."""
    fd, s, y = rows()
    with fd:
        y.split(1, 4)
        like(y)
        s.axis(2).parallelize(VECTORIZE)
    with pytest.raises(UserError, match="Only a copy can be vectorized"):
        fd.fusion.lower()


def test_the_axis_is_not_merged():
    """A loop over rows and columns at once has no place for a running value."""
    fd, _, y = rows()
    with fd:
        y.merge(0)
        like(y)
        fd.sched.inline_most()
    with pytest.raises(
        UserError, match=r"A scan needs loops of its own over its axis iS\d+\{i\d+\}"
    ):
        fd.fusion.lower()


def test_the_axis_is_visited_in_order():
    """The inner part of a split outside of the outer part would skip ahead."""
    fd, _, y = rows()
    with fd:
        y.split(1, 4)
        y.reorder({1: 2, 2: 1})
        like(y)
        fd.sched.inline_most()
    with pytest.raises(
        UserError, match=r"A scan visits its axis iS\d+\{i\d+\} in increasing order"
    ):
        fd.fusion.lower()


def test_a_row_of_unknown_size_inside_of_the_loop():
    """As many running values as columns do not fit into registers."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.cumsum(x, 0))
    with pytest.raises(
        UserError,
        match=r"A scan has a loop of unknown size inside of the loops over its axis: iS\d+\{i\d+\}",
    ):
        fd.fusion.lower()


def test_the_axis_is_not_rfactored():
    """A scan is no reduction."""
    fd, s, _ = rows()
    with fd:
        s.split(1, 4)
        headline = f"Error rfactoring {s} because its definition is not a reduction."
        with pytest.raises(UserError, match=re.escape(headline)):
            s.rfactor([1])
    assert str(s.axis(1)) in headline


# -- what is refused over threads --


def spread(fd, y, *kinds):
    """[rows, n] -> [rows, n / 128, 32, 4], bound to `kinds`, everything inlined."""
    with fd:
        y.split(1, 4)
        y.split(1, 32)
        par(y, *kinds)
        like(y)
        fd.sched.inline_most()


def refused(fd, message):
    """On both targets."""
    for target in ("cpu", "cuda"):
        with pytest.raises(UserError, match=message):
            fd.fusion.lower(target=target)


AXIS = r"iS\d+\{i\d+\}"


def test_two_thread_dimensions():
    """One dimension holds the axis."""
    fd, _, y = rows()
    spread(fd, y, BX, TY, TX)
    refused(fd, f"The axis {AXIS} of a scan is bound to two thread dimensions")


def test_grouped_items():
    """Items are combined in their order, not side by side."""
    fd, s, y = rows()
    spread(fd, y, BX, None, TX)
    s.axis(3).parallelize(ParallelType.group)
    refused(fd, "Only an axis that a reduction keeps can be grouped")


def test_items_outside_of_rounds():
    """Positions in another order."""
    fd, _, y = rows()
    with fd:
        y.split(1, 4)
        y.split(1, 32)
        y.reorder({1: 3, 3: 1})
        par(y, BX, None, TX)
        like(y)
    refused(fd, f"A scan visits its axis {AXIS} in increasing order")


def test_an_unknown_number_of_items():
    """A chunk is kept in registers."""
    fd, _, y = rows()
    with fd:
        y.split(1, 32, inner_split=False)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_most()
    refused(fd, "A scan has a loop of unknown size over the items of a thread: ")


def test_a_reader_in_the_loop_over_the_items():
    """Bound after it was inlined too deep."""
    fd, s, y = rows()
    with fd:
        y.split(1, 4)
        like(y)
        fd.sched.inline_most()
        par(y, BX, TX)
        par(s, BX, TX)
        par(s.producers()[0], BX, TX)
    axis = re.escape(str(s.get_logical_domain()[1]))
    refused(fd, f"Results of a scan along its axis {axis} are needed in the loop over the items")


@pytest.mark.parametrize("random", [False, True])
def test_caches(target, random):
    """Registers and shared memory before and after, written by copies."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.cumsum(x, 1)
        r = fd.ops.uniform(0, 4, x.shape(), rng_seed=3, rng_offset=1)
        fd.add_output(fd.ops.floor(r) if random else s)
        fd.add_output(s)
        x.cache_after()
        cached = s.cache_before()
        cached.set_memory_type(SHARED)
        s.split(0, 8)
        fd.sched.transform_like(s)
        for tensor in fd.fusion.tensors():
            if tensor.definition() is not None:
                par(tensor, BX, TX)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    outputs = Compiled(fd)(torch.ones(13, 7, device=target))
    torch.testing.assert_close(outputs[1].cpu(), torch.arange(1.0, 8).expand(13, 7))


def test_sixteen_bit_floats_are_rounded_once(target):
    """The running value is Float; each element of the result is rounded from it."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Half)
        s = fd.ops.cumsum(x, 1)
        fd.add_output(s)
        s.split(0, 8)
        par(s, BX, TX)
    assert "float T2;" in cuda_text(fd.fusion)
    x = torch.rand(5, 200).half().to(target)
    running = [x[:, 0].float()]
    for column in x[:, 1:].float().unbind(1):
        running.append(running[-1] + column)
    expected = torch.stack(running, 1).half()
    torch.testing.assert_close(Compiled(fd)(x)[0], expected, rtol=0, atol=0)
