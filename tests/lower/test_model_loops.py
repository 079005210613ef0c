"""model_loops: which tensors share a loop, and which axis it runs over."""

from __future__ import annotations

import textwrap

import torch
from pass_text import BX, TX, check_refused, check_unchanged, plain

from nvfuser_direct import DataType, Fusion, FusionDefinition, MemoryType, ParallelType

NAME = "model_loops"


def test_it_finds_out_and_changes_nothing() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        y = fd.ops.neg(fd.ops.exp(x))
        fd.add_output(y)
        fd.sched.inline_most()
    check_unchanged(fd, NAME)


def test_a_loop_runs_over_the_axis_that_covers_all_tensors_in_it() -> None:
    """A row of x is read in a loop over the whole result."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True)
        w = fd.define_tensor([3, 4], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.add(fd.ops.broadcast(copy, [True, False]), w)
        fd.add_output(y)
        for tensor in (y, *y.producers()):
            if tensor.ndims() == 2 and tensor is not w:
                tensor.merge(0, 1)
        fd.sched.inline_most()
    text = plain(str(fd.fusion.lower(until="build_loop_nests")))
    assert "in 12:" in text


def test_a_part_of_a_broadcast_that_no_other_tensor_shares_runs_once() -> None:
    """A row is copied for each 8 rows of the result, not for each of these again."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=[None, True])
        w = fd.define_tensor([-1, -1], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.add(copy, w)
        fd.add_output(y)
        for tensor in (copy, y):
            tensor.split(0, 8)
        fd.sched.inline_at(y, 1, selected_tensors=[copy])
    text = plain(str(fd.fusion.lower(until="build_loop_nests")))
    assert text.count("in 8:") == 1  # of the result


def test_a_copy_that_a_schedule_made_decides_no_more_than_its_consumers() -> None:
    """It is the newest tensor, and no consumer. Bytes do not say which call made it: a
    fusion that is read from them is lowered alike."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None], dtype=DataType.Int32)
        column = fd.ops.squeeze(x, [1])
        y = fd.ops.broadcast(column, [False, True])
        fd.add_output(fd.ops.neg(y))
        fd.add_output(y)
        copy = x.cache_after()
        y.merge(0, 1)
        y.split(0, 5)
        y.split(0, 7)
        y.split(1, 16)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(ParallelType.block_y)
        y.axis(2).parallelize(BX)
        y.axis(3).parallelize(ParallelType.grid_y)
        fd.sched.parallelize_like(y)
        column.axis(3).parallelize(ParallelType.unswitch)
        for tensor in (copy, column):
            tensor.set_memory_type(MemoryType.Global)
        fd.sched.inline_most()
    fd.fusion.lower()
    Fusion.deserialize(fd.fusion.serialize()).lower()


def test_axes_of_one_loop_that_are_bound_differently_are_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        first = fd.ops.exp(x)
        y = fd.ops.neg(first)
        fd.add_output(y)
        first.inline_at(1)
        first.axis(0).parallelize(BX)
        y.axis(0).parallelize(TX)
    check_refused(fd, NAME, "Axes that share a loop have different parallel types")


def test_two_axes_that_correspond_to_one_are_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        y = fd.ops.add(x, fd.ops.permute(x, [1, 0]))
        fd.add_output(y)
        fd.sched.inline_most()
    check_refused(fd, NAME, "Two axes of a tensor correspond to the same axis")


def test_a_binding_of_one_tensor_holds_for_all_in_its_loop() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        first = fd.ops.exp(x)
        y = fd.ops.neg(first)
        fd.add_output(y)
        first.inline_at(1)
        y.axis(0).parallelize(ParallelType.block_x)
    text = plain(str(fd.fusion.lower(until="build_loop_nests")))
    assert text == textwrap.dedent("""\
        T1_l[0] = expf(T0_g[tx]);
        T2_g[tx] = -T1_l[0];
        """)


def test_the_order_of_hardware_indices_in_a_tensor_does_not_matter(target: str) -> None:
    """A reduction into shared memory has its bound axis behind the others, a copy before them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, -1], contiguity=True)
        shared = fd.ops.exp(x)
        total = fd.ops.sum(fd.ops.neg(shared), [0])
        fd.add_output(fd.ops.set(total))
        fd.add_output(fd.ops.abs(shared))
        total.axis(0).parallelize(TX)
        total.set_memory_type(MemoryType.shared)
        fd.sched.parallelize_like(total)
        fd.sched.inline_most()
    inputs = [torch.linspace(-2, 2, 4 * 37).reshape(4, 37).to(target)]
    results = fd.manual_execute(inputs)
    (x,) = inputs
    for result, expected in zip(results, [-x.exp().sum(0), x.exp()], strict=True):
        torch.testing.assert_close(result, expected)
