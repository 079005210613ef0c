"""How deep tensors are inlined whose axes are bound to hardware, vectors or unrolled loops."""

from __future__ import annotations

import pytest
from inlined_tensors import copies, positions, tensor

from nvfuser_direct import FusionDefinition, MemoryType, ParallelType


def test_vectorized_axes_stop_both_sides():
    with FusionDefinition() as fd:
        c, a, t = copies(fd)
        c.axis(2).parallelize(ParallelType.vectorize)
        t.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_most()
    assert positions(c, a) == [2, 2]


def test_unrolled_axes_stop_the_producer():
    """An unrolled axis of the consumer does not."""
    with FusionDefinition() as fd:
        c, a, t = copies(fd)
        c.axis(2).parallelize(ParallelType.unroll)
        t.axis(2).parallelize(ParallelType.unroll)
        fd.sched.inline_most()
    assert positions(c, a) == [2, 3]


def test_thread_and_unswitched_axes_do_not_stop():
    with FusionDefinition() as fd:
        c, a, t = copies(fd)
        t.axis(0).parallelize(ParallelType.grid_x)
        t.axis(1).parallelize(ParallelType.unswitch)
        t.axis(2).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(t)
        fd.sched.inline_most()
    assert positions(c, a) == [3, 3]


def test_inlining_most_keeps_loops_with_one_binding():
    """A block axis is not inlined into a loop over threads, which lowering would refuse."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        a = fd.ops.exp(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.axis(0).parallelize(ParallelType.grid_x)
        t.axis(0).parallelize(ParallelType.block_x)
        fd.sched.inline_most()
    assert positions(a) == [0]


def test_inlining_most_binds_no_hardware_index_twice():
    """The loop over the first axis would be bound to threads that the second axis has."""
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 8)
        a = fd.ops.exp(x)
        t = fd.ops.neg(a)
        fd.add_output(t)
        a.axis(0).parallelize(ParallelType.block_x)
        t.axis(1).parallelize(ParallelType.block_x)
        a.set_memory_type(MemoryType.shared)
        fd.sched.inline_most()
    assert positions(a) == [0]
    fd.fusion.lower()


def test_inlining_most_finds_bindings_through_a_tensor_in_between():
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 8)
        a = fd.ops.exp(x)
        between = fd.ops.neg(a)
        t = fd.ops.sin(between)
        fd.add_output(t)
        a.axis(0).parallelize(ParallelType.grid_x)
        t.axis(0).parallelize(ParallelType.block_x)
        a.set_memory_type(MemoryType.shared)
        between.set_memory_type(MemoryType.shared)
        fd.sched.inline_most()
    assert positions(a, between) in ([0, 2], [2, 0])


@pytest.mark.parametrize("bound", [ParallelType.grid_x, ParallelType.block_x])
def test_inlining_most_keeps_a_reduction_out_of_loops_that_only_its_producer_binds(bound):
    """Each thread or block would have a part of the result for itself, and every one stores it."""
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 32)
        a = fd.ops.exp(x)
        s = fd.ops.sum(a, [0])
        fd.add_output(a)
        fd.add_output(s)
        a.axis(1).parallelize(bound)
        fd.sched.inline_most()
    assert positions(a) == [1]
    fd.fusion.lower()


def test_inlining_most_makes_no_reduction_over_blocks_beside_serial_axes():
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        a = fd.ops.set(x)
        s = fd.ops.sum(a, [0, 1])
        fd.add_output(s)
        a.axis(0).parallelize(ParallelType.grid_y)
        a.set_memory_type(MemoryType.Global)
        fd.sched.inline_most()
    assert positions(a) == [0]
    fd.fusion.lower()


@pytest.mark.parametrize("bound", [ParallelType.block_x, ParallelType.block_y])
def test_inlining_most_reduces_over_threads_that_a_producer_binds(bound):
    with FusionDefinition() as fd:
        x = tensor(fd, -1)
        a = fd.ops.exp(x)
        fd.add_output(fd.ops.sum(a, [0]))
        a.axis(0).parallelize(bound)
        fd.sched.inline_most()
    assert positions(a) == [1]
    fd.fusion.lower()
