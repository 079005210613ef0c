"""Conversions that change nothing, and views on the narrower side of a conversion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pass_case import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "fold_casts"
D = DataType


@pytest.mark.parametrize(
    "chain",
    [
        [D.BFloat16, D.Float, D.BFloat16],
        [D.Half, D.Float, D.Double, D.Half],
        [D.Half, D.Double, D.Half],
        [D.Float, D.Double, D.Float],
        [D.Bool, D.Int, D.Bool],
        [D.Bool, D.Half, D.Bool],
        [D.Int32, D.Int, D.Int32],
        [D.Int32, D.Double, D.Int32],
    ],
)
def test_there_and_back_is_nothing(chain: list[DataType]) -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], dtype=chain[0])
        y = x
        for dtype in chain[1:]:
            y = fd.ops.cast(y, dtype)
        fd.add_output(fd.ops.isnan(y))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.isnan(fd.define_tensor([4, 4], dtype=chain[0])))

    check_pass(NAME, before, expected)


@pytest.mark.parametrize(
    ("source", "middle", "result"),
    [
        (D.Half, D.Float, D.Double),
        (D.BFloat16, D.Float, D.Half),
        (D.BFloat16, D.Float, D.Int),
        (D.Bool, D.Int, D.Float),
        (D.Int32, D.Int, D.Float),
        (D.Int, D.Int32, D.Short),
    ],
)
def test_a_step_that_loses_nothing_is_left_out(
    source: DataType, middle: DataType, result: DataType
) -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], dtype=source)
        fd.add_output(fd.ops.cast(fd.ops.cast(x, middle), result))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], dtype=source)
        fd.add_output(fd.ops.cast(x, result))

    check_pass(NAME, before, expected)


@pytest.mark.parametrize(
    ("source", "middle", "result"),
    [
        (D.Float, D.BFloat16, D.Float),
        (D.Half, D.BFloat16, D.Half),
        (D.BFloat16, D.Half, D.BFloat16),
        (D.Int, D.Float, D.Int),
        (D.Int, D.Int32, D.Int),
        (D.Float, D.Int, D.Float),
        (D.Float, D.Bool, D.Float),
        (D.Double, D.Float, D.Half),
    ],
)
def test_a_step_that_rounds_stays(source: DataType, middle: DataType, result: DataType) -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], dtype=source)
        fd.add_output(fd.ops.cast(fd.ops.cast(x, middle), result))

    check_unchanged(NAME, definition)


VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "reshape": lambda ops, x: ops.reshape(x, [8]),
    "permute": lambda ops, x: ops.permute(x, [1, 0, 2]),
    "squeeze": lambda ops, x: ops.squeeze(x, [2]),
    "slice": lambda ops, x: ops.slice(x, [0, 1, 0], [2, 3, 1]),
    "select": lambda ops, x: ops.select(x, 1, 0),
    "segment_set": lambda ops, x: ops.segment_set(x),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_stands_before_the_cast_that_widens(view: str) -> None:
    def operand(fd: FusionDefinition) -> Any:
        return fd.define_tensor([2, 4, 1], contiguity=[True, True, None], dtype=D.BFloat16)

    def before(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(VIEWS[view](fd.ops, fd.ops.cast(operand(fd), D.Float))))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(fd.ops.cast(VIEWS[view](fd.ops, operand(fd)), D.Float)))

    check_pass(NAME, before, expected)


def test_a_look_up_stands_before_the_cast_that_widens() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8], dtype=D.Half)
        index = fd.define_tensor([4, 8], dtype=D.Int)
        fd.add_output(fd.ops.take_along_axis(fd.ops.cast(x, D.Float), index, 1))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8], dtype=D.Half)
        index = fd.define_tensor([4, 8], dtype=D.Int)
        fd.add_output(fd.ops.cast(fd.ops.take_along_axis(x, index, 1), D.Float))

    check_pass(NAME, before, expected)


def test_a_chain_of_views_stands_before_the_cast() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.ops.cast(fd.define_tensor([4, 6], dtype=D.BFloat16), D.Float)
        y = fd.ops.permute(fd.ops.reshape(x, [4, 2, 3]), [2, 0, 1])
        fd.add_output(fd.ops.cast(y, D.BFloat16))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 6], dtype=D.BFloat16)
        fd.add_output(fd.ops.permute(fd.ops.reshape(x, [4, 2, 3]), [2, 0, 1]))

    check_pass(NAME, before, expected)


def test_a_cast_that_narrows_stands_before_the_views() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.ops.exp(fd.define_tensor([4, 6]))
        y = fd.ops.broadcast(fd.ops.reshape(x, [4, 2, 3]), [False, True, False, False])
        fd.add_output(fd.ops.cast(y, D.Half))

    def expected(fd: FusionDefinition) -> None:
        x = fd.ops.cast(fd.ops.exp(fd.define_tensor([4, 6])), D.Half)
        fd.add_output(fd.ops.broadcast(fd.ops.reshape(x, [4, 2, 3]), [False, True, False, False]))

    check_pass(NAME, before, expected)


def test_a_view_that_others_read_stays_wide() -> None:
    def definition(fd: FusionDefinition) -> None:
        y = fd.ops.reshape(fd.ops.exp(fd.define_tensor([4, 6])), [24])
        fd.add_output(fd.ops.cast(y, D.Half))
        fd.add_output(fd.ops.neg(y))

    check_unchanged(NAME, definition)


def test_elements_are_widened_before_they_are_repeated() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.ops.cast(fd.define_tensor([6], dtype=D.Half), D.Float)
        fd.add_output(fd.ops.neg(fd.ops.expand(fd.ops.broadcast(x, [True, False]), [4, 6])))

    check_unchanged(NAME, definition)
