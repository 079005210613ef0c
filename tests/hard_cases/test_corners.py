"""Hard cases that are corners of others, of sections 2 to 13."""

import pytest
import torch
from hard_case import (
    BX,
    GLOBAL,
    SHARED,
    TX,
    TY,
    UNSWITCH,
    VECTORIZE,
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

from nvfuser_direct import BlockSync, FusionDefinition

# ---- 2: loops and promotion ---------------------------------------------------------------------


@pytest.mark.parametrize("factor", [None, 4])
def test_broadcast_that_stays_one(target, factor):
    """A loop that stays unresolved has extent 1, or that of its split."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        b = fd.ops.broadcast(x, [True, False])
        y = fd.ops.add(b, 1.0)
        fd.add_output(y)
        if factor is None:
            y.merge(0, 1)
            y.split(0, 32)
            par(y, BX, TX)
        else:
            y.split(0, factor)
        like(y)
        fd.sched.inline_most()
    check(fd, target, [[[n]] for n in (1, 5, 33, 200)], lambda x: x[None] + 1)


def test_no_promotion_through_a_cycle():
    """Two reshapes that undo each other, with a broadcast in between. No axis of the shared
    loop covers the others, and none is taken that only a way around the cycle leads to."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([24], contiguity=True)
        row = fd.define_tensor([12], contiguity=True)
        matrix = fd.ops.reshape(fd.ops.relu(x), [2, 12])
        y = fd.ops.mul(matrix, fd.ops.broadcast(row, [True, False]))
        z = fd.ops.add(fd.ops.reshape(y, [24]), x)
        fd.add_output(z)
        z.split(0, 8)
        par(z, BX, TX)
        like(z)
        fd.sched.inline_most()
    with pytest.raises(RuntimeError, match="No axis covers all tensors that share a loop"):
        lowered(fd.fusion)


def test_one_parallel_type_for_a_loop(target):
    """A serial axis takes the binding of the loop that it shares."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.mul(x, 2.0)
        y = fd.ops.add(a, 1.0)
        fd.add_output(y)
        par(y, BX, TX)
        a.inline_at(2)
    check(fd, target, [[[3, 5]], [[1, 1]], [[7, 33]]], lambda x: x * 2 + 1)


def test_two_parallel_types_for_a_loop():
    """Two different bindings of one loop are an error."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.mul(x, 2.0)
        y = fd.ops.add(a, 1.0)
        fd.add_output(y)
        par(y, BX, TX)
        par(a, None, TY)
        a.inline_at(2)
    with pytest.raises(RuntimeError) as error:
        lowered(fd.fusion)
    assert "threadIdx.x" in str(error.value)
    assert "threadIdx.y" in str(error.value)


# ---- 4, 5, 9: walks through resized and reshaped axes -------------------------------------------


def test_broadcast_axis_that_no_loop_reaches(target):
    """Its index is 0."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        b = fd.ops.broadcast(x, [True, False])
        b.set_memory_type(GLOBAL)
        y = fd.ops.pad(b, [0, 0, 1, 1])
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 32)
        par(y, BX, TX)
        fd.sched.inline_most()
    check(
        fd, target, [[[n]] for n in (1, 5, 40)],
        lambda x: torch.nn.functional.pad(x[None], (0, 0, 1, 1)),
    )  # fmt: skip


def test_axis_with_a_reshape_on_both_sides(target):
    """The walk takes the way through an axis that can be walked."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 6], contiguity=True)
        flat = fd.ops.reshape(fd.ops.neg(x), [24])
        y = fd.ops.reshape(fd.ops.relu(flat), [3, 8])
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 5)
        par(y, BX, TX)
        like(y)
        fd.sched.inline_most()
    check(fd, target, [[[4, 6]]], lambda x: (-x).reshape(24).relu().reshape(3, 8))


def test_split_beside_the_way_to_the_logical_axis(target):
    """Loops over the axes before a reshape; holes of their splits are tested."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([5, 2], contiguity=True)
        y = fd.ops.reshape(fd.ops.relu(x), [10])
        fd.add_output(y)
        y.set_loop_domain(y.get_root_domain() if hasattr(y, "get_root_domain") else y.root())
        y.split(-1, 8)
        y.split(0, 3)
    check(fd, target, [[[5, 2]]], lambda x: x.relu().reshape(10))


def test_producer_smaller_than_its_padded_consumer(target):
    """The tile of a producer is its own; padding shifts what the consumer reads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        staged = fd.ops.set(x)
        y = fd.ops.pad(staged, [2, 1])
        fd.add_output(y)
        staged.set_memory_type(SHARED)
        par(staged, TX)
        par(y, TX)
    check(
        fd, target, [[[n]] for n in (1, 4, 9, 64)],
        lambda x: torch.nn.functional.pad(x, (2, 1)),
    )  # fmt: skip


# ---- 5, 6: predicates and vectors ---------------------------------------------------------------


def test_threads_are_not_maximised(target):
    """The hoisted test of an unswitched loop keeps the thread index."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.add(x, 1.0)
        fd.add_output(y)
        y.split(0, 4)
        y.split(0, 32)
        y.reorder({1: 2, 2: 1})
        par(y, BX, UNSWITCH, TX)
    text = cuda_text(fd.fusion)
    assert "blockDim.x - 1" not in text
    assert "threadIdx.x" in text
    check(fd, target, [[[n]] for n in (1, 97, 128, 129, 500)], lambda x: x + 1)


def test_misaligned_rows(target):
    """Rows whose start no vector fits are refused with the reason, never rounded down."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.set(x)
        fd.add_output(y)
        y.split(1, 4)
        par(y, BX, TX, VECTORIZE)
    compiled = Compiled(fd)
    values = numbers(3, 8, device=target)
    assert_same(compiled(values), [values])
    with pytest.raises(
        RuntimeError, match=r"Vectorization of T1_g_float\[.*\] by 4 needs a multiple"
    ):
        compiled(numbers(3, 6, device=target))


