"""check_register_arrays: an array in registers has a constant size."""

from __future__ import annotations

import pytest
import torch
from pass_text import BX, check_refused, check_unchanged

from nvfuser_direct import FusionDefinition, MemoryType, ParallelType, TensorView, UserError

NAME = "check_register_arrays"


def chain(*sizes: int) -> tuple[FusionDefinition, TensorView, TensorView]:
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(sizes), contiguity=True)
        first = fd.ops.exp(x)
        y = fd.ops.neg(first)
        fd.add_output(y)
    return fd, first, y


def test_a_constant_size_is_allowed() -> None:
    check_unchanged(chain(8, 64)[0], NAME)


def test_a_size_that_inlining_makes_constant_is_allowed() -> None:
    fd, first, _ = chain(-1, 64)
    first.inline_at(1)
    check_unchanged(fd, NAME)


def test_a_fusion_without_schedule_is_told_so() -> None:
    check_refused(chain(-1)[0], NAME, "The fusion has no schedule")


def test_a_tensor_that_a_schedule_was_not_propagated_to_is_told_so() -> None:
    fd, _, y = chain(-1)
    y.split(0, 128)
    y.axis(0).parallelize(BX)
    check_refused(fd, NAME, "has no share of the schedule of its reader")


def test_a_tensor_that_is_not_inlined_deep_enough_is_told_so() -> None:
    fd, first, y = chain(-1, -1)
    for tensor in (first, y):
        tensor.split(1, 4)
    first.inline_at(1)
    text = "A tensor in registers needs a constant size"
    check_refused(fd, NAME, rf"{text}(.|\n)*fix: +inline it deeper; where readers share no")


def test_a_tensor_that_is_bound_and_not_inlined_is_told_so() -> None:
    fd, first, y = chain(-1, -1)
    for tensor in (first, y):
        tensor.axis(0).parallelize(BX)
    text = "A tensor in registers needs a constant size"
    check_refused(fd, NAME, rf"{text}(.|\n)*fix: +fd\.sched\.inline_most\(\) computes it where it")


def test_of_several_tensors_the_first_one_is_named_on_any_target() -> None:
    """Their places in the loop nests differ by target: the CPU runs threads as loops."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        first, other = fd.ops.exp(x), fd.ops.exp(x)
        y, z = (fd.ops.sin(fd.ops.neg(tensor)) for tensor in (first, other))
        fd.add_output(y)
        fd.add_output(z)
    first.split(0, 4)
    for out, outer in ((y, ParallelType.block_x), (z, ParallelType.grid_x)):
        out.split(0, 4)
        out.axis(0).parallelize(outer)
        out.axis(1).parallelize(ParallelType.block_y)
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError) as error:
            fd.fusion.print_kernel(target=target)
        assert str(error.value).startswith("A tensor in registers needs a constant size\n")
        assert f"node:     {str(first).split('_')[0]}_l" in str(error.value)


def test_both_ways_out_for_a_row_of_any_size_lower() -> None:
    """The row is read by two loops, which share none over its elements."""
    for way in ("split and bind", "shared memory"):
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], contiguity=True)
            out = fd.ops.div(x, fd.ops.broadcast(fd.ops.sum(x, [1]), [False, True]))
            fd.add_output(out)
            row = x.cache_after()
            if way == "split and bind":
                out.split(1, 4, inner_split=False)
                out.axis(2).parallelize(ParallelType.block_x)
                fd.sched.transform_like(out)
            out.axis(0).parallelize(BX)
            fd.sched.parallelize_like(out)
            fd.sched.inline_most()
            if way == "shared memory":
                with pytest.raises(UserError, match="A tensor in registers needs a constant size"):
                    fd.fusion.lower()
                row.set_memory_type(MemoryType.shared)
        fd.manual_validate([torch.rand(5, 33) + 1])
