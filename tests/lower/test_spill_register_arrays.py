"""spill_register_arrays: arrays that registers cannot hold lie in the thread's local memory."""

from __future__ import annotations

import pytest
from pass_text import check_refused

from nvfuser_direct import Allocate, FusionDefinition

NAME = "spill_register_arrays"


def kept(*sizes: int) -> FusionDefinition:
    """Arrays of these sizes, each between two loops."""
    with FusionDefinition() as fd:
        for size in sizes:
            x = fd.define_tensor([size], contiguity=True)
            fd.add_output(fd.ops.neg(fd.ops.exp(x)))
    return fd


def spilled(fd: FusionDefinition, until: str = NAME) -> list[bool]:
    """Whether each array is."""
    body = fd.fusion.lower(until=until).body
    return [bool(statement.is_spilled) for statement in body if isinstance(statement, Allocate)]


@pytest.mark.parametrize(("size", "is_spilled"), [(64, False), (1344, True)])
def test_an_array_with_more_elements_than_registers_is_spilled(size: int, is_spilled: bool) -> None:
    assert spilled(kept(size)) == [is_spilled]


def test_nothing_is_spilled_before_the_pass() -> None:
    assert spilled(kept(1344), until="check_register_arrays") == [False]


def test_each_array_is_decided_for_itself_where_they_do_not_live_together() -> None:
    assert sorted(spilled(kept(64, 1344))) == [False, True]


def test_what_a_thread_has_no_memory_for_is_refused() -> None:
    check_refused(kept(2**20), NAME, "Tensors in registers are too large for a thread")