# ---- 7: barriers --------------------------------------------------------------------------------


def test_barrier_stays_for_one_reader_that_needs_it(target):
    """One reader uses its own element, the other those of other threads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        staged = fd.ops.set(x)
        own = fd.ops.add(staged, 1.0)
        turned = fd.ops.permute(staged, [1, 0])
        fd.add_output(own)
        fd.add_output(turned)
        staged.set_memory_type(SHARED)
        for tensor in (staged, own):
            par(tensor, None, TX)
        par(turned, None, TX)
    assert count(lowered(fd.fusion), BlockSync) >= 1
    check(fd, target, [[[5, 7]], [[32, 32]], [[1, 40]]], lambda x: [x + 1, x.t()])


def test_no_barrier_for_readers_of_their_own_element():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        staged = fd.ops.set(x)
        y = fd.ops.add(staged, 1.0)
        fd.add_output(y)
        staged.set_memory_type(SHARED)
        par(staged, BX, TX)
        par(y, BX, TX)
    assert count(lowered(fd.fusion), BlockSync) == 0


def test_barriers_stand_where_all_threads_arrive(target):
    """A barrier is never inside of a condition on the thread."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        staged = fd.ops.set(x)
        y = fd.ops.sum(staged, [0])
        fd.add_output(y)
        staged.set_memory_type(SHARED)
        y.split(0, 32)
        par(staged, TX)
        par(y, None, TX)
    text = cuda_text(fd.fusion)
    depth_of_condition = 0
    for line in text.splitlines():
        if "if (" in line and "thread_" in line:
            depth_of_condition = line.index("if")
        elif depth_of_condition and line.strip() == "}" and line.index("}") <= depth_of_condition:
            depth_of_condition = 0
        assert not (depth_of_condition and "__syncthreads" in line), text
    check(fd, target, [[[n]] for n in (1, 33, 100)], lambda x: x.sum())


# ---- 9, 12, 13 ----------------------------------------------------------------------------------


def test_threads_of_the_allocation_domain(target):
    """Storage may be laid out by other axes than the loops; launches come from the loops."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        staged = fd.ops.set(x)
        y = fd.ops.add(staged, 1.0)
        fd.add_output(y)
        staged.set_memory_type(SHARED)
        for tensor in (staged, y):
            tensor.split(1, 32)
            par(tensor, BX, None, TX)
        rows, outer, inner = staged.get_loop_domain()
        staged.set_allocation_domain([rows, inner, outer], True)
        staged.inline_at(1)
    check(fd, target, [[[3, 40]], [[1, 1]], [[2, 129]]], lambda x: x + 1)


def test_in_place_with_readers_of_all_rows():
    """A row that every other row reads cannot be updated meanwhile."""
    with FusionDefinition() as fd:
        row = fd.define_tensor([1, -1], contiguity=[None, True])
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.add(x, row)
        fd.add_output(y)
        fd.add_output(fd.ops.add(row, 1.0), row)
        par(y, BX, TX)
    with pytest.raises(RuntimeError, match="updated in place"):
        lowered(fd.fusion)


@pytest.mark.parametrize("size", [None, 64, 96])
def test_padded_warps_contribute_nothing(target, size):
    """Threads beyond the row reduce the identity, also where lanes are a loop."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 40], contiguity=True)
        y = fd.ops.max(x, [1])
        fd.add_output(y)
        par(y, BX, TX)
        y.axis(1).pad_to_multiple_of_warp(size)
    check(fd, target, [[[n, 40]] for n in (1, 5, 33)], lambda x: x.amax(1))


def test_axes_larger_than_their_padding_are_refused(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 40], contiguity=True)
        y = fd.ops.max(x, [1])
        fd.add_output(y)
        par(y, BX, TX)
    with pytest.raises(RuntimeError, match="Padded size is smaller than the axis"):
        y.axis(1).pad_to_multiple_of_warp(32)
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.max(x, [1])
        fd.add_output(y)
        par(y, BX, TX)
        y.axis(1).pad_to_multiple_of_warp(64)
    compiled = Compiled(fd)
    for columns in (1, 33, 64):
        values = numbers(3, columns, device=target)
        assert_same(compiled(values), [values.amax(1)])
    with pytest.raises(RuntimeError, match="larger than the 64 threads"):
        compiled(numbers(3, 65, device=target))


def test_uniform_condition_around_a_barrier(target):
    """The loop over blocks has a tail; its test is the same for all threads of a block."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        staged = fd.ops.set(x)
        y = fd.ops.sum(staged, [1])
        fd.add_output(y)
        staged.set_memory_type(SHARED)
        for tensor in (y, staged):
            tensor.split(0, 3)
        y.split(2, 32)
        par(y, BX, None, None, TX)
        par(staged, BX, None, TX)
        staged.inline_at(2)
    check(fd, target, [[[n, m]] for n in (1, 3, 4, 8) for m in (1, 33)], lambda x: x.sum(1))
