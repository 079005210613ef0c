"""check_bulk_copies: boxes lie in memory as bulk copies find them, or the schedule is refused."""

from __future__ import annotations

import pytest
from pass_text import check_refused, check_unchanged

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

NAME = "check_bulk_copies"


def loaded(shape: list[int], box: int, contiguity: bool | list[bool] = True) -> FusionDefinition:
    """y = neg(x), where boxes along the last axis of x are loaded."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape, contiguity=contiguity)
        y = fd.ops.neg(x)
        fd.add_output(y)
        loads = x.cache_after(LoadStoreOpType.tma)
        loads.set_memory_type(MemoryType.shared)
        for tensor in (loads, y):
            tensor.split(-1, box)
        loads.axis(-1).parallelize(ParallelType.tma)
        y.axis(-1).parallelize(ParallelType.block_x)
        fd.sched.inline_at(y, len(shape), selected_tensors=[loads])
    return fd


def test_a_box_of_a_contiguous_axis_is_as_it_was() -> None:
    check_unchanged(loaded([8, 64], 32), NAME)
    check_unchanged(loaded([8, 100], 32), NAME)


def test_rows_with_gaps_are_left_to_the_launch() -> None:
    check_unchanged(loaded([-1, -1], 32, [False, True]), NAME)


def test_a_box_is_made_of_whole_pieces() -> None:
    check_refused(loaded([8, 64], 6), NAME, "A box consists of pieces of 16 bytes")


def test_rows_that_begin_within_a_piece_are_refused() -> None:
    check_refused(loaded([8, 66], 32), NAME, "A stride of a bulk copy is no multiple of 16 bytes")


def test_neighbours_that_lie_apart_in_memory_are_refused() -> None:
    fd = loaded([-1, -1], 32, [True, False])
    check_refused(fd, NAME, "The innermost axis of a box is not contiguous in global memory")


def strided(rows: int) -> FusionDefinition:
    """y = neg(x), where boxes of every second of `rows` rows are loaded."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        loads = x.cache_after(LoadStoreOpType.tma)
        loads.set_memory_type(MemoryType.shared)
        for tensor in (loads, y):  # [tiles, 2, every second row, 64]
            tensor.split(0, rows)
            tensor.split(1, 2)
            tensor.reorder({2: 1, 1: 2})
        for axis in (2, 3):
            loads.axis(axis).parallelize(ParallelType.tma)
        y.axis(3).parallelize(ParallelType.block_x)
        fd.sched.inline_at(y, 2, selected_tensors=[loads])
    return fd


def test_a_box_of_whole_steps_is_as_it_was() -> None:
    check_unchanged(strided(32), NAME)


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_a_step_into_the_next_tile_is_refused(target: str) -> None:
    """The hardware would fill what is a hole of the tile with a row of the next one."""
    check_refused(
        strided(33),
        NAME,
        r"(?s)A box in steps would reach beyond its tile.*node: .*made at.*expected: a tile that "
        r"steps of 2 divide without remainder.*found: .*split into.*fix: .*a multiple of the step",
        target,
    )
