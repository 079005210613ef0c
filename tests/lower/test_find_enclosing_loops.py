"""find_enclosing_loops: what a loop over an axis of another tensor stores or computes anew."""

from __future__ import annotations

import pytest
import torch
from pass_text import check_unchanged

from nvfuser_direct import FusionDefinition, KernelExecutor, UserError

NAME = "find_enclosing_loops"


def stored_in_a_loop() -> FusionDefinition:
    """`row` is an output, and computed in the loop over the rows of `y`."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True)
        w = fd.define_tensor([-1, 4], contiguity=True)
        row = fd.ops.neg(x)
        wide = fd.ops.broadcast(row, [True, False])
        y = fd.ops.add(wide, w)
        fd.add_output(row)
        fd.add_output(y)
        wide.inline_at(1)
        row.inline_at(1)
    return fd


def read_outside_of_its_loop() -> FusionDefinition:
    """`sine` shares the loop over the rows of `y`, by what both read; what reads it has none."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True)
        w = fd.define_tensor([-1, 4], contiguity=True)
        wide = fd.ops.broadcast(fd.ops.neg(x), [True, False])
        y = fd.ops.add(wide, w)
        sine = fd.ops.sin(wide)
        fd.add_output(fd.ops.squeeze(sine, [0]))
        fd.add_output(y)
        wide.inline_at(1)
    return fd


def run(fd: FusionDefinition, rows: int) -> list[torch.Tensor]:
    inputs = [torch.ones(4), torch.ones(rows, 4)]
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)


def test_statements_stay() -> None:
    check_unchanged(stored_in_a_loop(), NAME)


def test_a_launch_that_would_not_store_the_output_is_refused() -> None:
    with pytest.raises(UserError):
        run(stored_in_a_loop(), 0)


def test_a_launch_with_elements_stores_it() -> None:
    row, y = run(stored_in_a_loop(), 3)
    assert torch.equal(row, -torch.ones(4))
    assert torch.equal(y, torch.zeros(3, 4))


def test_what_each_iteration_computes_anew_is_read_outside() -> None:
    sine, y = run(read_outside_of_its_loop(), 3)
    torch.testing.assert_close(sine, torch.sin(-torch.ones(4)))
    assert torch.equal(y, torch.zeros(3, 4))


def test_a_launch_that_would_not_compute_what_is_read_outside_is_refused() -> None:
    with pytest.raises(UserError, match="computed in a loop that has no iteration"):
        run(read_outside_of_its_loop(), 0)
