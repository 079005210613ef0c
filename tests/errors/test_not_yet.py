"""Documented errors that nothing can provoke yet, each with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

NOT_YET = {
    "INTERNAL ASSERT FAILED at": "a bug of the compiler; one that is known is mended",
    "Tried to do rFactor on a 0-dim TensorView": "that it is no reduction is said first",
    "Can not find a scheduler to schedule fusion segment": "the trivial schedule takes everything",
    "Could not schedule fusion with the SchedulerType: ": "there are no automatic schedulers",
    "Scheduler _<name>_ ***rejected*** because : ": "there are no automatic schedulers",
    "Detected exception while compiling fusion segments in parallel.": "there is one segment",
    "Could not launch kernel as program could not infer ": (
        "every extent follows from sizes and scalars of the inputs; the check guards launches"
    ),
    "`devices_` contains duplicates: ": "there are no device meshes",
    "All DTensor inputs must have the same mesh dim names. Got ": "there are no device meshes",
    "The number of registers for setmaxnreg must be between 24 and 256 (inclusive) and be a mul": (
        "there are no warp-specialized schedules"
    ),
    "The number of registers for async warp group must be <= to the number of registers for": (
        "there are no warp-specialized schedules"
    ),
    "Expected PrimDataType but got type: ": "there are no tensors of composite types",
}


@pytest.mark.parametrize("gist", NOT_YET)
def test_what_cannot_happen_is_no_case(gist: str) -> None:
    """A gist leaves this list when a case provokes it."""
    assert NOT_YET[gist]
    for file in Path(__file__).parent.glob("test_*_errors.py"):
        assert f'documented("{gist}' not in file.read_text()
