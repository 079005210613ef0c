"""check_vector_accesses: vectors are whole, aligned and contiguous, or the schedule is refused."""

from __future__ import annotations

import pytest
import torch
from pass_text import check_refused, check_unchanged

from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType, schedule

NAME = "check_vector_accesses"
VECTOR = ParallelType.vectorize


def loaded(
    shape: list[int], width: int | None = None, contiguity: bool | list[bool] = True
) -> FusionDefinition:
    """y = neg(x), where x is loaded in vectors along its last axis."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape, contiguity=contiguity)
        y = fd.ops.neg(x)
        fd.add_output(y)
        cache = x.cache_after()
        if width is not None:
            cache.split(-1, width)
        cache.axis(-1).parallelize(VECTOR)
    return fd


def test_a_whole_vector_of_contiguous_elements_is_as_it_was() -> None:
    check_unchanged(loaded([8, 64], 4), NAME)


def test_a_width_that_no_instruction_has_is_refused() -> None:
    check_refused(loaded([8, 64], 3), NAME, "Vector width is not supported")


def test_a_size_that_the_width_does_not_divide_is_refused() -> None:
    check_refused(loaded([8, 66], 4), NAME, "Vectorization needs an extent that the width divides")


def test_neighbours_that_lie_apart_in_memory_are_refused() -> None:
    check_refused(
        loaded([8, 64], 4, [True, False]),
        NAME,
        "A vectorized axis is not innermost and contiguous in memory",
    )


def test_arithmetic_cannot_be_vectorized() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(1).parallelize(VECTOR)
    check_refused(fd, NAME, "Only a copy can be vectorized")


def test_an_axis_with_a_loop_inside_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        cache = x.cache_after()
        cache.axis(1).parallelize(VECTOR)
        cache.reorder({0: 1})
    check_refused(fd, NAME, "A vectorized axis has a loop inside")


def test_a_copy_between_registers_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        middle = fd.ops.set(fd.ops.exp(x))
        fd.add_output(fd.ops.neg(middle))
        middle.axis(1).parallelize(VECTOR)
    check_refused(fd, NAME, "A vectorized copy has one side in global or shared memory")


def loaded_in_parts(rows: int, part: int, width: int) -> FusionDefinition:
    """x [rows, 3, 2], loaded in vectors that run through parts of its rows."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([rows, 3, 2], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        cache = x.cache_after()
        y.split(0, part)
        y.merge(1, 2)
        y.merge(1, 2)
        y.split(1, width)
        schedule.transform_like(y)
        schedule.inline_at(y, 2)
        cache.axis(-1).parallelize(VECTOR)
    return fd


def test_vectors_run_on_behind_the_end_of_a_dimension() -> None:
    check_unchanged(loaded_in_parts(60, 10, 4), NAME)


def test_vectors_that_run_out_of_a_part_are_refused() -> None:
    wrong = "Vectorization needs an extent that the width divides"
    check_refused(loaded_in_parts(60, 5, 4), NAME, wrong)  # 30 elements of a part
    check_refused(loaded_in_parts(31, 10, 4), NAME, wrong)  # 186 of the tensor


def test_a_part_of_any_number_of_rows_leaves_a_check_for_the_launch() -> None:
    fd = loaded_in_parts(-1, 10, 4)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [torch.zeros(60, 3, 2)])
    a = torch.randn(62, 3, 2)
    assert torch.equal(executor.run([a])[0], -a)
    with pytest.raises(RuntimeError, match="needs a multiple of it as extent"):
        executor.run([torch.zeros(61, 3, 2)])
