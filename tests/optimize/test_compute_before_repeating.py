"""Operations on elements that several elements of the result have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pass_case import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "compute_before_repeating"

VIEWS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "broadcast": lambda fd, x: fd.ops.broadcast(x, [False, True, False]),
    "expand": lambda fd, x: fd.ops.expand(fd.ops.broadcast(x, [True, False, False]), [5, -1, -1]),
    "repeat": lambda fd, x: fd.ops.repeat(x, [2, 3]),
    "two": lambda fd, x: fd.ops.repeat(fd.ops.broadcast(x, [False, False, True]), [2, 1, 3]),
}
OPERATIONS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "one": lambda fd, x: fd.ops.exp(x),
    "narrower": lambda fd, x: fd.ops.cast(x, DataType.BFloat16),
    "wider": lambda fd, x: fd.ops.cast(x, DataType.Double),
    "with a number": lambda fd, x: fd.ops.where(True, fd.ops.mul(0.5, x), 2.0),
    "with itself": lambda fd, x: fd.ops.mul(x, x),
    "a chain": lambda fd, x: fd.ops.sin(fd.ops.add(fd.ops.exp(x), 1.0)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_passes_views(view: str, operation: str) -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, -1])
        fd.add_output(OPERATIONS[operation](fd, VIEWS[view](fd, x)))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, -1])
        fd.add_output(VIEWS[view](fd, OPERATIONS[operation](fd, x)))

    check_pass(NAME, before, expected)


def test_what_others_read_stays() -> None:
    def definition(fd: FusionDefinition) -> None:
        x, y = fd.define_tensor([4]), fd.define_tensor([4, 8])
        rows = fd.ops.broadcast(x, [False, True])
        fd.add_output(fd.ops.mul(fd.ops.exp(rows), fd.ops.add(y, rows)))

    check_unchanged(NAME, definition)


def test_an_output_stays() -> None:
    def definition(fd: FusionDefinition) -> None:
        rows = fd.ops.broadcast(fd.define_tensor([4]), [False, True])
        fd.add_output(rows)
        fd.add_output(fd.ops.exp(rows))

    check_unchanged(NAME, definition)


def test_two_tensors_are_computed_with_where_they_meet() -> None:
    def definition(fd: FusionDefinition) -> None:
        x, y = fd.define_tensor([4]), fd.define_tensor([4, 1])
        fd.add_output(fd.ops.add(fd.ops.broadcast(x, [False, True]), y))

    check_unchanged(NAME, definition)
